#include "rt/config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "abt.h"
#include "base/build.h"
#include "base/round.h"
#include "os/affinity.h"
#include "os/env.h"
#include "os/vm.h"

#define CONFIG_KIB ((uint64_t)1024)
#define CONFIG_MIB (CONFIG_KIB * 1024)
#define CONFIG_GIB (CONFIG_MIB * 1024)

/* The clamps leave room for rounding up: the largest values are half of what the type holds. */
#define CONFIG_MAX_U32 ((uint64_t)UINT32_MAX / 2)
#define CONFIG_MAX_U64 (UINT64_MAX / 2)

/*
 * Beyond these nothing is gained on any machine: larger tables of values are swept for longer at each free, the
 * bookkeeping of larger chunks of descriptors costs memory that is never used, and pages are no larger.
 */
#define CONFIG_MAX_KEY_TABLE ((uint32_t)1 << 16)
#define CONFIG_MAX_DESC_CHUNK CONFIG_GIB
#define CONFIG_MAX_PAGE CONFIG_GIB

/* Whether the load of the configuration tells what is used instead of a value that is too large. */
static _Thread_local bool config_tells;

static bool env_bool(const char *name, bool dflt)
{
    return abti_parse_bool(abti_env_get(name), dflt);
}

/*
 * Reads a number. One line tells of a value above `max`. No line tells of one below `min`: that is what people write if
 * they want the least.
 */
static uint64_t env_uint(const char *name, uint64_t dflt, uint64_t min, uint64_t max)
{
    const char *text = abti_env_get(name);
    uint64_t value = abti_parse_uint(text, dflt, min, max);
    if (config_tells && text && value == max && abti_parse_uint(text, dflt, 0, UINT64_MAX) > max)
        fprintf(stderr, "libabt: ABT_%s=%.40s is too large, %" PRIu64 " is used\n", name, text, value);
    return value;
}

/*
 * Reads a size that must not be more than the machine can have: as much memory as it has, or a part of that. It asks
 * for the memory only if the value is large.
 */
static size_t env_memory(const char *name, uint64_t dflt, uint64_t min, unsigned part)
{
    uint64_t max = CONFIG_GIB / part;
    if (abti_parse_uint(abti_env_get(name), dflt, min, UINT64_MAX) > max && abti_vm_total() / part > max)
        max = abti_vm_total() / part;
    return (size_t)env_uint(name, dflt, min, max);
}

static uint32_t env_u32(const char *name, uint32_t dflt, uint32_t min)
{
    return (uint32_t)env_uint(name, dflt, min, CONFIG_MAX_U32);
}

static size_t config_round_up_pow2(size_t value)
{
    size_t power = 1;
    while (power < value)
        power *= 2;
    return power;
}

static int load_affinity(struct abti_config *config)
{
    const char *text = abti_env_get("SET_AFFINITY");

    config->affinity = ABTI_BUILD_AFFINITY && !abti_parse_is_off(text);
    config->cpu_list = NULL;
    if (!text || !config->affinity)
        return ABT_SUCCESS;
    /* -EINVAL is no error: a text that is no list counts as not set. */
    return abti_parse_cpu_list(text, &config->cpu_list) == -ENOMEM ? ABT_ERR_MEM : ABT_SUCCESS;
}

static enum abti_stack_guard choose_stack_guard(void)
{
    const char *text = abti_env_get("STACK_OVERFLOW_CHECK");

    if (!text)
        return (enum abti_stack_guard)ABTI_BUILD_STACK_GUARD;
    if (abti_parse_is_word(text, "mprotect"))
        return ABTI_STACK_GUARD_MPROTECT;
    if (abti_parse_is_word(text, "mprotect_strict"))
        return ABTI_STACK_GUARD_MPROTECT_STRICT;
    if (abti_parse_is_word(text, "auto"))
        return ABTI_STACK_GUARD_AUTO;
    if (abti_parse_is_word(text, "canary"))
        return ABTI_STACK_GUARD_CANARY;
    /* Any other text switches the guard page off, but a canary that was built in stays. */
    return ABTI_BUILD_STACK_GUARD == ABTI_STACK_GUARD_CANARY ? ABTI_STACK_GUARD_CANARY : ABTI_STACK_GUARD_NONE;
}

static void load_stacks(struct abti_config *config)
{
    size_t guard = 0;

    config->stack_guard = choose_stack_guard();
    /*
     * If a guard page is asked for by name, two pages are part of the default size; otherwise they are no part of it.
     */
    if (config->stack_guard == ABTI_STACK_GUARD_MPROTECT || config->stack_guard == ABTI_STACK_GUARD_MPROTECT_STRICT)
        guard = 2 * config->sys_page_size;
    /* Four stacks of ULTs are a chunk, and there are several streams. */
    config->thread_stacksize =
        abti_round_up(env_memory("THREAD_STACKSIZE", ABTI_BUILD_STACKSIZE + guard, 512, 4), ABTI_CACHE_LINE);
    config->sched_stacksize =
        abti_round_up(env_memory("SCHED_STACKSIZE", 4 * CONFIG_MIB + guard, 512, 4), ABTI_CACHE_LINE);
}

static enum abti_lp_alloc choose_lp_alloc(void)
{
    static const char *const words[] = {
        [ABTI_LP_MALLOC] = "malloc",           [ABTI_LP_MMAP_RP] = "mmap_rp", [ABTI_LP_MMAP_HP_RP] = "mmap_hp_rp",
        [ABTI_LP_MMAP_HP_THP] = "mmap_hp_thp", [ABTI_LP_THP] = "thp",
    };
    const char *text = abti_env_get("MEM_LP_ALLOC");

    for (size_t i = 0; i < ABTI_ARRAY_LEN(words); i++) {
        if (abti_parse_is_word(text, words[i]))
            return (enum abti_lp_alloc)i;
    }
    bool huge = ABTI_BUILD_HUGE_PAGE >= 4 * CONFIG_KIB && ABTI_BUILD_HUGE_PAGE <= 8 * CONFIG_MIB;
    return huge || abti_env_get("HUGE_PAGE_SIZE") ? ABTI_LP_MMAP_HP_RP : ABTI_LP_MMAP_RP;
}

/* The stack sizes are known by now. */
static void load_memory(struct abti_config *config)
{
    size_t stack = config->thread_stacksize;
    uint64_t four_stacks = 4 * (uint64_t)stack;
    uint64_t num_stacks = 64 * CONFIG_MIB / stack < 1024 ? 64 * CONFIG_MIB / stack : 1024;

    config->huge_page_size =
        env_memory("HUGE_PAGE_SIZE", ABTI_BUILD_HUGE_PAGE ? ABTI_BUILD_HUGE_PAGE : 2 * CONFIG_MIB, 4096, 1);
    config->mem_page_size = config_round_up_pow2(
        abti_round_up(env_uint("MEM_PAGE_SIZE", 2 * CONFIG_MIB, 4096, CONFIG_MAX_DESC_CHUNK), ABTI_CACHE_LINE));
    config->mem_stack_page_size =
        abti_round_up(env_memory("MEM_STACK_PAGE_SIZE", 8 * CONFIG_MIB, four_stacks, 1), ABTI_CACHE_LINE);
    config->mem_max_num_stacks = (uint32_t)abti_round_up(env_u32("MEM_MAX_NUM_STACKS", (uint32_t)num_stacks, 2), 2);
    config->mem_max_num_descs = (uint32_t)abti_round_up(env_u32("MEM_MAX_NUM_DESCS", 4096, 2), 2);
    config->mem_lp_alloc = choose_lp_alloc();
}

int abti_config_load(struct abti_config *config, bool tells)
{
    config_tells = tells;
    config->use_log = env_bool("USE_LOG", ABTI_BUILD_LOG_ON);
    config->use_debug = env_bool("USE_DEBUG", ABTI_BUILD_LOG_ON);
    config->print_config = env_bool("PRINT_CONFIG", false);
    config->print_raw_stack = env_bool("PRINT_RAW_STACK", !ABTI_BUILD_UNWIND_ONLY);
    config->max_num_xstreams = (int)env_uint("MAX_NUM_XSTREAMS", abti_affinity_num_online(), 1, INT_MAX / 2);
    config->sched_event_freq = env_u32("SCHED_EVENT_FREQ", 50, 1);
    config->sched_sleep_nsec = env_uint("SCHED_SLEEP_NSEC", 100, 0, CONFIG_MAX_U64);
    config->key_table_size = (uint32_t)config_round_up_pow2(env_uint("KEY_TABLE_SIZE", 4, 1, CONFIG_MAX_KEY_TABLE));
    config->sys_page_size = config_round_up_pow2(env_uint("SYS_PAGE_SIZE", abti_vm_page_size(), 64, CONFIG_MAX_PAGE));
    config->stack_usage = env_u32("STACK_USAGE", 0, 0);
    load_stacks(config);
    load_memory(config);
    return load_affinity(config);
}

void abti_config_fini(struct abti_config *config)
{
    free(config->cpu_list);
    config->cpu_list = NULL;
}

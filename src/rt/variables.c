/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/variables.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "base/build.h"
#include "base/round.h"
#include "os/affinity.h"
#include "os/env.h"
#include "os/vm.h"
#include "rt/rt.h"

#define KIB ((uint64_t)1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

/* The clamps leave room for rounding up: the largest values are half of what the type holds. */
#define MAX_INT ((uint64_t)INT_MAX / 2)
#define MAX_U32 ((uint64_t)UINT32_MAX / 2)
#define MAX_U64 (UINT64_MAX / 2)

/*
 * Beyond these nothing is gained on any machine: larger tables of values are swept for longer at each free, the
 * bookkeeping of larger chunks of descriptors costs memory that is never used, and pages are no larger.
 */
#define MAX_KEY_TABLE (64 * KIB)
#define MAX_DESC_CHUNK GIB
#define MAX_PAGE GIB

/* A scheduler's own frames, and the contexts of the C library, which are large. */
#define SCHED_STACK_LEAST (ABTI_BUILD_FCONTEXT ? 512 : 16 * KIB)
#define HUGE_PAGE (ABTI_BUILD_HUGE_PAGE ? ABTI_BUILD_HUGE_PAGE : 2 * MIB)

/* --- Words --- */

/* Without a guard page, a canary that was built in stays. */
enum {
    GUARD_OFF = ABTI_BUILD_STACK_GUARD == ABTI_STACK_GUARD_CANARY ? ABTI_STACK_GUARD_CANARY : ABTI_STACK_GUARD_NONE
};

static const struct abti_word guard_words[] = {
    {"auto", ABTI_STACK_GUARD_AUTO},
    {"canary", ABTI_STACK_GUARD_CANARY},
    {"mprotect", ABTI_STACK_GUARD_MPROTECT},
    {"mprotect_strict", ABTI_STACK_GUARD_MPROTECT_STRICT},
    {"none", GUARD_OFF},
    {"no", GUARD_OFF},
    {"yes", ABTI_STACK_GUARD_AUTO},
    {NULL, 0},
};

static const struct abti_word lp_alloc_words[] = {
    {"malloc", ABTI_LP_MALLOC},           {"mmap_rp", ABTI_LP_MMAP_RP}, {"mmap_hp_rp", ABTI_LP_MMAP_HP_RP},
    {"mmap_hp_thp", ABTI_LP_MMAP_HP_THP}, {"thp", ABTI_LP_THP},         {NULL, 0},
};

static const struct abti_word signal_words[] = {
    {"no", 0},           {"USR1", SIGUSR1},      {"SIGUSR1", SIGUSR1},
    {"USR2", SIGUSR2},   {"SIGUSR2", SIGUSR2},   {"HUP", SIGHUP},
    {"SIGHUP", SIGHUP},  {"QUIT", SIGQUIT},      {"SIGQUIT", SIGQUIT},
    {"WINCH", SIGWINCH}, {"SIGWINCH", SIGWINCH}, {NULL, 0},
};

static const struct abti_word deadlock_words[] = {
    {"no", ABTI_DEADLOCK_OFF},
    {"yes", ABTI_DEADLOCK_ON},
    {"abort", ABTI_DEADLOCK_ABORT},
    {"cycles", ABTI_DEADLOCK_CYCLES},
    {NULL, 0},
};

static const struct abti_word check_words[] = {
    {"no", ABTI_CHECK_OFF},
    {"yes", ABTI_CHECK_ON},
    {"abort", ABTI_CHECK_ABORT},
    {NULL, 0},
};

/* --- Limits that depend on others --- */

static void derive_streams(const struct abti_config *config, struct abti_limits *limits)
{
    (void)config;
    limits->dflt = abti_affinity_num_online();
}

static void derive_page(const struct abti_config *config, struct abti_limits *limits)
{
    (void)config;
    limits->dflt = abti_vm_page_size();
}

/* When guard pages are asked for by name two of them are part of the default size, and otherwise they are not. */
static void derive_stack(const struct abti_config *config, struct abti_limits *limits)
{
    if (config->stack_guard == ABTI_STACK_GUARD_MPROTECT || config->stack_guard == ABTI_STACK_GUARD_MPROTECT_STRICT)
        limits->dflt += 2 * config->sys_page_size;
}

static void derive_stack_chunk(const struct abti_config *config, struct abti_limits *limits)
{
    limits->min = 4 * (uint64_t)config->thread_stacksize;
}

static void derive_num_stacks(const struct abti_config *config, struct abti_limits *limits)
{
    if (64 * MIB / config->thread_stacksize < limits->dflt)
        limits->dflt = 64 * MIB / config->thread_stacksize;
}

static void derive_lp_alloc(const struct abti_config *config, struct abti_limits *limits)
{
    (void)config;
    if (abti_env_get("HUGE_PAGE_SIZE"))
        limits->dflt = ABTI_LP_MMAP_HP_RP;
}

/* --- The table: a variable is behind those that it depends on --- */

#define LIMITS(...) .limits = {__VA_ARGS__}
#define WANTS(built, otherwise) .void_by = (built) ? NULL : (otherwise)
#define WANTS_TOOL WANTS(ABTI_BUILD_TOOL, "with --disable-tool")
#define NO_EFFECT(text)                                                                                                \
    {                                                                                                                  \
        .name = text, .type = ABTI_VARIABLE_NONE                                                                       \
    }
#define FIELD(field) offsetof(struct abti_config, field), sizeof(((struct abti_config *)0)->field)

enum {
    HAS_HUGE_PAGE = ABTI_BUILD_HUGE_PAGE >= 4 * KIB && ABTI_BUILD_HUGE_PAGE <= 8 * MIB,
    DEFAULT_LP_ALLOC = HAS_HUGE_PAGE ? ABTI_LP_MMAP_HP_RP : ABTI_LP_MMAP_RP,
};

const struct abti_variable abti_variables[] = {
    /* What is printed and checked. */
    {"PRINT_CONFIG", ABTI_VARIABLE_BOOL, FIELD(print_config), .help = "ABT_init prints the configuration on stdout"},
    {"CHECK", ABTI_VARIABLE_WORD, FIELD(check), .limits.dflt = ABTI_CHECK_OFF, .words = check_words,
     .help = "misuse of the library is reported on stderr; abort: and ends the program"},
    {"DUMP_SIGNAL", ABTI_VARIABLE_WORD, FIELD(dump_signal), .words = signal_words,
     .help = "at this signal all units are printed on stderr"},
    {"STATS", ABTI_VARIABLE_BOOL, FIELD(stats), .help = "ABT_finalize prints statistics on stderr", WANTS_TOOL},
    {"TRACE", ABTI_VARIABLE_TEXT, FIELD(trace), .help = "a trace for Perfetto is written to this file", WANTS_TOOL},
    {"TOOL", ABTI_VARIABLE_BOOL, FIELD(tool), .limits.dflt = ABTI_BUILD_TOOL_ON,
     .help = "programs can use the ABT_tool_* functions, and ABT_info_query_config says so", WANTS_TOOL},
    {"TOP", ABTI_VARIABLE_BOOL, FIELD(top), .help = "abt-top may look at the program, if it has the same user"},
    {"DEADLOCK_CHECK", ABTI_VARIABLE_WORD, FIELD(deadlock_check), .limits.dflt = ABTI_DEADLOCK_OFF,
     .words = deadlock_words,
     .help = "deadlocks are reported on stderr; abort: and end the program; cycles: only those"},
    {"USE_LOG", ABTI_VARIABLE_BOOL, FIELD(use_log), .limits.dflt = ABTI_BUILD_LOG_ON,
     .help = "lines on stderr for events, in builds with a log"},
    {"USE_DEBUG", ABTI_VARIABLE_BOOL, FIELD(use_debug), .limits.dflt = ABTI_BUILD_LOG_ON,
     .help = "only stored, for ABT_info_query_config"},
    {"PRINT_RAW_STACK", ABTI_VARIABLE_BOOL, FIELD(print_raw_stack), .limits.dflt = !ABTI_BUILD_UNWIND_ONLY,
     .help = "functions that print a stack print its memory too"},

    /* Streams and schedulers. */
    {"SET_AFFINITY", ABTI_VARIABLE_CPUS, FIELD(cpu_list),
     .help = "the CPUs that streams are bound to: no, yes (each CPU in turn), or a list such as 0,2 or {0:4},{4:4}",
     WANTS(ABTI_BUILD_AFFINITY, "with --disable-affinity")},
    {"NUMA", ABTI_VARIABLE_NODES, FIELD(node_list),
     .help = "the CPUs of each NUMA node: yes (as the system says), no (all are one), or a list such as {0:8},{8:8}"},
    {"MAX_NUM_XSTREAMS", ABTI_VARIABLE_INT, FIELD(max_num_xstreams), LIMITS(1, 1, MAX_INT), .derive = derive_streams,
     .help = "how many execution streams are expected"},
    {"SCHED_EVENT_FREQ", ABTI_VARIABLE_INT, FIELD(sched_event_freq), LIMITS(50, 1, MAX_U32),
     .help = "predefined schedulers check events once in that number of work units"},
    {"SCHED_SLEEP_NSEC", ABTI_VARIABLE_INT, FIELD(sched_sleep_nsec), LIMITS(100, 0, MAX_U64),
     .help = "only stored, for ABT_info_query_config: idle streams sleep until there is work"},

    /* Work units and stacks. */
    {"KEY_TABLE_SIZE", ABTI_VARIABLE_INT, FIELD(key_table_size), LIMITS(4, 1, MAX_KEY_TABLE),
     .rounding = ABTI_ROUND_POW2, .help = "buckets in a work unit's table of keys"},
    {"SYS_PAGE_SIZE", ABTI_VARIABLE_SIZE, FIELD(sys_page_size), LIMITS(64, 64, MAX_PAGE), .rounding = ABTI_ROUND_POW2,
     .derive = derive_page, .help = "the page size that guard pages have"},
    {"STACK_OVERFLOW_CHECK", ABTI_VARIABLE_WORD, FIELD(stack_guard), .limits.dflt = ABTI_BUILD_STACK_GUARD,
     .words = guard_words, .help = "how stacks of ULTs are guarded"},
    /* Four stacks are a chunk, and there are several streams. */
    {"THREAD_STACKSIZE", ABTI_VARIABLE_SIZE, FIELD(thread_stacksize), LIMITS(ABTI_BUILD_STACKSIZE, 512, GIB / 4),
     .memory_part = 4, .rounding = ABTI_ROUND_LINE, .derive = derive_stack, .help = "stack of a ULT"},
    {"SCHED_STACKSIZE", ABTI_VARIABLE_SIZE, FIELD(sched_stacksize), LIMITS(4 * MIB, SCHED_STACK_LEAST, GIB / 4),
     .memory_part = 4, .rounding = ABTI_ROUND_LINE, .derive = derive_stack, .help = "stack of a scheduler"},

    /* Memory. */
    {"HUGE_PAGE_SIZE", ABTI_VARIABLE_SIZE, FIELD(huge_page_size), LIMITS(HUGE_PAGE, 4096, GIB), .memory_part = 1,
     .help = "huge page"},
    {"MEM_PAGE_SIZE", ABTI_VARIABLE_SIZE, FIELD(mem_page_size), LIMITS(2 * MIB, 4096, MAX_DESC_CHUNK),
     .rounding = ABTI_ROUND_POW2, .help = "memory that is taken for descriptors at a time"},
    {"MEM_STACK_PAGE_SIZE", ABTI_VARIABLE_SIZE, FIELD(mem_stack_page_size), LIMITS(8 * MIB, 4096, GIB),
     .memory_part = 1, .rounding = ABTI_ROUND_LINE, .derive = derive_stack_chunk,
     .help = "memory that is taken for stacks at a time"},
    {"MEM_MAX_NUM_STACKS", ABTI_VARIABLE_INT, FIELD(mem_max_num_stacks), LIMITS(1024, 2, MAX_U32),
     .rounding = ABTI_ROUND_EVEN, .derive = derive_num_stacks, .help = "free stacks that a stream keeps"},
    {"MEM_MAX_NUM_DESCS", ABTI_VARIABLE_INT, FIELD(mem_max_num_descs), LIMITS(4096, 2, MAX_U32),
     .rounding = ABTI_ROUND_EVEN, .help = "free descriptors that a stream keeps"},
    {"MEM_LP_ALLOC", ABTI_VARIABLE_WORD, FIELD(mem_lp_alloc), .limits.dflt = DEFAULT_LP_ALLOC, .words = lp_alloc_words,
     .derive = derive_lp_alloc, .help = "where memory for descriptors and stacks comes from"},

    /* Some manual names them, or they have lost their use. */
    NO_EFFECT("MUTEX_MAX_HANDOVERS"),
    NO_EFFECT("MUTEX_MAX_WAKEUPS"),
    NO_EFFECT("AFFINITY_TYPE"),
    NO_EFFECT("USE_EVENT_DEBUG"),
    NO_EFFECT("CACHE_LINE_SIZE"),
    NO_EFFECT("OS_PAGE_SIZE"),
    NO_EFFECT("POWER_EVENT_HOSTNAME"),
    NO_EFFECT("POWER_EVENT_PORT"),
    NO_EFFECT("PUBLISH_INFO"),
    NO_EFFECT("PUBLISH_FILENAME"),
    NO_EFFECT("PUBLISH_INTERVAL"),
};
const size_t abti_num_variables = ABTI_ARRAY_LEN(abti_variables);

struct abti_limits abti_variable_limits(const struct abti_variable *variable, const struct abti_config *config)
{
    struct abti_limits limits = variable->limits;
    if (variable->derive)
        variable->derive(config, &limits);
    return limits;
}

static uint64_t round_up_pow2(uint64_t value)
{
    uint64_t power = 1;
    while (power < value)
        power *= 2;
    return power;
}

uint64_t abti_variable_rounded(const struct abti_variable *variable, uint64_t value)
{
    switch (variable->rounding) {
    case ABTI_ROUND_EVEN: return abti_round_up(value, 2);
    case ABTI_ROUND_LINE: return abti_round_up(value, ABTI_CACHE_LINE);
    case ABTI_ROUND_POW2: return round_up_pow2(value);
    default: return value;
    }
}

const char *abti_variable_word(const struct abti_variable *variable, int value)
{
    const struct abti_word *word = variable->words;
    while (word->value != value)
        word++;
    return word->text;
}

bool abti_variable_find_word(const struct abti_variable *variable, const char *text, int *value)
{
    bool is_yes;
    if (abti_parse_bool(text, &is_yes) == ABTI_PARSED_ALL)
        text = is_yes ? "yes" : "no";
    for (const struct abti_word *word = variable->words; word->text; word++) {
        if (abti_parse_is_word(text, word->text)) {
            *value = word->value;
            return true;
        }
    }
    return false;
}

bool abti_variable_tell_once(const struct abti_variable *variable)
{
    static bool is_reported[ABTI_ARRAY_LEN(abti_variables)];
    bool *reported = &is_reported[variable - abti_variables];
    bool first = !*reported;
    *reported = true;
    return first;
}

/* For the build as one file. */
#undef FIELD
#undef WANTS
#undef WANTS_TOOL

/* --- Names in the environment that nobody reads --- */

static void look_at_name(const char *prefix, const char *name)
{
    for (size_t i = 0; i < abti_num_variables; i++) {
        const struct abti_variable *variable = &abti_variables[i];
        if (strcmp(name, variable->name) != 0)
            continue;
        if (variable->type == ABTI_VARIABLE_NONE)
            fprintf(stderr, "libabt: %s%s has no effect\n", prefix, name);
        return;
    }
    if (abti_rt.config.print_config)
        fprintf(stderr, "libabt: %s%s is no variable of the library\n", prefix, name);
}

void abti_variables_tell(void)
{
    static bool has_reported; /* under the lock of ABT_init */
    if (!has_reported)
        abti_env_visit(look_at_name);
    has_reported = true;
}

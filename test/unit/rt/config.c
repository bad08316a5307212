/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "abt.h"
#include "base/build.h"
#include "os/env.h"
#include "rt/variables.h"
#include "tap.h"

static void clear_environment(void)
{
    char name[64];

    for (size_t i = 0; i < abti_num_variables; i++) {
        snprintf(name, sizeof(name), "ABT_%s", abti_variables[i].name);
        unsetenv(name);
        snprintf(name, sizeof(name), "ABT_ENV_%s", abti_variables[i].name);
        unsetenv(name);
    }
}

/* Each name once, each with help, and neither too long to be printed or found. */
static void test_table(void)
{
    for (size_t i = 0; i < abti_num_variables; i++) {
        const struct abti_variable *variable = &abti_variables[i];
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again |= strcmp(abti_variables[j].name, variable->name) == 0;
        ok(!again && strlen(variable->name) < ABTI_ENV_NAME_ROOM, "%s stands there once", variable->name);
        ok(variable->type == ABTI_VARIABLE_NONE || (variable->help && strlen(variable->help) < 114),
           "%s: a line says what it sets", variable->name);
    }
}

/* The configuration with one variable set, or none where name is NULL. */
static struct abti_config load(const char *name, const char *value)
{
    struct abti_config config;

    if (name)
        setenv(name, value, 1);
    memset(&config, 0xee, sizeof(config)); /* nothing may rely on what was there */
    if (abti_config_load(&config, false) != ABT_SUCCESS)
        bail_out("abti_config_load");
    if (name)
        unsetenv(name);
    return config;
}

static void test_defaults(void)
{
    struct abti_config config = load(NULL, NULL);
    size_t guard = ABTI_BUILD_STACK_GUARD == 2 || ABTI_BUILD_STACK_GUARD == 3 ? 2 * config.sys_page_size : 0;

    is_int(config.affinity, ABTI_BUILD_AFFINITY, "affinity");
    is_int(config.binds, ABTI_BUILD_BINDS, "binds");
    ok(!config.cpu_list, "no affinity list");
    is_int(config.tool, ABTI_BUILD_TOOL_ON, "tool");
    is_int(config.use_log, ABTI_BUILD_LOG_ON, "use_log");
    is_int(config.use_debug, ABTI_BUILD_LOG_ON, "use_debug");
    ok(!config.print_config, "print_config");
    is_int(config.print_raw_stack, !ABTI_BUILD_UNWIND_ONLY, "print_raw_stack");
    is_int(config.max_num_xstreams, sysconf(_SC_NPROCESSORS_ONLN), "max_num_xstreams");
    is_int(config.sched_event_freq, 50, "sched_event_freq");
    is_int(config.sched_sleep_nsec, 100, "sched_sleep_nsec");
    is_int(config.key_table_size, 4, "key_table_size");
    is_int(config.stack_guard, ABTI_BUILD_STACK_GUARD, "stack_guard");
    is_int(config.thread_stacksize, (ABTI_BUILD_STACKSIZE + guard + 63) / 64 * 64, "thread_stacksize");
    is_int(config.sched_stacksize, 4194304 + guard, "sched_stacksize");
    is_int(config.sys_page_size, getpagesize(), "sys_page_size");
    is_int(config.huge_page_size, ABTI_BUILD_HUGE_PAGE ? ABTI_BUILD_HUGE_PAGE : 2097152, "huge_page_size");
    is_int(config.mem_page_size, 2097152, "mem_page_size");
    is_int(config.mem_stack_page_size, 8388608, "mem_stack_page_size");
    is_int(config.mem_max_num_descs, 4096, "mem_max_num_descs");
    is_int(config.mem_lp_alloc, ABTI_BUILD_HUGE_PAGE ? ABTI_LP_MMAP_HP_RP : ABTI_LP_MMAP_RP, "mem_lp_alloc");
}

/* What a setting is for each of some values of a variable: {value, wanted}. */
#define CHECK(field, name, ...)                                                                                        \
    do {                                                                                                               \
        const struct {                                                                                                 \
            const char *value;                                                                                         \
            int64_t wanted;                                                                                            \
        } rows_[] = {__VA_ARGS__};                                                                                     \
        for (size_t i_ = 0; i_ < sizeof(rows_) / sizeof(rows_[0]); i_++) {                                             \
            struct abti_config config_ = load(name, rows_[i_].value);                                                  \
            is_int(config_.field, rows_[i_].wanted, "%s=%s", name, rows_[i_].value);                                   \
            abti_config_fini(&config_);                                                                                \
        }                                                                                                              \
    } while (0)

static void test_numbers(void)
{
    CHECK(max_num_xstreams, "ABT_MAX_NUM_XSTREAMS", {"0", 1}, {"7", 7}, {"-7", 1}, {"99999999999", INT_MAX / 2});
    CHECK(max_num_xstreams, "ABT_ENV_MAX_NUM_XSTREAMS", {"9", 9});
    CHECK(key_table_size, "ABT_KEY_TABLE_SIZE", {"0", 1}, {"5", 8}, {"8", 8}, {"99999999999", 65536});
    CHECK(sched_event_freq, "ABT_SCHED_EVENT_FREQ", {"0", 1}, {"4294967295", UINT32_MAX / 2});
    CHECK(sched_sleep_nsec, "ABT_SCHED_SLEEP_NSEC", {"0", 0}, {"18446744073709551615", INT64_MAX});
    CHECK(mem_max_num_descs, "ABT_MEM_MAX_NUM_DESCS", {"0", 2}, {"5", 6}, {"4294967295", 2147483648});
}

/* What a size is clamped to: all memory, if that is more than a machine may have at the least. */
static int64_t memory(void)
{
    int64_t all = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), least = 1 << 30;
    return all > least ? all : least;
}

static void test_sizes(void)
{
    CHECK(sys_page_size, "ABT_SYS_PAGE_SIZE", {"1", 64}, {"5000", 8192}, {"99999999999999999999", 1 << 30},
          {"8k", 8192});
    CHECK(thread_stacksize, "ABT_THREAD_STACKSIZE", {"100", 512}, {"20001", 20032}, {"20032", 20032},
          {"99999999999999999999", memory() / 4}, {"64k", 65536}, {"64 KiB", 65536});
    CHECK(sched_stacksize, "ABT_SCHED_STACKSIZE", {"0", ABTI_BUILD_FCONTEXT ? 512 : 16384}, {"65537", 65600},
          {"4611686018427387904", memory() / 4}, {"0x10000", 65536});
    CHECK(huge_page_size, "ABT_HUGE_PAGE_SIZE", {"99999999999999999999", memory()}, {"1", 4096}, {"5001", 5001},
          {"1g", 1 << 30});
    CHECK(mem_page_size, "ABT_MEM_PAGE_SIZE", {"9223372036854775807", 1 << 30}, {"1", 4096}, {"4097", 8192},
          {"1m", 1 << 20});
    CHECK(mem_stack_page_size, "ABT_MEM_STACK_PAGE_SIZE", {"9223372036854775807", memory()}, {"9000001", 9000064},
          {"16M", 16 << 20});
    CHECK(mem_max_num_descs, "ABT_MEM_MAX_NUM_DESCS", {"8k", 8});
}

/* Settings whose default or limit depends on another one. */
static void test_dependencies(void)
{
    setenv("ABT_THREAD_STACKSIZE", "65536", 1);
    CHECK(mem_stack_page_size, "ABT_MEM_STACK_PAGE_SIZE", {"1", 4 * 65536});
    CHECK(mem_max_num_stacks, "ABT_UNUSED", {"", 1024});
    setenv("ABT_THREAD_STACKSIZE", "1048576", 1);
    CHECK(mem_max_num_stacks, "ABT_UNUSED", {"", 64});
    CHECK(mem_max_num_stacks, "ABT_MEM_MAX_NUM_STACKS", {"3", 4});
    setenv("ABT_THREAD_STACKSIZE", "9586980", 1);
    CHECK(mem_max_num_stacks, "ABT_UNUSED", {"", 6});
    setenv("ABT_THREAD_STACKSIZE", "99999999999999999999", 1);
    CHECK(mem_max_num_stacks, "ABT_UNUSED", {"", 2});
    CHECK(mem_stack_page_size, "ABT_UNUSED", {"", memory()});
    unsetenv("ABT_THREAD_STACKSIZE");
}

static void test_guard(void)
{
    CHECK(stack_guard, "ABT_STACK_OVERFLOW_CHECK", {"mprotect", ABTI_STACK_GUARD_MPROTECT},
          {"MProtect_Strict", ABTI_STACK_GUARD_MPROTECT_STRICT}, {"", ABTI_BUILD_STACK_GUARD},
          {"rubbish", ABTI_BUILD_STACK_GUARD}, {"1", ABTI_STACK_GUARD_AUTO}, {"Yes", ABTI_STACK_GUARD_AUTO},
          {"on", ABTI_STACK_GUARD_AUTO}, {"true", ABTI_STACK_GUARD_AUTO}, {"0", ABTI_BUILD_STACK_GUARD == 1},
          {"no", ABTI_BUILD_STACK_GUARD == 1}, {"OFF", ABTI_BUILD_STACK_GUARD == 1},
          {"false", ABTI_BUILD_STACK_GUARD == 1}, {"Canary", ABTI_STACK_GUARD_CANARY}, {"auto", ABTI_STACK_GUARD_AUTO},
          {"none", ABTI_BUILD_STACK_GUARD == 1});
    setenv("ABT_STACK_OVERFLOW_CHECK", "mprotect", 1);
    CHECK(thread_stacksize, "ABT_SYS_PAGE_SIZE", {"8192", ABTI_BUILD_STACKSIZE + 16384});
    CHECK(sched_stacksize, "ABT_SYS_PAGE_SIZE", {"8192", 4194304 + 16384});
    CHECK(thread_stacksize, "ABT_THREAD_STACKSIZE", {"16384", 16384});
    unsetenv("ABT_STACK_OVERFLOW_CHECK");
}

static void test_words(void)
{
    CHECK(use_log, "ABT_USE_LOG", {ABTI_BUILD_LOG ? "no" : "yes", !ABTI_BUILD_LOG});
    CHECK(use_debug, "ABT_USE_DEBUG", {ABTI_BUILD_LOG ? "off" : "ON", !ABTI_BUILD_LOG});
    CHECK(print_config, "ABT_PRINT_CONFIG", {"1", true}, {"2", false});
    CHECK(print_raw_stack, "ABT_PRINT_RAW_STACK", {"0", false}, {"2", !ABTI_BUILD_UNWIND_ONLY});
    CHECK(check, "ABT_CHECK", {"1", ABTI_CHECK_ON}, {"off", ABTI_CHECK_OFF}, {"abort", ABTI_CHECK_ABORT},
          {"what", ABTI_CHECK_OFF});
    CHECK(dump_signal, "ABT_DUMP_SIGNAL", {"USR1", SIGUSR1}, {"sigusr2", SIGUSR2}, {"HUP", SIGHUP},
          {"SIGQUIT", SIGQUIT}, {"WINCH", SIGWINCH}, {"TERM", 0}, {"9999", 0}, {"off", 0});
    CHECK(watch_waits, "ABT_DEADLOCK_CHECK", {"cycles", true});
    CHECK(tool, "ABT_TOOL", {"1", ABTI_BUILD_TOOL}, {"no", false});
    CHECK(stats, "ABT_STATS", {"1", true}, {"0", false});
    CHECK(mem_lp_alloc, "ABT_MEM_LP_ALLOC", {"malloc", ABTI_LP_MALLOC}, {"MMAP_rp", ABTI_LP_MMAP_RP},
          {"mmap_hp_rp", ABTI_LP_MMAP_HP_RP}, {"mmap_hp_thp", ABTI_LP_MMAP_HP_THP}, {"thp", ABTI_LP_THP});
    CHECK(mem_lp_alloc, "ABT_HUGE_PAGE_SIZE", {"", ABTI_LP_MMAP_HP_RP});
    setenv("ABT_HUGE_PAGE_SIZE", "2097152", 1);
    CHECK(mem_lp_alloc, "ABT_MEM_LP_ALLOC", {"what", ABTI_LP_MMAP_HP_RP}, {"malloc", ABTI_LP_MALLOC});
    unsetenv("ABT_HUGE_PAGE_SIZE");
}

static void test_top(void)
{
    CHECK(top, "ABT_TOP", {"", false}, {"1", true}, {"no", false});
}

static void test_affinity(void)
{
    CHECK(affinity, "ABT_SET_AFFINITY", {"no", false}, {"", ABTI_BUILD_AFFINITY}, {"0", ABTI_BUILD_AFFINITY},
          {"rubbish", ABTI_BUILD_AFFINITY});
    CHECK(binds, "ABT_SET_AFFINITY", {"", ABTI_BUILD_BINDS}, {"rubbish", ABTI_BUILD_BINDS},
          {"yes", ABTI_BUILD_AFFINITY}, {"1", ABTI_BUILD_AFFINITY});
    CHECK(cpu_list != NULL, "ABT_SET_AFFINITY", {"rubbish", false}, {"{0,1},2", ABTI_BUILD_AFFINITY}, {"off", false});
}

int main(void)
{
    clear_environment();
    test_table();
    test_defaults();
    test_numbers();
    test_sizes();
    test_dependencies();
    test_guard();
    test_words();
    test_affinity();
    test_top();
    return done_testing();
}

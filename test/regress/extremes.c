/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extreme values, by environment and by parameter: ABT_THREAD_STACKSIZE from 2^62 on crashed, ABT_MEM_STACK_PAGE_SIZE
 * near 2^63 hung, and with ABT_KEY_TABLE_SIZE=2^31 each unit with a value took seconds to free. Each value gives a
 * library that works, or an error that is promised, promptly, and one that is used in part only is told of.
 */
#include <limits.h>
#include "child.h"
#include "emulated.h"
#include "regress.h"
#include "sanitizers.h"

static const char *const values[] = {"",
                                     "0",
                                     "1",
                                     "-1",
                                     "1x",
                                     "rubbish",
                                     "2147483648",
                                     "4294967296",
                                     "4611686018427387904",
                                     "9223372036854775807",
                                     "9223372036854775808",
                                     "18446744073709551615",
                                     "18446744073709551616",
                                     "-18446744073709551616"};

enum { NUM_VALUES = sizeof(values) / sizeof(values[0]), FIRST_LARGE = 10, LAST_LARGE = 12 };

static const struct {
    const char *name;
    const char *more, *value; /* set besides; NULL: nothing */
} variables[] = {
    {"ABT_THREAD_STACKSIZE", NULL, NULL},
    {"ABT_THREAD_STACKSIZE", "ABT_STACK_OVERFLOW_CHECK", "none"},
    {"ABT_THREAD_STACKSIZE", "ABT_STACK_OVERFLOW_CHECK", "canary"},
    {"ABT_THREAD_STACKSIZE", "ABT_STACK_OVERFLOW_CHECK", "mprotect"},
    {"ABT_THREAD_STACKSIZE", "ABT_STACK_OVERFLOW_CHECK", "mprotect_strict"},
    {"ABT_THREAD_STACKSIZE", "ABT_MEM_LP_ALLOC", "malloc"},
    {"ABT_THREAD_STACKSIZE", "ABT_MEM_LP_ALLOC", "thp"},
    {"ABT_THREAD_STACKSIZE", "ABT_MEM_MAX_NUM_STACKS", "4294967295"},
    {"ABT_SCHED_STACKSIZE", NULL, NULL},
    {"ABT_SYS_PAGE_SIZE", NULL, NULL},
    {"ABT_SYS_PAGE_SIZE", "ABT_STACK_OVERFLOW_CHECK", "mprotect"},
    {"ABT_HUGE_PAGE_SIZE", NULL, NULL},
    {"ABT_MEM_PAGE_SIZE", NULL, NULL},
    {"ABT_MEM_PAGE_SIZE", "ABT_MEM_LP_ALLOC", "thp"},
    {"ABT_MEM_PAGE_SIZE", "ABT_MEM_LP_ALLOC", "malloc"},
    {"ABT_MEM_STACK_PAGE_SIZE", NULL, NULL},
    {"ABT_MEM_STACK_PAGE_SIZE", "ABT_MEM_LP_ALLOC", "thp"},
    {"ABT_MEM_STACK_PAGE_SIZE", "ABT_MEM_LP_ALLOC", "malloc"},
    {"ABT_MEM_MAX_NUM_STACKS", NULL, NULL},
    {"ABT_MEM_MAX_NUM_DESCS", NULL, NULL},
    {"ABT_KEY_TABLE_SIZE", NULL, NULL},
    {"ABT_MAX_NUM_XSTREAMS", NULL, NULL},
    {"ABT_SCHED_EVENT_FREQ", NULL, NULL},
    {"ABT_SCHED_SLEEP_NSEC", NULL, NULL},
};

/* These hold words and lists. */
static const char *const texts[] = {"ABT_SET_AFFINITY",        "ABT_USE_LOG",      "ABT_USE_DEBUG",
                                    "ABT_PRINT_RAW_STACK",     "ABT_MEM_LP_ALLOC", "ABT_PRINT_CONFIG",
                                    "ABT_STACK_OVERFLOW_CHECK"};

/* --- The child --- */

enum { UNITS = 40, WORKS = 0, REFUSES = 1, BROKEN = 2 };

static atomic_int runs;
static ABT_key key;

static void run(void *arg)
{
    if (ABT_key_set(key, &runs) == ABT_SUCCESS && ABT_self_yield() == ABT_SUCCESS)
        atomic_fetch_add(&runs, 1);
}

static int use_library(void)
{
    ABT_thread threads[UNITS];
    ABT_xstream own, es = ABT_XSTREAM_NULL;
    ABT_pool pool;
    int code = ABT_init(0, NULL);

    if (code != ABT_SUCCESS)
        return code == ABT_ERR_MEM ? REFUSES : BROKEN;
    must(ABT_key_create(NULL, &key));
    code = ABT_xstream_create(ABT_SCHED_NULL, &es);
    if (code != ABT_SUCCESS && code != ABT_ERR_MEM && code != ABT_ERR_SYS)
        return BROKEN;
    must(ABT_xstream_self(&own));
    for (int i = 0; i < UNITS; i++) {
        must(ABT_xstream_get_main_pools(code == ABT_SUCCESS && i % 2 ? es : own, 1, &pool));
        must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    }
    must(ABT_thread_free_many(UNITS, threads));
    if (code == ABT_SUCCESS)
        must(ABT_xstream_free(&es));
    must(ABT_key_free(&key));
    must(ABT_finalize());
    return runs == UNITS ? WORKS : BROKEN;
}

/* --- The parent --- */

static char words[8192];

struct setting {
    const char *name, *value;
    const char *more, *more_value; /* NULL: nothing */
};

static int use_library_with(void *arg)
{
    const struct setting *setting = arg;

    if (!freopen("/dev/null", "w", stdout)) /* for ABT_PRINT_CONFIG */
        return BROKEN;
    must(setenv(setting->name, setting->value, 1));
    if (setting->more)
        must(setenv(setting->more, setting->more_value, 1));
    /* Promptly is not by the clock: the machine may be busy. qemu takes seconds for some of them. */
    struct rlimit most = {.rlim_cur = is_emulated() ? 100 : 20, .rlim_max = RLIM_INFINITY};
    must(setrlimit(RLIMIT_CPU, &most));
    alarm(WATCHDOG_SECONDS / 2);
    return use_library();
}

static void test_variable(const char *name, const char *more, const char *more_value)
{
    for (int i = 0; i < NUM_VALUES; i++) {
        char expected[128];
        struct setting setting = {name, values[i], more, more_value};
        int status = child_run(use_library_with, &setting, words, sizeof(words));
        ok(status == WORKS || status == REFUSES, "%s=%s%s%s: works or says that it cannot (%d)", name, values[i],
           more ? " with " : "", more ? more_value : "", status);
        snprintf(expected, sizeof(expected), "libabt: %s=%s is too large, ", name, values[i]);
        if (i >= FIRST_LARGE && i <= LAST_LARGE)
            ok(strstr(words, expected) != NULL, "%s=%s: it is said that this is too large", name, values[i]);
        else if (i < 4 && !(more && !strcmp(more_value, "4294967295")))
            is_str(words, "", "%s=%s: nothing is said", name, values[i]);
    }
}

static void test_stack_sizes(void)
{
    enum { EMULATED_SHIFT = 28 };
    ABT_thread_attr attr;
    ABT_thread thread;
    static _Alignas(64) char memory[65536];

    must(ABT_init(0, NULL));
    must(ABT_key_create(NULL, &key));
    ABT_pool pool = main_pool();
    must(ABT_thread_attr_create(&attr));
    for (int shift = 0; shift <= 64; shift++) {
        if (is_emulated() && shift > EMULATED_SHIFT && shift < 60) {
            skip(1, "an emulator needs memory for each page that is mapped");
            continue;
        }
        for (int more = -1; more <= 1; more++) {
            size_t size = (shift < 64 ? (size_t)1 << shift : 0) + (size_t)more;
            must(ABT_thread_attr_set_stacksize(attr, size));
            int code = ABT_thread_create(pool, run, NULL, attr, &thread);
            if (code == ABT_SUCCESS)
                must(ABT_thread_free(&thread));
            if (code != ABT_SUCCESS || shift % 8 == 0)
                ok(code == ABT_ERR_MEM || (code == ABT_SUCCESS && size < (size_t)1 << 48),
                   "a stack of %zu bytes is there or there is no memory", size);
        }
    }
    must(ABT_thread_attr_set_stack(attr, memory, SIZE_MAX));
    ok_err(ABT_thread_create(pool, run, NULL, attr, &thread), ABT_ERR_INV_THREAD_ATTR);
    must(ABT_thread_attr_set_stack(attr, memory, SIZE_MAX / 2));
    ok_err(ABT_thread_create(pool, run, NULL, attr, &thread), ABT_ERR_INV_THREAD_ATTR);
    must(ABT_thread_attr_free(&attr));
    must(ABT_key_free(&key));
    must(ABT_finalize());
}

/* The number of streams that are expected is one more than the highest rank. */
static void test_rank(void)
{
    ABT_xstream es;
    unsigned max;

    must(ABT_init(0, NULL));
    must(ABT_xstream_create_with_rank(ABT_SCHED_NULL, INT_MAX, &es));
    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS, &max));
    ok(max == INT_MAX, "the highest rank does not wrap the number of streams (%u)", max);
    must(ABT_xstream_free(&es));
    must(ABT_finalize());
}

int main(void)
{
    regress_begin();
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("a sanitizer needs memory for all that is mapped");
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        if (variables[i].more && is_emulated())
            skip(1, "an emulator takes seconds to map gigabytes: not in all ways");
        else
            test_variable(variables[i].name, variables[i].more, variables[i].value);
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (int value = 0; value < NUM_VALUES; value++) {
            struct setting setting = {texts[i], values[value], NULL, NULL};
            is_int(child_run(use_library_with, &setting, words, sizeof(words)), WORKS, "%s=%s works", texts[i],
                   values[value]);
        }
    }
    test_stack_sizes();
    test_rank();
    return done_testing();
}

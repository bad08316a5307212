/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_stack_usage_*: how much stack functions use, by samples. */
#include <alloca.h>
#include <unistd.h>

#include "text.h"

enum { PAGE = 4096 };

struct found {
    size_t most, samples;
};

static struct found found_of(void (*func)(void *))
{
    struct found found = {1, 1};

    must(ABTX_stack_usage_get(func, &found.most, &found.samples));
    return found;
}

/* The most that it was seen to use is that, give or take a page. */
static void is_about(void (*func)(void *), size_t bytes, const char *what)
{
    struct found found = found_of(func);

    if (!ok(found.samples > 0 && found.most + PAGE > bytes && found.most < bytes + PAGE, "%s: about %zu", what, bytes))
        diag("%zu in %zu samples", found.most, found.samples);
}

/* Uses so much, and lets nobody think that it is in vain. Half of it is zeros, as memory is that nobody has used. */
static __attribute__((noinline)) void use(size_t bytes)
{
    volatile char *memory = alloca(bytes);

    for (size_t i = 0; i < bytes; i++)
        memory[i] = i & 1 ? 1 : 0;
    memory[0] = 0;
}

static void uses_little(void *arg)
{
    (void)arg;
}

static void uses_6k(void *arg)
{
    (void)arg;
    use(6000);
}

static void uses_12k(void *arg)
{
    (void)arg;
    use(12000);
}

static void uses_more_than_it_has(void *arg)
{
    (void)arg;
    use(40000);
}

static void uses_as_told(void *arg)
{
    use(*(size_t *)arg);
}

static void yields(void *arg)
{
    (void)arg;
    use(5000);
    for (int i = 0; i < 10; i++)
        ABT_thread_yield();
    use(9000);
}

static void exits(void *arg)
{
    (void)arg;
    use(7000);
    ABT_self_exit();
}

static ABT_pool pool;

static void run(void (*func)(void *), void *arg, int times)
{
    ABT_thread units[64];

    while (times > 0) {
        int n = times < 64 ? times : 64;
        for (int i = 0; i < n; i++)
            must(ABT_thread_create(pool, func, arg, ABT_THREAD_ATTR_NULL, &units[i]));
        for (int i = 0; i < n; i++)
            must(ABT_thread_free(&units[i]));
        times -= n;
    }
}

/* Lets its children, which use much, run in place on its stack if they may, and uses little itself. */
static void joins(void *arg)
{
    run(uses_12k, arg, 20);
}

static void waits(void *arg)
{
    use(8000);
    while (!*(atomic_bool *)arg)
        ABT_thread_yield();
}

/* --- */

/* What a unit that does nothing may have used: a context of the C library's is large. */
static size_t most_of_switch(void)
{
    ABT_bool in_assembly;

    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_FCONTEXT, &in_assembly));
    return in_assembly ? 1000 : 2 * PAGE;
}

static void look_at_functions(const char *where)
{
    diag("%s", where);
    run(uses_12k, NULL, 100); /* leaves its traces on the stacks */
    run(uses_little, NULL, 100);
    run(uses_6k, NULL, 100);
    is_about(uses_little, 300, "one that uses none");
    ok(found_of(uses_little).most < most_of_switch(), "and not even a page, or one");
    is_about(uses_6k, 6000, "one that uses 6000 bytes");
    is_about(uses_12k, 12000, "one that uses 12000 bytes");
    run(uses_more_than_it_has, NULL, 10);
    is_about(uses_more_than_it_has, 40000, "more than the nominal size");
    run(yields, NULL, 20);
    is_about(yields, 9000, "one that yields");
    run(exits, NULL, 20);
    is_about(exits, 7000, "one that exits");
    run(joins, NULL, 5);
    ok(found_of(joins).samples > 0 && found_of(joins).most < 2 * PAGE,
       "one that joins others uses no more than itself");
}

static void test_most(void)
{
    size_t bytes = 3000;

    run(uses_as_told, &bytes, 10);
    is_about(uses_as_told, 3000, "at first it uses little");
    bytes = 10000;
    run(uses_as_told, &bytes, 10);
    is_about(uses_as_told, 10000, "the most counts");
    bytes = 3000;
    run(uses_as_told, &bytes, 10);
    is_about(uses_as_told, 10000, "and stays");
}

static void test_own_stacks(void)
{
    static char memory[100000] __attribute__((aligned(8)));
    size_t bytes = 60000;
    ABT_thread thread;
    ABT_thread_attr attr;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 200000));
    must(ABT_thread_create(pool, uses_as_told, &bytes, attr, &thread));
    must(ABT_thread_free(&thread));
    is_about(uses_as_told, 60000, "a stack of its own");
    bytes = 70000;
    must(ABT_thread_attr_set_stack(attr, memory + 8, sizeof(memory) - 8));
    must(ABT_thread_create(pool, uses_as_told, &bytes, attr, &thread));
    must(ABT_thread_free(&thread));
    is_about(uses_as_told, 70000, "the user's memory");
    ok(memory[0] == 0, "what lies below is left alone");
    must(ABT_thread_attr_free(&attr));
}

static void test_cancelled(void)
{
    atomic_bool stop = false;
    ABT_thread thread = ult_in(pool, waits, &stop);

    yield_a_while();
    if (ABT_thread_cancel(thread) == ABT_ERR_FEATURE_NA)
        atomic_store(&stop, true);
    must(ABT_thread_free(&thread));
    is_about(waits, 8000, "one that is cancelled");
}

static void test_sampling(void)
{
    struct found before, after;

    must(ABTX_stack_usage_sample(10));
    before = found_of(uses_6k);
    run(uses_6k, NULL, 1000);
    after = found_of(uses_6k);
    ok(after.samples - before.samples >= 90 && after.samples - before.samples <= 110, "one in ten: %zu of 1000",
       after.samples - before.samples);
    must(ABTX_stack_usage_sample(0));
    run(uses_little, NULL, 100); /* the streams look at events */
    before = found_of(uses_6k);
    run(uses_6k, NULL, 1000);
    after = found_of(uses_6k);
    ok(after.samples == before.samples, "none: %zu more", after.samples - before.samples);
    must(ABTX_stack_usage_sample(1));
    before = found_of(uses_6k);
    run(uses_6k, NULL, 20);
    after = found_of(uses_6k);
    is_int((long)(after.samples - before.samples), 20, "all, from the first one on");
}

static void test_streams(void)
{
    ABT_xstream streams[3];
    ABT_pool before = pool;
    size_t samples = found_of(yields).samples;

    pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    for (int i = 0; i < 3; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &streams[i]));
    run(yields, NULL, 1000);
    for (int i = 0; i < 3; i++)
        must(ABT_xstream_free(&streams[i]));
    pool = before;
    samples = found_of(yields).samples - samples;
    ok(samples == 1000, "every one on three streams: %zu", samples);
    is_about(yields, 9000, "wherever they have been");
}

static void test_report(void)
{
    struct text text;

    text_open(&text);
    must(ABTX_info_print_stack_usage(text.fp));
    ok(count_in(&text, "stack use of ULTs") == 1, "a report is printed");
    ok(count_in(&text, " of function ") >= 8, "with a line for each function");
    text_close(&text);
}

static void test_refusals(void)
{
    size_t most, samples;

    if (ABT_NULL)
        return;
    ok_err(ABTX_stack_usage_sample(1), ABT_ERR_UNINITIALIZED);
    ok_err(ABTX_stack_usage_get(uses_little, &most, &samples), ABT_ERR_UNINITIALIZED);
    ok_err(ABTX_info_print_stack_usage(stderr), ABT_ERR_UNINITIALIZED);
}

static void use_private_pool(void)
{
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    must(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_BASIC, 1, &pool));
}

static void a_life(const char *guards)
{
    setenv("ABT_STACK_OVERFLOW_CHECK", guards, 1);
    must(ABT_init(0, NULL));
    pool = own_pool();
    run(uses_6k, NULL, 10);
    is_int((int)found_of(uses_6k).samples, 0, "%s: nothing is watched unless asked for", guards);
    if (!ABT_NULL)
        ok_err(ABTX_stack_usage_sample(-1), ABT_ERR_INV_ARG);
    must(ABTX_stack_usage_sample(1));
    look_at_functions("in a pool for all");
    use_private_pool();
    look_at_functions("in a private pool");
    test_most();
    test_own_stacks();
    test_cancelled();
    test_sampling();
    test_streams();
    test_report();
    must(ABT_finalize());
}

/* What ABT_finalize prints. */
static bool is_possible(void)
{
    int code;

    must(ABT_init(0, NULL));
    code = ABTX_stack_usage_sample(1);
    must(ABT_finalize());
    return code != ABT_ERR_FEATURE_NA;
}

int main(void)
{
    if (!is_possible())
        skip_all("not under valgrind or a sanitizer");
    test_refusals();
    a_life("auto");
    a_life("canary");
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joining and freeing many, at once or one by one: units of a private pool then run one after the other on the joiner's
 * stack, which nobody is to notice, whatever they do.
 */
#include <fenv.h>
#include <string.h>

#include "common.h"

/*
 * Flags that are raised in MXCSR belong to the caller of any function, by the ABI of x86-64. glibc raises this one in
 * the x87, where it stays.
 */
#if !defined(__linux__) || defined(__GLIBC__)
enum { FLAGS_STAY = 1 };
#else /* a C library that has no functions for traps, either */
enum { FLAGS_STAY = 0 };

static int feenableexcept(int excepts)
{
    return -1;
}

static int fedisableexcept(int excepts)
{
    return -1;
}

static int fegetexcept(void)
{
    return 0;
}
#endif

enum { MANY = 200 }; /* more than there are between two event checks */

static ABT_pool pool;
static ABT_thread joiner, units[MANY];
static int num_run, order[MANY]; /* who has run when */
static int round_of[MANY];       /* rounding modes at the start */
static ABT_eventual eventual;
static ABT_key key;
static int num_destroyed;

static void note(void *arg)
{
    round_of[(intptr_t)arg] = fegetround();
    order[num_run++] = (int)(intptr_t)arg;
}

static void run_all(void)
{
    num_run = 0;
    for (int i = 0; i < MANY; i++)
        order[i] = -1;
}

static bool in_order(int num)
{
    bool yes = num_run == num;

    for (int i = 0; i < num; i++)
        yes = yes && order[i] == i;
    return yes;
}

static void create(int i, void (*func)(void *))
{
    must(ABT_thread_create(pool, func, (void *)(intptr_t)i, ABT_THREAD_ATTR_NULL, &units[i]));
}

/* --- Ways to join and free many --- */

static int join_each(int num, ABT_thread *list)
{
    int code = ABT_SUCCESS;

    for (int i = 0; i < num && code == ABT_SUCCESS; i++)
        code = list[i] == ABT_THREAD_NULL ? ABT_SUCCESS : ABT_thread_join(list[i]);
    return code;
}

static int free_each(int num, ABT_thread *list)
{
    int code = ABT_SUCCESS;

    for (int i = 0; i < num && code == ABT_SUCCESS; i++)
        code = list[i] == ABT_THREAD_NULL ? ABT_SUCCESS : ABT_thread_free(&list[i]);
    return code;
}

struct way {
    int (*many)(int, ABT_thread *);
    bool frees;
    const char *name;
};

static const struct way ways[] = {
    {ABT_thread_join_many, false, "joined at once"},
    {ABT_thread_free_many, true, "freed at once"},
    {join_each, false, "joined one by one"},
    {free_each, true, "freed one by one"},
};

enum { NUM_WAYS = sizeof(ways) / sizeof(ways[0]) };

/* --- What a unit sees --- */

static int num_wrong;

/* And what a native thread does, when it is asked to. */
static atomic_int asked = -1;
static atomic_bool no_more;

static void look_from_outside(int i)
{
    size_t size, total;

    must(ABT_pool_get_size(pool, &size));
    must(ABT_pool_get_total_size(pool, &total));
    num_wrong += state_of(joiner) != ABT_THREAD_STATE_BLOCKED;
    num_wrong += (int)size != MANY - 1 - i;
    num_wrong += (int)total != MANY - i;
}

static void *watch(void *arg)
{
    while (!atomic_load(&no_more)) {
        int i = atomic_load(&asked);
        if (i >= 0) {
            look_from_outside(i);
            atomic_store(&asked, -1);
        }
        sched_yield();
    }
    return arg;
}

static void look(void *arg)
{
    int i = (int)(intptr_t)arg;
    size_t size, total;
    ABT_thread self;

    note(arg);
    must(ABT_self_get_thread(&self));
    must(ABT_pool_get_size(pool, &size));
    must(ABT_pool_get_total_size(pool, &total));
    num_wrong += self != units[i];
    num_wrong += state_of(joiner) != ABT_THREAD_STATE_BLOCKED;
    num_wrong += state_of(self) != ABT_THREAD_STATE_RUNNING;
    num_wrong += (int)size != MANY - 1 - i;
    num_wrong += (int)total != MANY - i; /* and the joiner */
    if (i % 20 == 0) {
        atomic_store(&asked, i);
        while (atomic_load(&asked) >= 0)
            sched_yield();
    }
}

static bool has_ended(ABT_thread unit)
{
    return state_of(unit) == ABT_THREAD_STATE_TERMINATED;
}

static bool is_freed(ABT_thread unit)
{
    return unit == ABT_THREAD_NULL;
}

/* Those before it are over, the others, and itself, are not. */
static void look_at_all(void *arg, bool (*is_over)(ABT_thread unit))
{
    look(arg);
    for (int i = 0; i < MANY; i++)
        num_wrong += is_over(units[i]) != (i < (intptr_t)arg);
}

static void look_after_join(void *arg)
{
    look_at_all(arg, has_ended);
}

static void look_after_free(void *arg)
{
    look_at_all(arg, is_freed);
}

static void test_views(const struct way *way)
{
    size_t size, total;

    run_all();
    num_wrong = 0;
    for (int i = 0; i < MANY; i++)
        create(i, way->frees ? look_after_free : look_after_join);
    ok_abt(way->many(MANY, units));
    ok(in_order(MANY), "%s: all have run, in order", way->name);
    is_int(num_wrong, 0, "what they have seen of themselves, the others, the joiner and the pool");
    is_int(state_of(joiner), ABT_THREAD_STATE_RUNNING, "the joiner runs again");
    must(ABT_pool_get_size(pool, &size));
    must(ABT_pool_get_total_size(pool, &total));
    ok(size == 0 && total == 0, "the pool is empty");
    if (!way->frees)
        ok_abt(ABT_thread_free_many(MANY, units));
}

/* --- Before it runs --- */

/* Descriptors that others have had, in place and on stacks of their own: the new ones know nothing of that. */
static void test_fresh(const struct way *way)
{
    char text[256] = "";
    bool all = true, told = true;

    run_all();
    for (int i = 0; i < MANY; i++)
        create(i, note);
    if (way->frees)
        must(ABT_thread_yield()); /* they run on stacks */
    must(ABT_thread_free_many(MANY, units));
    run_all();
    for (int i = 0; i < MANY; i++)
        create(i, note);
    for (int i = 0; i < MANY; i++) {
        ABT_xstream last;
        void *addr;
        size_t size;
        FILE *fp = fmemopen(text, sizeof(text), "w");

        must(ABT_thread_get_stack(units[i], &addr, &size));
        must(ABT_thread_get_last_xstream(units[i], &last));
        must(ABT_info_print_thread_stack(fp, units[i]));
        fclose(fp);
        told = told && strstr(text, "has not started");
        all = all && !addr && last == ABT_XSTREAM_NULL && state_of(units[i]) == ABT_THREAD_STATE_READY;
    }
    ok(all, "%s: before that none has a stack, or has run", way->name);
    ok(told, "nor is one printed");
    must(way->many(MANY, units));
    must(ABT_thread_free_many(MANY, units));
}

/* --- What a unit does --- */

static void yield(void *arg)
{
    must(ABT_self_yield());
    note(arg);
}

static void leave(void *arg)
{
    note(arg);
    ABT_self_exit();
}

static void wait_for_it(void *arg)
{
    must(ABT_eventual_wait(eventual, NULL));
    note(arg);
}

static void set_it(void *arg)
{
    note(arg);
    must(ABT_eventual_set(eventual, NULL, 0));
}

static void destroy(void *value)
{
    num_destroyed++;
}

static void set_key(void *arg)
{
    note(arg);
    must(ABT_self_set_specific(key, &key));
}

static void round_otherwise(void *arg)
{
    note(arg);
    fesetround(FE_UPWARD);
}

static void have_row(void *arg)
{
    ABT_thread two[2];

    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(pool, note, arg, ABT_THREAD_ATTR_NULL, &two[i]));
    must(ABT_thread_free_many(2, two));
    num_run -= 2;
    note(arg);
}

static void never(void *arg)
{
    note(arg);
    bail_out("a cancelled unit runs");
}

static void do_many(const struct way *way, void (*odd)(void *), const char *what)
{
    enum { NUM = 9, ODD = 3 };
    bool all = true;

    run_all();
    num_destroyed = 0;
    must(ABT_eventual_reset(eventual));
    for (int i = 0; i < NUM; i++)
        create(i, i == ODD ? odd : i == NUM - 1 ? set_it : note);
    must(ABT_thread_free(&units[1])); /* while others stand before it */
    fesetround(FE_DOWNWARD);
    ok_abt(way->many(NUM, units));
    int round = fegetround();
    fesetround(FE_TONEAREST);
    is_int(num_run, NUM, "%s, one %s: all have run", way->name, what);
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU)) {
        is_int(round, FE_DOWNWARD, "the joiner keeps its rounding mode");
        for (int i = 0; i < NUM; i++)
            all = all && round_of[i] == FE_TONEAREST;
        ok(all, "each has begun with the usual one");
    }
    all = true;
    must(ABT_thread_free_many(NUM, units));
    for (int i = 0; i < NUM; i++)
        all = all && units[i] == ABT_THREAD_NULL;
    ok(all, "all are freed");
    is_int(num_destroyed, odd == set_key, "with their values");
}

static void test_deeds(const struct way *way)
{
    do_many(way, note, "does nothing");
    do_many(way, yield, "yields");
    do_many(way, leave, "exits");
    do_many(way, wait_for_it, "waits for one behind it");
    do_many(way, set_key, "has a value");
    do_many(way, round_otherwise, "rounds otherwise");
    do_many(way, have_row, "joins others itself");
}

static void test_cancelled(const struct way *way)
{
    run_all();
    create(0, note);
    create(1, never);
    create(2, note);
    must(ABT_thread_cancel(units[1]));
    ok_abt(way->many(3, units));
    ok(num_run == 2 && order[0] == 0 && order[1] == 2, "a cancelled one does not run, the others do");
    must(ABT_thread_free_many(3, units));
}

/* --- The joiner's control words --- */

/* Each time others: what was in force when one goes on, is not when the next one does. */
static void test_words(const struct way *way)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_UPWARD, FE_TONEAREST, FE_TOWARDZERO};
    bool all = true;

    for (int i = 0; i < 20; i++) {
        int mode = modes[i % 5], except = i % 3 == 0 ? FE_DIVBYZERO : 0;
        run_all();
        for (int k = 0; k < 2; k++)
            create(k, k ? note : round_otherwise);
        fesetround(mode);
        if (feenableexcept(except) < 0)
            except = 0; /* few processors but x86's can trap */
        feraiseexcept(i % 2 ? FE_INEXACT : 0);
        must(way->many(2, units));
        all = all && fegetround() == mode && fegetexcept() == except &&
              (i % 2 == 0 || !FLAGS_STAY || fetestexcept(FE_INEXACT));
        fedisableexcept(FE_ALL_EXCEPT);
        feclearexcept(FE_ALL_EXCEPT);
        fesetround(FE_TONEAREST);
        all = all && round_of[1] == FE_TONEAREST;
        if (!way->frees)
            must(ABT_thread_free_many(2, units));
    }
    ok(all, "%s: the joiner keeps rounding mode and exceptions, whatever the one before had", way->name);
}

/* --- Events --- */

static ABT_bool count(void *arg, ABT_bool about_to_sleep)
{
    ++*(int *)arg;
    return ABT_FALSE;
}

/* Who does nothing but join lets the stream check events as often as it is to. */
static void test_events(const struct way *way)
{
    enum { ROUNDS = 25, FREQ = 50 };
    ABT_xstream xstream;
    ABTX_driver driver;
    int polls = 0;

    must(ABT_xstream_self(&xstream));
    must(ABTX_driver_create(&(ABTX_driver_ops){.poll = count}, &polls, &driver));
    must(ABTX_driver_attach(driver, xstream));
    for (int k = 0; k < ROUNDS; k++) {
        for (int i = 0; i < MANY; i++)
            create(i, note);
        num_run = 0;
        must(way->many(MANY, units));
        if (!way->frees)
            must(ABT_thread_free_many(MANY, units));
    }
    must(ABTX_driver_free(&driver));
    ok(polls >= ROUNDS * MANY / FREQ / 2 && polls <= ROUNDS * MANY / FREQ * 3, "%s: %d looks at events in %d joins",
       way->name, polls, ROUNDS * MANY);
}

/* --- A pool that outlives its streams --- */

static void join_all(void *way)
{
    must(ABT_self_get_thread(&joiner));
    test_views(way);
}

/* Only units of the stream push to its private pool: this one is in another. */
static void start_joiner(void *way)
{
    ABT_thread thread = ult_in(pool, join_all, way);
    must(ABT_thread_free(&thread));
}

static void test_streams(ABT_pool common)
{
    pool = common;
    for (int i = 0; i < 2 * NUM_WAYS; i++) {
        ABT_pool pools[2] = {common, ABT_POOL_NULL};
        ABT_xstream xstream;
        ABT_thread thread;

        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[1]));
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &xstream));
        must(ABT_thread_create(pools[1], start_joiner, (void *)&ways[i % NUM_WAYS], ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
        must(ABT_xstream_free(&xstream));
    }
}

/* --- The size as others see it, all the time --- */

static void *read_sizes(void *arg)
{
    size_t size, *most = arg;

    while (!atomic_load(&no_more)) {
        must(ABT_pool_get_size(pool, &size));
        *most = size > *most ? size : *most;
    }
    return NULL;
}

static void test_sizes(void)
{
    enum { NUM = 3 };
    double end = now() + 0.3;
    size_t most = 0;
    pthread_t native;

    atomic_store(&no_more, false);
    must(pthread_create(&native, NULL, read_sizes, &most));
    while (now() < end) {
        for (int i = 0; i < NUM; i++)
            create(i, note);
        num_run = 0;
        for (int i = 0; i < NUM; i++)
            must(ABT_thread_free(&units[i]));
    }
    atomic_store(&no_more, true);
    must(pthread_join(native, NULL));
    ok(most <= NUM, "there seem never to be more units than there are, %zu", most);
}

int main(void)
{
    ABT_xstream xstream;
    ABT_pool other;
    pthread_t native;

    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&xstream));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    must(ABT_xstream_set_main_sched_basic(xstream, ABT_SCHED_BASIC, 1, &pool));
    must(ABT_self_get_thread(&joiner));
    must(ABT_eventual_create(0, &eventual));
    must(ABT_key_create(destroy, &key));
    test_sizes();
    atomic_store(&no_more, false);
    must(pthread_create(&native, NULL, watch, NULL));
    for (int i = 0; i < NUM_WAYS; i++) {
        test_fresh(&ways[i]);
        test_views(&ways[i]);
        test_deeds(&ways[i]);
        if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU))
            test_words(&ways[i]);
        test_events(&ways[i]);
        if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL))
            test_cancelled(&ways[i]);
    }
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_FALSE, &other));
    test_streams(other);
    atomic_store(&no_more, true);
    must(pthread_join(native, NULL));
    must(ABT_pool_free(&other));
    must(ABT_key_free(&key));
    must(ABT_eventual_free(&eventual));
    must(ABT_finalize());
    return done_testing();
}

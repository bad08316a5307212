/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Idle execution streams, seen from the system: they sleep, a push to a sleeping one is one system call whatever pool
 * it goes to, and a push to a running one none. With the active wait policy nobody sleeps and nobody is woken.
 */
#include "common.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#endif

/* --- Counting: the library makes its system calls by this function, and so finds ours --- */

static atomic_int sleeping;                 /* native threads in a futex wait now */
static _Thread_local int calls, calls_wake; /* by this thread: all, those that wake */

long syscall(long number, ...)
{
    static long (*_Atomic real)(long, ...);
    va_list args;
    long a[6];

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (!real)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    calls++;
    int op = number == SYS_futex ? (int)a[1] & 127 : -1;
    bool waits = op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET;
    calls_wake += op == FUTEX_WAKE;
    if (waits)
        atomic_fetch_add(&sleeping, 1);
    long result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (waits)
        atomic_fetch_sub(&sleeping, 1);
    return result;
}

static bool active, counts;

/* The ES is asleep, and nobody else is; or it has had time enough to look idle. */
static void let_it_sleep(void)
{
    if (!counts || active)
        nap_ms(3);
    else
        wait_for(atomic_load(&sleeping) == 1);
}

/* --- Pushes --- */

static void test_push_to_sleeper(ABT_sched_predef predef, ABT_pool_kind kind, int num_pools)
{
    enum { MAX_POOLS = 4, ROUNDS = 8 };
    ABT_pool pools[MAX_POOLS];
    ABT_xstream es;
    atomic_int ran = 0;
    int wrong = 0, expected = counts && !active ? 1 : 0;

    for (int i = 0; i < num_pools; i++)
        must(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
    must(ABT_xstream_create_basic(predef, num_pools, pools, ABT_SCHED_CONFIG_NULL, &es));
    for (int i = 0; i < ROUNDS; i++) {
        let_it_sleep();
        int before = calls, before_wake = calls_wake;
        must(ABT_task_create(pools[i % num_pools], count_up, &ran, NULL));
        wrong += counts && (calls_wake - before_wake != expected || calls - before != expected);
        wait_for(atomic_load(&ran) == i + 1);
    }
    is_int(wrong, 0, "scheduler %d, %d pools of kind %d: a push is %d system call", predef, num_pools, kind, expected);
    must(ABT_xstream_free(&es));
}

static void test_push_to_runner(ABT_pool_kind kind)
{
    enum { PUSHES = 100 };
    struct spinner s = {false, false};
    ABT_pool pools[2];
    ABT_xstream es;
    atomic_int ran = 0;

    for (int i = 0; i < 2; i++)
        must(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &es));
    must(ABT_task_create(pools[0], keep_spinning, &s, NULL));
    wait_for(atomic_load(&s.running));
    int before = calls;
    for (int i = 0; i < PUSHES; i++)
        must(ABT_task_create(pools[i % 2], count_up, &ran, NULL));
    is_int(calls - before, 0, "%d pushes to it, pools of kind %d: no system call", PUSHES, kind);
    atomic_store(&s.stop, true);
    wait_for(atomic_load(&ran) == PUSHES);
    must(ABT_xstream_free(&es));
}

/* One push wakes one ES, not all of those that share the pool. */
static void test_one_of_many(void)
{
    enum { STREAMS = 4 };
    ABT_pool pool;
    ABT_xstream es[STREAMS];
    atomic_int ran = 0;

    if (!counts || active) {
        skip(1, "no futex wakes to count");
        return;
    }
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &es[i]));
    int wrong = 0;
    wait_for(atomic_load(&sleeping) == STREAMS);
    for (int i = 0; i < 20; i++) {
        int before = calls;
        must(ABT_task_create(pool, count_up, &ran, NULL));
        wrong += calls - before != 1;
        wait_for(atomic_load(&ran) == i + 1 && atomic_load(&sleeping) == STREAMS);
    }
    is_int(wrong, 0, "one push to a pool of %d sleeping streams is one system call", STREAMS);
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&es[i]));
}

/* --- What one stream leaves lying another one runs --- */

struct busy {
    ABT_pool pool;
    atomic_int begun;
    atomic_bool over;
};

static void begin(void *arg)
{
    struct busy *b = arg;

    atomic_fetch_add(&b->begun, 1);
    while (!atomic_load(&b->over))
        sched_yield();
}

/* It never gives its stream away: the other one must run what it creates, awake or asleep. */
static void create_and_stay(void *arg)
{
    struct busy *b = arg;

    for (int i = 0; i < 50; i++) {
        ABT_thread ult;
        atomic_store(&b->begun, 0);
        atomic_store(&b->over, false);
        must(ABT_thread_create(b->pool, begin, b, ABT_THREAD_ATTR_NULL, &ult));
        wait_for(atomic_load(&b->begun) == 1);
        atomic_store(&b->over, true);
        for (ABT_thread_state state = ABT_THREAD_STATE_RUNNING; state != ABT_THREAD_STATE_TERMINATED;)
            must(ABT_thread_get_state(ult, &state));
        must(ABT_thread_free(&ult));
        if (i % 10 == 0)
            nap_ms(1);
    }
}

static void test_left_lying(ABT_sched_predef predef, ABT_pool_kind kind)
{
    struct busy b;
    ABT_pool pools[2];
    ABT_xstream es[2];
    ABT_thread ult;

    for (int i = 0; i < 2; i++)
        must(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
    for (int i = 0; i < 2; i++) {
        ABT_pool order[2] = {pools[i], pools[!i]};
        must(ABT_xstream_create_basic(predef, 2, order, ABT_SCHED_CONFIG_NULL, &es[i]));
    }
    b.pool = pools[0];
    must(ABT_thread_create(b.pool, create_and_stay, &b, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
    pass("scheduler %d, pools of kind %d: another stream runs what one leaves lying", predef, kind);
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&es[i]));
}

/* --- The wait policy --- */

static void *wait_for_eventual(void *arg)
{
    must(ABT_eventual_wait((ABT_eventual)arg, NULL));
    return NULL;
}

static void test_policy(void)
{
    ABT_eventual eventual;
    pthread_t thread;

    ABT_xstream es = new_xstream();
    must(ABT_eventual_create(0, &eventual));
    pthread_create(&thread, NULL, wait_for_eventual, eventual);
    nap_ms(20);
    if (active) {
        /* Who spins gives way to others, so that a busy machine leaves it little at a time. */
        double start = cpu_seconds();
        for (int i = 0; cpu_seconds() - start < 0.1 && i < 1000; i++)
            nap_ms(100);
        ok(cpu_seconds() - start > 0.1, "the active policy spins: %.3f s of CPU", cpu_seconds() - start);
    } else {
        double share = cpu_share(CLOCK_PROCESS_CPUTIME_ID, 300, 0.1);
        ok(share < 0.1, "the passive policy sleeps: %.2f %% of a CPU", share * 100);
    }
    must(ABT_eventual_set(eventual, NULL, 0));
    pthread_join(thread, NULL);
    must(ABT_eventual_free(&eventual));
    must(ABT_xstream_free(&es));
}

/* Whether the library sleeps by our system call: a build without futex does not. */
static bool sees_sleepers(void)
{
    ABT_xstream es = new_xstream();
    for (int i = 0; i < 2000 && atomic_load(&sleeping) == 0; i++)
        nap_ms(0.5);
    bool sees = atomic_load(&sleeping) > 0;
    must(ABT_xstream_free(&es));
    return sees;
}

int main(void)
{
    static const ABT_sched_predef scheds[] = {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT};
    static const ABT_pool_kind kinds[] = {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS};
    int policy;

    must(ABT_init(0, NULL));
    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_WAIT_POLICY, &policy));
    active = policy == 1;
    counts = active || sees_sleepers();
    if (!counts)
        diag("no futex: system calls are not counted");
    for (size_t i = 0; i < sizeof(scheds) / sizeof(scheds[0]); i++) {
        for (int num_pools = 1; num_pools <= 4; num_pools *= 2)
            test_push_to_sleeper(scheds[i], kinds[(i + (size_t)num_pools) % 3], num_pools);
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        test_push_to_runner(kinds[i]);
    for (size_t i = 0; i < sizeof(scheds) / sizeof(scheds[0]); i++) {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
            test_left_lying(scheds[i], kinds[k]);
    }
    test_one_of_many();
    test_policy();
    must(ABT_finalize());
    return done_testing();
}

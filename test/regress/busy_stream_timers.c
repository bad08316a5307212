/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two streams serve a pool. A ULT of it waits with a deadline on one of them, which then runs a unit that does not end
 * before the wait has: the other stream, which sleeps, or is busy with short units, ends the wait and runs the ULT.
 */
#include <sys/resource.h>

#include "parking.h"
#include "regress.h"
#include "sanitizers.h"

enum { OTHERS = 3 }; /* streams beside the primary one, which only sleeps in the join */

enum kind { SLEEP, COND, EVENTUAL, ANY, CANCELLED, NUM_KINDS };

static const char *const kinds[] = {"ABTX_self_sleep", "ABT_cond_timedwait", "ABT_eventual_timedwait",
                                    "ABTX_eventual_wait_any_until", "a wait that is cancelled"};

static ABT_pool shared, own[OTHERS + 1]; /* by rank */
static bool computes;                    /* the long unit does, and does not sleep in the system */
static atomic_bool over, quit;

/* Runs until the wait is over. */
static void run_long(void *arg)
{
    while (!atomic_load(&over)) {
        if (!computes)
            nap_ms(1);
    }
}

static struct timespec real_time_in(double seconds)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec += (time_t)seconds;
    ts.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (ts.tv_nsec >= 1000000000L) {
        ts.tv_nsec -= 1000000000L;
        ts.tv_sec++;
    }
    return ts;
}

static void wait_for(enum kind kind)
{
    struct timespec until = real_time_in(kind == CANCELLED ? 1000 : 0.05);
    ABT_mutex_memory mutex_memory = ABT_MUTEX_INITIALIZER;
    ABT_cond_memory cond_memory = ABT_COND_INITIALIZER;
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex_memory);
    ABT_eventual_memory eventual_memory = ABT_EVENTUAL_INITIALIZER;
    ABT_eventual eventual = ABT_EVENTUAL_MEMORY_GET_HANDLE(&eventual_memory);
    int index;

    if (kind == SLEEP)
        must(ABTX_self_sleep(50000000));
    else if (kind == COND) {
        must(ABT_mutex_lock(mutex));
        ABT_cond_timedwait(ABT_COND_MEMORY_GET_HANDLE(&cond_memory), mutex, &until);
        must(ABT_mutex_unlock(mutex));
    } else if (kind == ANY)
        ABTX_eventual_wait_any_until(1, &eventual, &index, ABTX_after(50000000));
    else
        ABT_eventual_timedwait(eventual, NULL, &until);
}

struct waiter {
    enum kind kind;
    atomic_bool waits;
    ABT_thread other; /* the long unit */
};

static void tell_end(void *value)
{
    atomic_store(&over, true);
}

static ABT_key key; /* whose destructor tells the end of a ULT that is cancelled, too */

/* The long unit is for the very stream that the wait begins on. */
static void wait_here(void *arg)
{
    struct waiter *waiter = arg;
    int rank;

    must(ABT_key_set(key, waiter));
    must(ABT_self_get_xstream_rank(&rank));
    must(ABT_thread_create(own[rank], run_long, NULL, ABT_THREAD_ATTR_NULL, &waiter->other));
    atomic_store(&waiter->waits, true);
    wait_for(waiter->kind);
}

static void await_end(enum kind kind)
{
    struct waiter waiter = {.kind = kind};

    atomic_store(&over, false);
    ABT_thread ult = ult_in(shared, wait_here, &waiter);
    if (kind == CANCELLED) {
        while (!atomic_load(&waiter.waits))
            nap_ms(1);
        nap_ms(30); /* more likely than not it waits by now */
        must(ABT_thread_cancel(ult));
    }
    must(ABT_thread_free(&ult));
    must(ABT_thread_free(&waiter.other));
}

static void run_short(void *arg)
{
    while (!atomic_load(&quit))
        must(ABT_thread_yield());
}

/* A predefined scheduler, or with -1 one that parks. */
static ABT_xstream make_stream(int predef, int rank)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .init = sched_is_ready, .run = run_parking};
    ABT_pool pools[2];
    ABT_xstream es;
    ABT_sched sched;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &own[rank]));
    pools[0] = shared;
    pools[1] = own[rank];
    if (predef >= 0)
        must(ABT_sched_create_basic((ABT_sched_predef)predef, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
    else
        sched = automatic_sched(&def, 2, pools);
    must(ABT_xstream_create_with_rank(sched, rank, &es));
    return es;
}

/* `short_units`: all other streams but one are busy with them, and that one runs what is long. */
static void try_all(const char *name, int predef, ABT_pool_kind pool_kind, bool short_units)
{
    ABT_xstream es[OTHERS + 1];
    int num = short_units ? 2 : OTHERS;
    ABT_thread busy[OTHERS + 1];

    must(ABT_pool_create_basic(pool_kind, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &shared));
    atomic_store(&quit, false);
    for (int i = 1; i <= num; i++)
        es[i] = make_stream(predef, i);
    for (int i = 1; i <= num && short_units; i++)
        must(ABT_thread_create(own[i], run_short, NULL, ABT_THREAD_ATTR_NULL, &busy[i]));
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        computes = !computes;
        for (int times = 0; times < 2; times++)
            await_end((enum kind)kind);
        pass("%s, %s", name, kinds[kind]);
    }
    atomic_store(&quit, true);
    for (int i = 1; i <= num && short_units; i++)
        must(ABT_thread_free(&busy[i]));
    for (int i = 1; i <= num; i++)
        must(ABT_xstream_free(&es[i]));
    must(ABT_pool_free(&shared));
}

/* No stream looks at timers that there are not. */
static void check_quiet(void)
{
    ABT_xstream es[OTHERS + 1];

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &shared));
    for (int i = 1; i <= OTHERS; i++)
        es[i] = make_stream(ABT_SCHED_BASIC, i);
    await_end(SLEEP);
    long least = 1000;
    for (int i = 0; i < 20 && least > 10; i++) {
        struct rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        nap_ms(300);
        getrusage(RUSAGE_SELF, &after);
        long wakes = after.ru_nvcsw - before.ru_nvcsw;
        least = wakes < least ? wakes : least;
    }
    ok(least <= 10, "%ld wakes in 0.3 s where no timer is armed", least);
    for (int i = 1; i <= OTHERS; i++)
        must(ABT_xstream_free(&es[i]));
    must(ABT_pool_free(&shared));
}

int main(void)
{
    regress_begin();
    need_cancel_and_migrate();
    must(ABT_init(0, NULL));
    must(ABT_key_create(tell_end, &key));
    try_all("BASIC", ABT_SCHED_BASIC, ABT_POOL_FIFO, false);
    try_all("BASIC_WAIT", ABT_SCHED_BASIC_WAIT, ABT_POOL_FIFO_WAIT, false);
    try_all("PRIO", ABT_SCHED_PRIO, ABT_POOL_FIFO, false);
    try_all("RANDWS", ABT_SCHED_RANDWS, ABT_POOL_RANDWS, false);
    try_all("a scheduler that parks", -1, ABT_POOL_FIFO, false);
    try_all("short units", ABT_SCHED_BASIC, ABT_POOL_FIFO, true);
    try_all("short units, a scheduler of the user's", -1, ABT_POOL_FIFO, true);
    if (!policy_is_active())
        check_quiet();
    must(ABT_key_free(&key));
    must(ABT_finalize());
    return done_testing();
}

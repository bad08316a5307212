/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works on many streams, for the simulator (test/tools/cores.c; maint/bench --cores):
 *
 *   streams WORK STREAMS SIZE [LATE]
 *
 * LATE: by how many nanoseconds a member comes late to a barrier, 100000 by default.
 *
 * It prints nanoseconds of one operation over all streams. A work of a team has a ULT on each stream, which meet before
 * and after; the others have one that makes work for all.
 */
#include <abt.h>
#include <pthread.h>
#include <string.h>
#include "marks.h"

enum { MAX_STREAMS = 256, UNITS = 256, GRAINS = 1024, OFTEN = 100, STEADY = 20, AFTER = 30, FIB = 14, FIB_FORKS = 609 };
enum kind {
    PRIVATE,  /* each stream has a private pool */
    OWN,      /* a pool of its own that others may use, too */
    SHARED,   /* all streams have one pool */
    STEALING, /* each has a pool of its own and takes from all others */
    NATIVE    /* native threads in place of ULTs */
};

static const struct work {
    const char *name;
    enum kind kind;
    int is_team;
    int operations; /* of one call */
    void (*call)(long me);
    void (*before)(long me); /* what is measured follows without a meeting */
    int is_cold;             /* the first calls are measured */
    void (*round)(long me);  /* of a work that comes late */
} * work;

static int num;
static long size, late_ns = 100000;
static ABT_pool pools[MAX_STREAMS], starts[MAX_STREAMS];
static ABT_xstream streams[MAX_STREAMS];
static ABT_barrier barrier;
static ABT_xstream_barrier stream_barrier;
static ABT_mutex mutexes[MAX_STREAMS];
static ABT_key key;
static long guarded;
static ABT_eventual pairs[MAX_STREAMS];
static _Alignas(128) int64_t ended[MAX_STREAMS][64]; /* when each member left each round that is looked at */

static void nop(void *arg)
{
}

static void toil(void *arg)
{
    for (volatile long left = (long)arg; left > 0; left--)
        ;
}

/* --- Teams --- */

/* Units of that function, in each of some pools in turn. */
static void make(int units, void (*func)(void *), ABT_pool *to, int num_to)
{
    ABT_thread threads[UNITS];
    for (int i = 0; i < units; i++)
        ABT_thread_create(to[i % num_to], func, NULL, ABT_THREAD_ATTR_NULL, &threads[i]);
    for (int i = 0; i < units; i++)
        ABT_thread_free(&threads[i]);
}

static void create(long me)
{
    make(UNITS, nop, &pools[me], 1);
}

static void yield_once(void *arg)
{
    (void)arg;
    ABT_thread_yield();
}

/* All of them have stacks at a time. */
static void stacks(long me)
{
    make(UNITS, yield_once, &pools[me], 1);
}

static void tasklets(long me)
{
    ABT_task tasks[UNITS];
    for (int i = 0; i < UNITS; i++)
        ABT_task_create(pools[me], nop, NULL, &tasks[i]);
    for (int i = 0; i < UNITS; i++)
        ABT_task_free(&tasks[i]);
}

static void yield_often(void *arg)
{
    for (int i = 0; i < UNITS / 2; i++)
        ABT_thread_yield();
}

static void yield(long me)
{
    make(2, yield_often, &pools[me], 1);
}

static void own_mutex(long me)
{
    for (int i = 0; i < UNITS; i++) {
        ABT_mutex_lock(mutexes[me]);
        ABT_mutex_unlock(mutexes[me]);
    }
}

/* On the stack, whose lines no other stream has: objects that are created share lines with what is allocated beside. */
struct pair {
    ABT_mutex_memory mutex_memory;
    ABT_cond_memory cond_memory;
    ABT_mutex mutex;
    ABT_cond cond;
};

/* Each wait has a deadline, which does not come. */
static void wait_often(void *arg)
{
    struct pair *pair = arg;
    struct timespec late;
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 1000;
    for (int i = 0; i < UNITS; i++) {
        ABT_mutex_lock(pair->mutex);
        ABT_cond_timedwait(pair->cond, pair->mutex, &late);
        ABT_mutex_unlock(pair->mutex);
    }
}

static void signal_often(void *arg)
{
    struct pair *pair = arg;
    for (int i = 0; i < UNITS; i++) {
        ABT_cond_signal(pair->cond);
        ABT_thread_yield();
    }
}

/* The first ULT waits, then the other one wakes it, and so on: the pool is a queue. */
static void timers(long me)
{
    _Alignas(64) struct pair pair = {.mutex_memory = ABT_MUTEX_INITIALIZER, .cond_memory = ABT_COND_INITIALIZER};
    ABT_thread threads[2];
    pair.mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&pair.mutex_memory);
    pair.cond = ABT_COND_MEMORY_GET_HANDLE(&pair.cond_memory);
    ABT_thread_create(pools[me], wait_often, &pair, ABT_THREAD_ATTR_NULL, &threads[0]);
    ABT_thread_create(pools[me], signal_often, &pair, ABT_THREAD_ATTR_NULL, &threads[1]);
    for (int i = 0; i < 2; i++)
        ABT_thread_free(&threads[i]);
}

static void keys(long me)
{
    for (int i = 0; i < UNITS; i++) {
        void *value;
        ABT_key_set(key, &mutexes[me]);
        ABT_key_get(key, &value);
    }
}

static void one_mutex(long me)
{
    ABT_mutex_lock(mutexes[0]);
    guarded++;
    ABT_mutex_unlock(mutexes[0]);
}

static void ult_barrier(long me)
{
    ABT_barrier_wait(barrier);
}

static void xstream_barrier(long me)
{
    ABT_xstream_barrier_wait(stream_barrier);
}

/*
 * Barriers after a member that came late: it had to sleep, and so had all others. What is measured begins ten rounds
 * later, without a pause, and is to be a steady round.
 */
static void word_barrier(long me)
{
    static _Atomic(uint32_t) arrived, rounds;
    uint32_t round = rounds;
    if (atomic_fetch_add(&arrived, 1) + 1 == (uint32_t)num * (round + 1)) {
        rounds = round + 1;
        ABTX_word_wake(&rounds, UINT32_MAX);
    } else {
        while (rounds == round)
            ABTX_word_wait(&rounds, round, (uint32_t)num, ABT_TRUE, NULL, NULL);
    }
}

static void come_late(long me, long ns)
{
    if (me == num - 1)
        nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

static void disturb(long me)
{
    for (int i = 0; i < 20; i++)
        work->call(me);
    come_late(me, late_ns);
    for (int i = 0; i < 10; i++)
        work->call(me);
}

static void take_rounds(long me, int from, int to)
{
    for (int i = from; i < to; i++) {
        struct timespec now;
        work->call(me);
        clock_gettime(CLOCK_MONOTONIC, &now);
        ended[me][i] = now.tv_sec * 1000000000 + now.tv_nsec;
    }
}

/* How long a round took, until all had left it. */
static int64_t time_of(int from, int to)
{
    int64_t first = 0, last = 0;
    for (int i = 0; i < num; i++) {
        first = ended[i][from] > first ? ended[i][from] : first;
        last = ended[i][to] > last ? ended[i][to] : last;
    }
    return last - first;
}

/* The same once more: how many rounds it is until all that follow are within 1.5 times the steady time. */
static void recover(long me)
{
    take_rounds(me, 0, STEADY + 1);
    come_late(me, late_ns);
    take_rounds(me, STEADY + 1, STEADY + 2 + AFTER);
    meet(num);
    int until = 0;
    for (int i = 1; i <= AFTER; i++)
        until = time_of(STEADY + i, STEADY + i + 1) * 2 * STEADY > time_of(0, STEADY) * 3 ? i : until;
    if (me == 0)
        printf("rounds %d\n", until);
}

static void late_rounds(long me)
{
    come_late(me, 20000);
    for (int i = 0; i < OFTEN; i++)
        work->round(me);
}

/* Two wake each other in turn, and all pairs at the same time. Each has slept, since the other one comes late. */
static void wake_partner(long me)
{
    for (long turn = 0; turn < 2 && num > 1; turn++) {
        if (me % 2 == turn) {
            nanosleep(&(struct timespec){0, 1000000}, NULL);
            ABT_eventual_set(pairs[me ^ 1], NULL, 0);
        } else {
            ABT_eventual_wait(pairs[me], NULL);
            ABT_eventual_reset(pairs[me]);
        }
    }
}

/* --- One that makes work for all --- */

static void give(long grain)
{
    static ABT_thread threads[GRAINS];
    for (int i = 0; i < GRAINS; i++)
        ABT_thread_create(pools[0], toil, (void *)grain, ABT_THREAD_ATTR_NULL, &threads[i]);
    for (int i = 0; i < GRAINS; i++)
        ABT_thread_free(&threads[i]);
}

static void give_empty(long me)
{
    give(0);
}

static void give_grains(long me)
{
    give(6200); /* 2 us, simulated */
}

static void deal(long me)
{
    make(UNITS, nop, starts, num);
}

struct fib {
    long n, result;
};

static void fib_ult(void *arg)
{
    struct fib *fib = arg;
    if (fib->n < 2) {
        fib->result = fib->n;
        return;
    }
    int rank;
    struct fib a = {fib->n - 1, 0}, b = {fib->n - 2, 0};
    ABT_thread thread;
    ABT_xstream_self_rank(&rank);
    ABT_thread_create(pools[rank], fib_ult, &a, ABT_THREAD_ATTR_NULL, &thread);
    fib_ult(&b);
    ABT_thread_free(&thread);
    fib->result = a.result + b.result;
}

static void fib(long me)
{
    struct fib fib = {FIB, 0};
    fib_ult(&fib);
}

static const struct work works[] = {
    {"create", PRIVATE, 1, UNITS, create},
    {"create-first", PRIVATE, 1, UNITS, create, .is_cold = 1},
    {"stacks-first", PRIVATE, 1, UNITS, stacks, .is_cold = 1},
    {"create-own", OWN, 1, UNITS, create},
    {"create-shared", SHARED, 1, UNITS, create},
    {"tasklets", PRIVATE, 1, UNITS, tasklets},
    {"yield", PRIVATE, 1, UNITS, yield},
    {"keys", PRIVATE, 1, UNITS, keys},
    {"own-mutex", PRIVATE, 1, UNITS, own_mutex},
    {"mutex", PRIVATE, 1, 1, one_mutex},
    {"barrier", PRIVATE, 1, 1, ult_barrier},
    {"xbarrier", PRIVATE, 1, 1, xstream_barrier},
    {"barrier-late", PRIVATE, 1, 1, ult_barrier, disturb},
    {"xbarrier-late", PRIVATE, 1, 1, xstream_barrier, disturb},
    {"barrier-often", PRIVATE, 1, OFTEN, late_rounds, .round = ult_barrier},
    {"xbarrier-often", PRIVATE, 1, OFTEN, late_rounds, .round = xstream_barrier},
    {"native-barrier", NATIVE, 1, 1, ult_barrier},
    {"native-late", NATIVE, 1, 1, ult_barrier, disturb},
    {"native-often", NATIVE, 1, OFTEN, late_rounds, .round = ult_barrier},
    {"word-barrier", PRIVATE, 1, 1, word_barrier},
    {"word-late", PRIVATE, 1, 1, word_barrier, disturb},
    {"word-often", PRIVATE, 1, OFTEN, late_rounds, .round = word_barrier},
    {"wake", PRIVATE, 1, 1, wake_partner},
    {"timers", PRIVATE, 1, UNITS, timers},
    {"give", STEALING, 0, GRAINS, give_empty},
    {"deal", PRIVATE, 0, UNITS, deal},
    {"give-2us", STEALING, 0, GRAINS, give_grains},
    {"fib", STEALING, 0, FIB_FORKS, fib},
};
/* They spin, unless two of them may be on one stream. */
static void meet_team(int team)
{
    if (work->kind == SHARED)
        ABT_barrier_wait(barrier);
    else
        meet(team);
}

static void run(void *arg)
{
    long me = (long)arg;
    int team = work->is_team ? num : 1;
    for (long i = 0; !work->is_cold && i < (size + 3) / 4; i++)
        work->call(me);
    meet_team(team);
    if (work->before)
        work->before(me);
    if (me == 0)
        begin();
    if (!work->before)
        meet_team(team);
    for (long i = 0; i < size; i++)
        work->call(me);
    if (!work->before)
        meet_team(team);
    if (me == 0)
        end(work->name, num, (double)size * work->operations * team);
    meet_team(team);
    if (work->before)
        recover(me);
}

/* A ULT in the pool that is measured, made by its own stream, which alone may do that if the pool is private. */
static void start(void *arg)
{
    ABT_thread thread;
    ABT_thread_create(pools[(long)arg], run, arg, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
}

static void *run_native(void *arg)
{
    run(arg);
    return NULL;
}

static void run_natives(void)
{
    pthread_t threads[MAX_STREAMS];
    for (long i = 0; i < num; i++)
        pthread_create(&threads[i], NULL, run_native, (void *)i);
    for (int i = 0; i < num; i++)
        pthread_join(threads[i], NULL);
}

static void make_pools(void)
{
    for (int i = 0; i < num; i++) {
        ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &starts[i]);
        if (work->kind == SHARED && i > 0)
            pools[i] = pools[0];
        else
            ABT_pool_create_basic(work->kind == STEALING ? ABT_POOL_RANDWS : ABT_POOL_FIFO,
                                  work->kind == PRIVATE ? ABT_POOL_ACCESS_PRIV : ABT_POOL_ACCESS_MPMC,
                                  work->kind == SHARED ? ABT_FALSE : ABT_TRUE, &pools[i]);
    }
}

static void make_streams(void)
{
    for (int i = 0; i < num; i++) {
        ABT_pool order[MAX_STREAMS + 1];
        ABT_sched sched;
        int length = work->kind == STEALING ? num : 1;
        for (int k = 0; k < length; k++)
            order[k] = pools[(i + k) % num];
        if (work->kind != STEALING || i == 0)
            order[length++] = starts[i];
        ABT_sched_create_basic(work->kind == STEALING ? ABT_SCHED_RANDWS : ABT_SCHED_BASIC, length, order,
                               ABT_SCHED_CONFIG_NULL, &sched);
        if (i == 0)
            ABT_xstream_set_main_sched(streams[0], sched);
        else
            ABT_xstream_create(sched, &streams[i]);
    }
}

static void run_units(void)
{
    ABT_thread threads[MAX_STREAMS];
    int team = work->is_team ? num : 1;
    for (long i = 0; i < team; i++)
        ABT_thread_create(team > 1 || work->is_team ? starts[i] : pools[i], work->is_team ? start : run, (void *)i,
                          ABT_THREAD_ATTR_NULL, &threads[i]);
    for (int i = 0; i < team; i++)
        ABT_thread_free(&threads[i]);
}

static void run_on_streams(void)
{
    make_pools();
    make_streams();
    ABT_self_set_associated_pool(starts[0]); /* from which no other stream takes */
    run_units();
    for (int i = 1; i < num; i++)
        ABT_xstream_free(&streams[i]);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc >= 4 && i < sizeof(works) / sizeof(works[0]); i++)
        work = strcmp(works[i].name, argv[1]) == 0 ? &works[i] : work;
    num = argc >= 4 ? atoi(argv[2]) : 0;
    if (!work || num < 1 || num > MAX_STREAMS)
        return 2;
    size = atol(argv[3]);
    late_ns = argc > 4 ? atol(argv[4]) : late_ns;
    ABT_init(0, NULL);
    ABT_barrier_create((uint32_t)num, &barrier);
    ABT_xstream_barrier_create((uint32_t)num, &stream_barrier);
    ABT_key_create(NULL, &key);
    for (int i = 0; i < num; i++)
        ABT_mutex_create(&mutexes[i]), ABT_eventual_create(0, &pairs[i]);
    ABT_xstream_self(&streams[0]);
    if (work->kind == NATIVE)
        run_natives();
    else
        run_on_streams();
    for (int i = 0; i < num; i++)
        ABT_mutex_free(&mutexes[i]), ABT_eventual_free(&pairs[i]);
    ABT_key_free(&key);
    ABT_xstream_barrier_free(&stream_barrier);
    ABT_barrier_free(&barrier);
    return ABT_finalize() == ABT_SUCCESS ? 0 : 1;
}

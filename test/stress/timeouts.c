/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits whose deadlines race with their wakes, on objects in the waiter's frame, which is overwritten when the wait is
 * over; ULTs that are cancelled in the midst of it; up to 16 streams that come and go meanwhile, so that the timers
 * change hands; and units that keep their stream for long, so that others look at its timers. Nobody waits for ever
 * (the watchdog says), and nobody is told of a wake that nobody gave.
 */
#include "desk.h"
#include "stress.h"

enum { MAX_ES = 16, ACTORS = 64, NATIVES = 4, SERVANTS = 6, VICTIMS = 16, MAX_JOBS = 24 };

/* --- What is to be set or signalled soon --- */

struct job {
    struct note note;
    ABT_eventual eventual; /* to be set; or */
    struct shelf *shelf;   /* to be filled */
};

/* A mutex and a cond in the waiter's frame. */
struct shelf {
    ABT_mutex_memory mutex;
    ABT_cond_memory cond;
    bool full;
};

static atomic_bool closed, over;

static void do_job(struct job *job)
{
    if (job->shelf) {
        struct shelf *shelf = job->shelf;
        ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&shelf->mutex);
        must(ABT_mutex_lock(mutex));
        shelf->full = true;
        must(ABT_cond_signal(ABT_COND_MEMORY_GET_HANDLE(&shelf->cond)));
        must(ABT_mutex_unlock(mutex));
    } else {
        must(ABT_eventual_set(job->eventual, NULL, 0));
    }
}

/* Servants: two thirds ULTs of the streams that come and go, the others native threads. */
static void serve(void *arg)
{
    struct rng rng = rng_fresh();

    (void)arg;
    while (!atomic_load(&closed)) {
        struct job *job = desk_take();
        if (!job) {
            must(ABTX_self_sleep(below(&rng, 200) * 1000));
            continue;
        }
        if (one_in(&rng, 3))
            must(ABTX_self_sleep(below(&rng, 300) * 1000));
        jitter(&rng);
        do_job(job);
    }
}

static void *serve_native(void *arg)
{
    serve(arg);
    return NULL;
}

/*
 * In pools that are never empty a stream that is joined does not end, and who waits behind the others does not come to
 * its turn. A slow machine has such pools: when the main program has waited for long, all others make room for it.
 */
static _Atomic double awaited_since; /* 0: the main program does not wait for a stream or a ULT */

static void make_room(void)
{
    double since = atomic_load(&awaited_since);

    if (since > 0 && now() - since > 0.05)
        must(ABTX_self_sleep(50000000));
}

/* --- Actors --- */

struct actor {
    ABT_thread ult;
    pthread_t native;
    long waits, woken;
};

static struct timespec in_us(long us)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += us * 1000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    return ts;
}

/* Deadlines around the time when the servants come, a few of them over before. */
static struct timespec some_deadline(struct rng *rng)
{
    return in_us((long)below(rng, 800) - 50);
}

static bool is_ready(ABT_eventual eventual)
{
    ABT_bool ready = ABT_FALSE;

    must(ABT_eventual_test(eventual, NULL, &ready));
    return ready;
}

static void __attribute__((noinline)) wait_for_eventual(struct actor *a, struct rng *rng)
{
    ABT_eventual_memory memory = ABT_EVENTUAL_INITIALIZER;
    struct job job = {.eventual = ABT_EVENTUAL_MEMORY_GET_HANDLE(&memory)};
    struct timespec ts = some_deadline(rng);

    desk_place(&job.note);
    jitter(rng);
    int code = ABT_eventual_timedwait(job.eventual, NULL, &ts);
    if (code == ABT_SUCCESS)
        a->woken++;
    else if (code != ABT_ERR_COND_TIMEDOUT)
        fail("eventual: code %d", code);
    else if (!desk_withdraw(&job.note))
        must(ABT_eventual_wait(job.eventual, NULL));
    memset(&memory, 0xa5, sizeof(memory));
    memset(&job, 0xa5, sizeof(job));
}

static void __attribute__((noinline)) wait_for_any(struct actor *a, struct rng *rng)
{
    ABT_eventual_memory memory[MAX_JOBS];
    ABT_eventual eventuals[MAX_JOBS];
    struct job jobs[MAX_JOBS];
    struct timespec ts = some_deadline(rng);
    int num = 1 + (int)below(rng, one_in(rng, 4) ? MAX_JOBS : 4), index = -1;

    memset(memory, 0, sizeof(memory));
    for (int i = 0; i < num; i++) {
        eventuals[i] = ABT_EVENTUAL_MEMORY_GET_HANDLE(&memory[i]);
        jobs[i] = (struct job){.eventual = eventuals[i]};
        desk_place(&jobs[i].note);
    }
    jitter(rng);
    int code = one_in(rng, 3) ? ABTX_eventual_wait_any_until(num, eventuals, &index, ABTX_FOREVER)
                              : ABTX_eventual_wait_any(num, eventuals, &index, &ts);
    if (code == ABT_SUCCESS && (index < 0 || index >= num || !is_ready(eventuals[index])))
        fail("any: woken by one that is not ready");
    else if (code != ABT_SUCCESS && code != ABT_ERR_COND_TIMEDOUT)
        fail("any: code %d", code);
    a->woken += code == ABT_SUCCESS;
    for (int i = 0; i < num; i++) {
        if (!desk_withdraw(&jobs[i].note))
            must(ABT_eventual_wait(eventuals[i], NULL));
    }
    memset(memory, 0xa5, sizeof(memory));
    memset(jobs, 0xa5, sizeof(jobs));
}

static void __attribute__((noinline)) wait_at_shelf(struct actor *a, struct rng *rng)
{
    struct shelf shelf = {ABT_MUTEX_INITIALIZER, ABT_COND_INITIALIZER, false};
    struct job job = {.shelf = &shelf};
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&shelf.mutex);
    ABT_cond cond = ABT_COND_MEMORY_GET_HANDLE(&shelf.cond);
    struct timespec ts = some_deadline(rng);
    int code = ABT_SUCCESS;

    desk_place(&job.note);
    jitter(rng);
    must(ABT_mutex_lock(mutex));
    while (!shelf.full && code == ABT_SUCCESS) {
        code = ABT_cond_timedwait(cond, mutex, &ts);
        if (code == ABT_SUCCESS && !shelf.full)
            fail("cond: woken without a signal");
    }
    if (code != ABT_SUCCESS && code != ABT_ERR_COND_TIMEDOUT)
        fail("cond: code %d", code);
    a->woken += code == ABT_SUCCESS;
    if (!shelf.full && !desk_withdraw(&job.note)) {
        while (!shelf.full)
            must(ABT_cond_wait(cond, mutex));
    }
    must(ABT_mutex_unlock(mutex));
    memset(&shelf, 0xa5, sizeof(shelf));
    memset(&job, 0xa5, sizeof(job));
}

/* For as long as it takes the others to see to the timers here. */
static void keep_the_stream(struct rng *rng)
{
    for (double end = now() + below(rng, 20000) * 1e-6; now() < end;)
        ;
}

static void act(void *arg)
{
    struct actor *a = arg;
    struct rng rng = rng_fresh();

    while (!atomic_load(&over)) {
        switch (below(&rng, 5)) {
        case 0: must(ABTX_self_sleep(below(&rng, 500) * 1000)); break;
        case 1: wait_for_any(a, &rng); break;
        case 2: wait_at_shelf(a, &rng); break;
        default: wait_for_eventual(a, &rng);
        }
        a->waits++;
        make_room();
        if (one_in(&rng, 8))
            ABT_thread_yield();
        if (one_in(&rng, 300))
            keep_the_stream(&rng);
    }
}

static void *act_native(void *arg)
{
    act(arg);
    return NULL;
}

/* --- Victims: they wait for what does not come, and are cancelled --- */

static void wait_in_vain(void *arg)
{
    ABT_eventual_memory memory = ABT_EVENTUAL_INITIALIZER;
    ABT_eventual eventual = ABT_EVENTUAL_MEMORY_GET_HANDLE(&memory);
    struct rng rng = rng_fresh();
    int index;

    (void)arg;
    for (;;) {
        struct timespec ts = in_us(one_in(&rng, 2) ? 20000000 : below(&rng, 500));
        switch (below(&rng, 3)) {
        case 0: ABT_eventual_timedwait(eventual, NULL, &ts); break;
        case 1: ABTX_eventual_wait_any(1, &eventual, &index, &ts); break;
        default: must(ABTX_self_sleep(one_in(&rng, 2) ? INT64_C(20000000000) : 100000));
        }
        make_room();
    }
}

/* --- Streams --- */

static ABT_pool pools[2];

static void end_somehow(struct rng *rng, ABT_xstream *es)
{
    if (one_in(rng, 3))
        must(ABT_xstream_cancel(*es));
    else if (one_in(rng, 3)) {
        must(ABT_xstream_join(*es));
        must(ABT_xstream_revive(*es));
        jitter(rng);
    }
    must(ABT_xstream_free(es));
}

/* Either pool comes first for half of the streams: who is behind in all gets nothing as long as there is work. */
static ABT_xstream new_es(struct rng *rng, int number)
{
    int first = number % 2;
    ABT_pool both[] = {pools[first], pools[!first]};
    ABT_xstream es;

    must(ABT_xstream_create_basic(all_scheds[below(rng, 4)], 2, both, ABT_SCHED_CONFIG_NULL, &es));
    return es;
}

static void run(struct rng *rng, int num_es, bool come_and_go, double seconds)
{
    static struct actor actors[ACTORS + NATIVES];
    ABT_thread servants[SERVANTS], victims[VICTIMS];
    pthread_t native_servants[SERVANTS / 2];
    ABT_xstream es[MAX_ES];
    long waits = 0, woken = 0, changes = 0, cancelled = 0;
    int served = num_es > 1 ? 2 : 1; /* pools that come first for some stream */

    must(ABT_init(0, NULL));
    memset(actors, 0, sizeof(actors));
    atomic_store(&closed, false);
    atomic_store(&over, false);
    for (int i = 0; i < 2; i++)
        must(ABT_pool_create_basic(all_kinds[below(rng, 3)], ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pools[i]));
    for (int i = 0; i < num_es; i++)
        es[i] = new_es(rng, i);
    for (int i = 0; i < SERVANTS; i++)
        must(ABT_thread_create(pools[i % served], serve, NULL, ABT_THREAD_ATTR_NULL, &servants[i]));
    for (int i = 0; i < SERVANTS / 2; i++)
        must(pthread_create(&native_servants[i], NULL, serve_native, NULL));
    for (int i = 0; i < ACTORS; i++)
        must(ABT_thread_create(pools[i % served], act, &actors[i], ABT_THREAD_ATTR_NULL, &actors[i].ult));
    for (int i = ACTORS; i < ACTORS + NATIVES; i++)
        must(pthread_create(&actors[i].native, NULL, act_native, &actors[i]));
    for (int i = 0; i < VICTIMS; i++)
        must(ABT_thread_create(pools[i % served], wait_in_vain, NULL, ABT_THREAD_ATTR_NULL, &victims[i]));

    for (double end = now() + seconds; now() < end;) {
        atomic_store(&awaited_since, now());
        int v = (int)below(rng, VICTIMS), i = 1 + (int)below(rng, (unsigned)(num_es > 1 ? num_es - 1 : 1));
        must(ABT_thread_cancel(victims[v]));
        must(ABT_thread_free(&victims[v]));
        must(ABT_thread_create(pools[v % served], wait_in_vain, NULL, ABT_THREAD_ATTR_NULL, &victims[v]));
        cancelled++;
        if (come_and_go && num_es > 1) {
            end_somehow(rng, &es[i]);
            jitter(rng);
            es[i] = new_es(rng, i);
            changes++;
        }
        atomic_store(&awaited_since, 0);
        must(ABTX_self_sleep(below(rng, 2000) * 1000));
    }

    atomic_store(&over, true);
    for (int i = 0; i < VICTIMS; i++) {
        must(ABT_thread_cancel(victims[i]));
        must(ABT_thread_free(&victims[i]));
    }
    for (int i = 0; i < ACTORS + NATIVES; i++) {
        if (i < ACTORS)
            must(ABT_thread_free(&actors[i].ult));
        else
            must(pthread_join(actors[i].native, NULL));
        waits += actors[i].waits;
        woken += actors[i].woken;
    }
    atomic_store(&closed, true);
    for (int i = 0; i < SERVANTS; i++)
        must(ABT_thread_free(&servants[i]));
    for (int i = 0; i < SERVANTS / 2; i++)
        must(pthread_join(native_servants[i], NULL));
    for (int i = 0; i < num_es; i++)
        must(ABT_xstream_free(&es[i]));
    for (int i = 0; i < 2; i++) {
        size_t total = 1;
        must(ABT_pool_get_total_size(pools[i], &total));
        is_int(total, 0, "nobody is left in pool %d", i);
        must(ABT_pool_free(&pools[i]));
    }
    must(ABT_finalize());
    ok(waits > 0, "%d streams, %ld of them new ones: %ld waits, %ld woken in time, %ld ULTs cancelled", num_es, changes,
       waits, woken, cancelled);
}

int main(void)
{
    stress_begin();
    struct rng rng = rng_make(9);
    double part = tap_seconds(3.0) / 6;

    run(&rng, 1, false, part);
    run(&rng, 2, true, part);
    run(&rng, 4, true, part);
    run(&rng, MAX_ES, false, part);
    run(&rng, MAX_ES, true, 2 * part);
    return done_testing();
}

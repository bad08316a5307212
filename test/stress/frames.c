/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A synchronisation object may be destroyed as soon as the wait on it has returned. Waiters on 16 streams and native
 * threads make objects in their frames (and such as have no static form by a call), have servants end the wait, and at
 * once overwrite the frame or free the object: who ends a wait must not touch the object any more. The sanitizers see a
 * late access; without them a late store shows in the frame, which is looked at again a little later.
 */
#include "desk.h"
#include "stress.h"

enum { STREAMS = 16, WAITERS = 24, SERVANTS = 8, NATIVES = 3 /* of either */, FILL = 0xa5 };

enum kind { EVENTUAL, EVENTUAL_MADE, COND, MUTEX, FUTURE, BARRIER, RDLOCK, WRLOCK, NUM_KINDS };

static const char *const kind_names[] = {"eventual", "eventual by a call", "cond",      "mutex", "future",
                                         "barrier",  "read lock",          "write lock"};

/* What ends a wait. The waiter's frame has it, and it is no more when the wait is over. */
struct job {
    struct note note;
    enum kind kind;
    ABT_mutex mutex;
    ABT_cond cond;
    ABT_eventual eventual;
    ABT_future future;
    ABT_barrier barrier;
    ABT_rwlock rwlock;
    int filled;       /* mutex */
    atomic_bool held; /* the servant holds the lock that the waiter asks for */
};

static double end; /* of a run */
static atomic_bool closed;
static atomic_long waits[NUM_KINDS], late;

static void let_others_run(void)
{
    if (is_by_ult())
        ABT_self_yield();
    else
        nap_us(20);
}

/* --- Servants: nothing of the job is looked at after the call that ends the wait --- */

static void do_job(struct job *job, struct rng *rng)
{
    ABT_mutex mutex = job->mutex;
    ABT_rwlock rwlock = job->rwlock;
    switch (job->kind) {
    case EVENTUAL:
    case EVENTUAL_MADE: must(ABT_eventual_set(job->eventual, NULL, 0)); break;
    case COND:
        must(ABT_mutex_lock(mutex));
        job->filled = 1;
        if (one_in(rng, 2))
            must(ABT_cond_signal(job->cond));
        else
            must(ABT_cond_broadcast(job->cond));
        must(ABT_mutex_unlock(mutex));
        break;
    case MUTEX:
        must(ABT_mutex_lock(mutex));
        atomic_store(&job->held, true);
        jitter(rng);
        must(one_in(rng, 2) ? ABT_mutex_unlock(mutex) : ABT_mutex_unlock_de(mutex));
        break;
    case FUTURE: must(ABT_future_set(job->future, NULL)); break;
    case BARRIER: must(ABT_barrier_wait(job->barrier)); break;
    case RDLOCK:
    case WRLOCK:
        must(ABT_rwlock_wrlock(rwlock));
        atomic_store(&job->held, true);
        jitter(rng);
        must(ABT_rwlock_unlock(rwlock));
        break;
    default: break;
    }
}

static void serve(void *arg)
{
    struct rng rng = rng_fresh();
    while (!atomic_load(&closed)) {
        struct job *job = desk_take();
        if (job)
            do_job(job, &rng);
        else /* the primary ULT is in a pool behind theirs: in the end they make room for it */
            must(ABTX_self_sleep(now() > end ? 20000000 : below(&rng, 200) * 1000));
    }
}

static void *serve_native(void *arg)
{
    serve(arg);
    return NULL;
}

/* --- Waiters --- */

/* The frame that was waited in is gone; nobody writes there any more. */
static void watch(unsigned char *frame, size_t size, struct rng *rng)
{
    memset(frame, FILL, size);
    for (unsigned i = below(rng, 3); i > 0; i--)
        let_others_run();
    for (size_t i = 0; i < size; i++) {
        if (((volatile unsigned char *)frame)[i] != FILL) {
            atomic_fetch_add(&late, 1);
            return;
        }
    }
}

static void __attribute__((noinline)) wait_once(enum kind kind, struct rng *rng)
{
    struct frame {
        ABT_eventual_memory eventual;
        ABT_mutex_memory mutex;
        ABT_cond_memory cond;
        struct job job;
    } frame;
    struct job *job = &frame.job;

    memset(&frame, 0, sizeof(frame));
    job->kind = kind;
    job->mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&frame.mutex);
    job->cond = ABT_COND_MEMORY_GET_HANDLE(&frame.cond);
    job->eventual = ABT_EVENTUAL_MEMORY_GET_HANDLE(&frame.eventual);
    switch (kind) {
    case EVENTUAL:
        desk_place(&job->note);
        jitter(rng);
        must(ABT_eventual_wait(job->eventual, NULL));
        break;
    case EVENTUAL_MADE:
        must(ABT_eventual_create(0, &job->eventual));
        desk_place(&job->note);
        jitter(rng);
        must(ABT_eventual_wait(job->eventual, NULL));
        must(ABT_eventual_free(&job->eventual));
        break;
    case COND:
        desk_place(&job->note);
        jitter(rng);
        must(ABT_mutex_lock(job->mutex));
        while (!job->filled)
            must(ABT_cond_wait(job->cond, job->mutex));
        must(ABT_mutex_unlock(job->mutex));
        break;
    case MUTEX:
        desk_place(&job->note);
        while (!atomic_load(&job->held))
            let_others_run();
        must(ABT_mutex_lock(job->mutex));
        must(ABT_mutex_unlock(job->mutex));
        break;
    case FUTURE:
        must(ABT_future_create(1, NULL, &job->future));
        desk_place(&job->note);
        jitter(rng);
        must(ABT_future_wait(job->future));
        must(ABT_future_free(&job->future));
        break;
    case BARRIER:
        must(ABT_barrier_create(2, &job->barrier));
        desk_place(&job->note);
        jitter(rng);
        must(ABT_barrier_wait(job->barrier));
        must(ABT_barrier_free(&job->barrier));
        break;
    case RDLOCK:
    case WRLOCK:
        must(ABT_rwlock_create(&job->rwlock));
        desk_place(&job->note);
        while (!atomic_load(&job->held))
            let_others_run();
        must(kind == RDLOCK ? ABT_rwlock_rdlock(job->rwlock) : ABT_rwlock_wrlock(job->rwlock));
        must(ABT_rwlock_unlock(job->rwlock));
        must(ABT_rwlock_free(&job->rwlock));
        break;
    default: break;
    }
    watch((unsigned char *)&frame, sizeof(frame), rng);
    atomic_fetch_add(&waits[kind], 1);
}

static void wait_for_all(void *arg)
{
    struct rng rng = rng_fresh();
    while (now() < end)
        wait_once((enum kind)below(&rng, NUM_KINDS), &rng);
}

static void *wait_native(void *arg)
{
    wait_for_all(arg);
    return NULL;
}

/* --- Runs --- */

static void run(struct rng *rng, enum layout layout, double seconds)
{
    ABT_sched_predef predef = all_scheds[below(rng, 4)];
    ABT_pool_kind kind = all_kinds[below(rng, 3)];
    ABT_thread waiters[WAITERS], servants[SERVANTS];
    pthread_t native_waiters[NATIVES], native_servants[NATIVES];
    struct team team;
    for (int i = 0; i < NUM_KINDS; i++)
        atomic_store(&waits[i], 0);
    atomic_store(&closed, false);
    team_begin(&team, STREAMS, layout, predef, kind);
    end = now() + seconds;
    for (int i = 0; i < SERVANTS; i++)
        must(ABT_thread_create(team_pool(&team, rng), serve, NULL, ABT_THREAD_ATTR_NULL, &servants[i]));
    for (int i = 0; i < WAITERS; i++)
        must(ABT_thread_create(team_pool(&team, rng), wait_for_all, NULL, ABT_THREAD_ATTR_NULL, &waiters[i]));
    for (int i = 0; i < NATIVES; i++) {
        must(pthread_create(&native_waiters[i], NULL, wait_native, NULL));
        must(pthread_create(&native_servants[i], NULL, serve_native, NULL));
    }
    for (int i = 0; i < WAITERS; i++)
        must(ABT_thread_free(&waiters[i]));
    for (int i = 0; i < NATIVES; i++)
        must(pthread_join(native_waiters[i], NULL));
    atomic_store(&closed, true);
    for (int i = 0; i < SERVANTS; i++)
        must(ABT_thread_free(&servants[i]));
    for (int i = 0; i < NATIVES; i++)
        must(pthread_join(native_servants[i], NULL));
    team_end(&team);
    diag("%d streams, %s, %s over %s", STREAMS, layout_names[layout], sched_name(predef), kind_name(kind));
    for (int i = 0; i < NUM_KINDS; i++)
        diag("%10ld of %s", atomic_load(&waits[i]), kind_names[i]);
    is_int(atomic_load(&late), 0, "%s: nobody writes to an object that was waited for", layout_names[layout]);
}

int main(void)
{
    stress_begin();
    struct rng rng = rng_make(11);
    double seconds = tap_seconds(2.4) / 3;

    run(&rng, SHARED, seconds);
    run(&rng, OWN, seconds);
    run(&rng, STEAL, seconds);
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs are in blocking regions again and again, many of a stream at a time, on more streams than processors, over all
 * layouts of pools, kinds and schedulers, while they fight for a mutex, sleep and make tasklets, and streams are
 * cancelled and revived. Nothing is lost, and a region begins and ends on one native thread and one stream.
 */
#include "stress.h"

enum { SIZE = 4, NUM_ULTS = 24 };

static _Thread_local uint64_t of_thread;

struct shared {
    struct team team;
    ABT_mutex mutex;
    double end;
    atomic_int wrong;
    atomic_long made, run, regions;
};

struct worker {
    struct shared *shared;
    uint64_t number;
};

static void count_task(void *arg)
{
    struct shared *shared = arg;
    atomic_fetch_add(&shared->run, 1);
}

static void be_in_region(struct shared *shared, struct rng *rng)
{
    int before = own_rank();
    must(ABTX_blocking_begin());
    pthread_t thread = pthread_self();
    uint64_t mark = of_thread = rng_next(rng);
    if (one_in(rng, 2))
        nap_us((long)below(rng, 300));
    if (shared->team.layout != PRIV && one_in(rng, 8)) { /* as an external thread */
        atomic_fetch_add(&shared->made, 1);
        must(ABT_task_create(shared->team.pools[below(rng, SIZE)], count_task, shared, NULL));
    }
    must(ABTX_blocking_end());
    if (!pthread_equal(thread, pthread_self()) || of_thread != mark || own_rank() != before)
        atomic_fetch_add(&shared->wrong, 1);
    atomic_fetch_add(&shared->regions, 1);
}

static void use_mutex(struct shared *shared, struct rng *rng)
{
    must(ABT_mutex_lock(shared->mutex));
    if (one_in(rng, 2))
        must(ABT_self_yield());
    must(ABT_mutex_unlock(shared->mutex));
}

static void work(void *arg)
{
    struct worker *worker = arg;
    struct rng rng = rng_make(worker->number);
    while (now() < worker->shared->end) {
        be_in_region(worker->shared, &rng);
        switch (below(&rng, 4)) {
        case 0: must(ABT_self_yield()); break;
        case 1: use_mutex(worker->shared, &rng); break;
        case 2: must(ABTX_self_sleep(below(&rng, 300) * 1000)); break;
        default: break;
        }
    }
}

/* The primary ULT is in regions, too, and streams end under their units and go on. */
static void disturb(struct shared *shared, struct rng *rng)
{
    while (now() < shared->end) {
        be_in_region(shared, rng);
        if (shared->team.layout == OWN && one_in(rng, 3)) {
            ABT_xstream one = shared->team.xstreams[1 + below(rng, SIZE - 1)];
            must(ABT_xstream_cancel(one));
            must(ABT_xstream_join(one));
            must(ABT_xstream_revive(one));
        }
        must(ABT_self_yield());
    }
}

/* Makes some of the workers in its own pool, and joins them. */
struct maker {
    struct worker *workers;
    ABT_thread ults[NUM_ULTS];
    ABT_pool pool;
    int first, step;
};

static void make_and_join(void *arg)
{
    struct maker *maker = arg;
    for (int i = maker->first; i < NUM_ULTS; i += maker->step)
        must(ABT_thread_create(maker->pool, work, &maker->workers[i], ABT_THREAD_ATTR_NULL, &maker->ults[i]));
    for (int i = maker->first; i < NUM_ULTS; i += maker->step)
        must(ABT_thread_free(&maker->ults[i]));
}

static void run_team(struct rng *rng, enum layout layout, double seconds)
{
    struct shared shared = {.end = 0};
    struct worker workers[NUM_ULTS];
    struct maker makers[SIZE];
    ABT_thread threads[SIZE];
    ABT_sched_predef predef = all_scheds[below(rng, 4)];
    int size = layout == PRIV ? 1 : SIZE; /* only a stream itself makes units in its private pool */

    team_begin(&shared.team, size, layout, predef, all_kinds[below(rng, layout == PRIV ? 2 : 3)]);
    must(ABT_mutex_create(&shared.mutex));
    shared.end = now() + seconds;
    for (int i = 0; i < NUM_ULTS; i++)
        workers[i] = (struct worker){&shared, rng_next(rng)};
    for (int i = 0; i < size; i++) {
        makers[i] = (struct maker){.workers = workers, .pool = shared.team.pools[i], .first = i, .step = size};
        must(ABT_thread_create(shared.team.pools[i], make_and_join, &makers[i], ABT_THREAD_ATTR_NULL, &threads[i]));
    }
    disturb(&shared, rng);
    for (int i = 0; i < size; i++)
        must(ABT_thread_free(&threads[i]));
    while (atomic_load(&shared.run) < atomic_load(&shared.made))
        must(ABT_self_yield());
    must(ABT_mutex_free(&shared.mutex));
    team_end(&shared.team);
    is_int(atomic_load(&shared.wrong), 0, "%s, %s: %ld regions are as they should be", layout_names[layout],
           sched_name(predef), atomic_load(&shared.regions));
}

int main(void)
{
    stress_begin();
    struct rng rng = rng_make(31);
    double part = tap_seconds(2.0) / (2 * NUM_LAYOUTS);

    for (int i = 0; i < 2 * NUM_LAYOUTS; i++)
        run_team(&rng, (enum layout)(i % NUM_LAYOUTS), part);
    return done_testing();
}

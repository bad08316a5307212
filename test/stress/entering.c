/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Native threads enter streams, run ULTs there and leave, or end inside, while the main thread calls ABT_init and
 * ABT_finalize again and again. ULTs wait with deadlines, and for ULTs of other streams, which come and go.
 */
#include "stress.h"

enum { THREADS = SCALED(4, 4, 3) };

static atomic_bool stop;
static atomic_long entered, units;

static void work(void *arg)
{
    struct rng rng = rng_fresh();

    (void)arg;
    for (unsigned i = below(&rng, 4); i > 0; i--) {
        switch (below(&rng, 3)) {
        case 0: must(ABT_self_yield()); break;
        case 1: must(ABTX_self_sleep(below(&rng, 20000))); break;
        default: jitter(&rng); break;
        }
    }
    atomic_fetch_add(&units, 1);
}

/* Whoever has entered is a ULT. */
static void live(struct rng *rng)
{
    ABT_thread threads[8];
    ABT_xstream self;
    ABT_pool pool;
    unsigned num = below(rng, 9);

    must(ABT_xstream_self(&self));
    must(ABT_xstream_get_main_pools(self, 1, &pool));
    for (unsigned i = 0; i < num; i++)
        must(ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    if (one_in(rng, 3))
        must(ABT_self_yield());
    must(ABT_thread_free_many((int)num, threads));
    if (one_in(rng, 4)) /* it is left to the end */
        must(ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, NULL));
}

static void *come_and_go(void *unused)
{
    struct rng rng = rng_fresh();
    ABT_xstream xstream;

    (void)unused;
    for (unsigned i = below(&rng, 20);; i--) {
        must(ABTX_xstream_enter(ABT_SCHED_NULL, &xstream));
        atomic_fetch_add(&entered, 1);
        if (!one_in(&rng, 3))
            live(&rng);
        if (i == 0 && one_in(&rng, 2))
            return NULL; /* it leaves by itself */
        must(ABTX_xstream_leave(&xstream));
        if (i == 0)
            return NULL;
        jitter(&rng);
    }
}

static void *keep_threads_coming(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, come_and_go, NULL));
        must(pthread_join(thread, NULL));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    long rounds = 0;

    stress_begin();
    struct rng rng = rng_fresh();
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, keep_threads_coming, NULL));
    for (double end = now() + tap_seconds(2); now() < end; rounds++) {
        ABT_xstream before = ABT_XSTREAM_NULL;
        if (one_in(&rng, 3))
            must(ABTX_xstream_enter(ABT_SCHED_NULL, &before));
        must(ABT_init(0, NULL));
        live(&rng);
        if (one_in(&rng, 2))
            nap_us((long)below(&rng, 300));
        must(ABT_finalize());
        if (before != ABT_XSTREAM_NULL) {
            live(&rng);
            must(ABTX_xstream_leave(&before));
        }
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        must(pthread_join(threads[i], NULL));
    ok(rounds > 0 && atomic_load(&entered) > 0, "%ld times ABT_init, %ld streams entered, %ld units", rounds,
       atomic_load(&entered), atomic_load(&units));
    return done_testing();
}

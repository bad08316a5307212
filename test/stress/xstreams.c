/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Execution streams come, end, are revived and cancelled, and change their schedulers, while work is pushed to their
 * pools from elsewhere. Streams sleep between the pushes: no push may be lost.
 */
#include "stress.h"

static atomic_long run;

static void count(void *arg)
{
    (void)arg;
    atomic_fetch_add(&run, 1);
}

static void yield_and_count(void *arg)
{
    ABT_self_yield();
    count(arg);
}

static void wait_for_runs(long expected, const char *what)
{
    for (double end = now() + 60; atomic_load(&run) < expected;) {
        if (now() > end)
            bail_out("%s: %ld of %ld have run", what, atomic_load(&run), expected);
        ABT_self_yield();
        nap_us(10);
    }
}

/* --- Pushes to sleeping ESs, one at a time: each must wake somebody --- */

struct pusher {
    ABT_pool pools[3];
    int num_pools;
    long pushed;
    double end;
    uint64_t stream;
};

static void *push_now_and_then(void *arg)
{
    struct pusher *pusher = arg;
    struct rng rng = rng_make(pusher->stream);

    while (now() < pusher->end) {
        for (unsigned burst = below(&rng, 4); burst > 0; burst--) {
            ABT_pool pool = pusher->pools[below(&rng, (unsigned)pusher->num_pools)];
            if (one_in(&rng, 3))
                must(ABT_task_create(pool, count, NULL, NULL));
            else
                must(ABT_thread_create(pool, yield_and_count, NULL, ABT_THREAD_ATTR_NULL, NULL));
            pusher->pushed++;
        }
        nap_us((long)below(&rng, 200)); /* they may fall asleep, or be about to */
    }
    return NULL;
}

static void push_to_sleepers(struct rng *rng, double seconds)
{
    enum { NUM_ES = 3, NUM_PUSHERS = 3 };
    ABT_pool pools[NUM_ES], shared;
    ABT_xstream es[NUM_ES];
    pthread_t natives[NUM_PUSHERS];
    struct pusher pushers[NUM_PUSHERS];
    long pushed = 0;

    must(ABT_init(0, NULL));
    atomic_store(&run, 0);
    must(ABT_pool_create_basic(all_kinds[below(rng, 3)], ABT_POOL_ACCESS_MPMC, ABT_TRUE, &shared));
    for (int i = 0; i < NUM_ES; i++) {
        must(ABT_pool_create_basic(all_kinds[below(rng, 3)], ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]));
        ABT_pool both[] = {pools[i], shared};
        must(ABT_xstream_create_basic(all_scheds[below(rng, 4)], 2, both, ABT_SCHED_CONFIG_NULL, &es[i]));
    }
    for (int i = 0; i < NUM_PUSHERS; i++) {
        pushers[i] = (struct pusher){{pools[i], shared, pools[(i + 1) % NUM_ES]}, 3, 0, now() + seconds, rng_next(rng)};
        must(pthread_create(&natives[i], NULL, push_now_and_then, &pushers[i]));
    }
    for (int i = 0; i < NUM_PUSHERS; i++) {
        pthread_join(natives[i], NULL);
        pushed += pushers[i].pushed;
    }
    wait_for_runs(pushed, "pushes to sleeping ESs");
    for (int i = 0; i < NUM_ES; i++)
        must(ABT_xstream_free(&es[i]));
    is_int(atomic_load(&run), pushed, "pushes to sleeping ESs: none is lost");
    must(ABT_finalize());
}

/* --- ESs that come and go over pools that stay --- */

static void end_somehow(struct rng *rng, ABT_xstream *es)
{
    switch (below(rng, 4)) {
    case 0: must(ABT_xstream_join(*es)); break;
    case 1:
        must(ABT_xstream_cancel(*es));
        must(ABT_xstream_join(*es));
        break;
    case 2:
        must(ABT_xstream_join(*es));
        must(ABT_xstream_revive(*es));
        jitter(rng);
        if (one_in(rng, 2))
            must(ABT_xstream_cancel(*es));
        break;
    default: break;
    }
    must(ABT_xstream_free(es));
}

static void come_and_go(struct rng *rng, double seconds)
{
    enum { NUM_ES = 4, NUM_PUSHERS = 2 };
    ABT_pool pools[2];
    ABT_xstream es[NUM_ES] = {ABT_XSTREAM_NULL};
    pthread_t natives[NUM_PUSHERS];
    struct pusher pushers[NUM_PUSHERS];
    long pushed = 0, rounds = 0;
    double end = now() + seconds;

    must(ABT_init(0, NULL));
    atomic_store(&run, 0);
    for (int i = 0; i < 2; i++)
        must(ABT_pool_create_basic(all_kinds[below(rng, 3)], ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pools[i]));
    for (int i = 0; i < NUM_PUSHERS; i++) {
        pushers[i] = (struct pusher){{pools[0], pools[1]}, 2, 0, end, rng_next(rng)};
        must(pthread_create(&natives[i], NULL, push_now_and_then, &pushers[i]));
    }
    for (int i = 0; i < NUM_ES; i++)
        es[i] = ABT_XSTREAM_NULL;
    for (; now() < end; rounds++) {
        int i = (int)below(rng, NUM_ES);
        if (es[i] == ABT_XSTREAM_NULL)
            must(ABT_xstream_create_basic(all_scheds[below(rng, 4)], 2, pools, ABT_SCHED_CONFIG_NULL, &es[i]));
        else
            end_somehow(rng, &es[i]);
        jitter(rng);
    }
    for (int i = 0; i < NUM_PUSHERS; i++) {
        pthread_join(natives[i], NULL);
        pushed += pushers[i].pushed;
    }
    for (int i = 0; i < NUM_ES; i++) {
        if (es[i] != ABT_XSTREAM_NULL)
            end_somehow(rng, &es[i]);
    }
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &es[0]));
    must(ABT_xstream_free(&es[0])); /* runs what is left */
    is_int(atomic_load(&run), pushed, "ESs come and go, %ld times: no unit is lost", rounds);
    for (int i = 0; i < 2; i++)
        must(ABT_pool_free(&pools[i]));
    must(ABT_finalize());
}

/* --- Main schedulers are replaced under load, and the ES is joined meanwhile --- */

struct changer {
    ABT_pool pools[2];
    int times;
};

static void change_scheds(void *arg)
{
    struct changer *changer = arg;
    struct rng rng = rng_fresh();
    ABT_xstream self;

    for (int i = 0; i < changer->times; i++) {
        must(ABT_self_get_xstream(&self));
        ABT_pool pools[2] = {changer->pools[i % 2], changer->pools[(i + 1) % 2]};
        must(ABT_xstream_set_main_sched_basic(self, all_scheds[below(&rng, 4)], 2, pools));
        for (unsigned n = below(&rng, 5); n > 0; n--)
            must(ABT_thread_create(pools[n % 2], yield_and_count, NULL, ABT_THREAD_ATTR_NULL, NULL));
        must(ABT_self_yield());
    }
    count(NULL);
}

static void change_under_load(struct rng *rng, double seconds)
{
    long rounds = 0;
    bool complete = true;

    must(ABT_init(0, NULL));
    for (double end = now() + seconds; now() < end; rounds++) {
        struct changer changer = {.times = 1 + (int)below(rng, 10)};
        struct pusher pusher = {.num_pools = 2, .end = now() + 0.002, .stream = rng_next(rng)};
        ABT_xstream es;
        pthread_t native;
        long before = atomic_load(&run);
        for (int i = 0; i < 2; i++) {
            must(ABT_pool_create_basic(all_kinds[below(rng, 3)], ABT_POOL_ACCESS_MPMC, ABT_FALSE, &changer.pools[i]));
            pusher.pools[i] = changer.pools[i];
        }
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, changer.pools, ABT_SCHED_CONFIG_NULL, &es));
        must(ABT_thread_create(changer.pools[0], change_scheds, &changer, ABT_THREAD_ATTR_NULL, NULL));
        bool push = one_in(rng, 2);
        if (push)
            must(pthread_create(&native, NULL, push_now_and_then, &pusher));
        jitter(rng);
        if (push)
            pthread_join(native, NULL);
        must(ABT_xstream_free(&es));
        complete = complete && atomic_load(&run) >= before + 1 + pusher.pushed;
        for (int i = 0; i < 2; i++) {
            size_t left = 0;
            must(ABT_pool_get_total_size(changer.pools[i], &left));
            complete = complete && left == 0;
            must(ABT_pool_free(&changer.pools[i]));
        }
    }
    ok(complete, "main schedulers change under load, %ld rounds", rounds);
    must(ABT_finalize());
}

int main(void)
{
    stress_begin();
    struct rng rng = rng_make(5);
    double part = tap_seconds(2.4) / 6;

    for (int i = 0; i < 2; i++) {
        push_to_sleepers(&rng, part);
        come_and_go(&rng, part);
        change_under_load(&rng, part);
    }
    return done_testing();
}

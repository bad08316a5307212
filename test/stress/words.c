/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers made of words, by ULTs that are suspended, ULTs that block their streams, and native threads, with random
 * delays: a wake that is lost hangs the run. Some take things to do from each other while they wait.
 */
#include "stress.h"

enum { STREAMS = SCALED(4, 4, 3), ULTS = SCALED(12, 12, 6), NATIVES = 2, ALL = ULTS + NATIVES + STREAMS };

/* The last to come changes `round`, which is what the others wait for. */
struct meeting {
    atomic_int arrived, waiting_to_do;
    _Atomic(uint32_t) round;
    atomic_bool stop; /* is asked for */
    bool over;        /* is decided, by the last to come */
    long plain[ALL];  /* a member's own, read by all others after the round */
};

struct member {
    struct meeting *meeting;
    int index;
    ABT_bool block_native;
    struct rng rng;
    long rounds, done;
    pthread_t thread;
};

static ABT_bool take_one(void *arg)
{
    struct member *m = arg;
    int left = atomic_load(&m->meeting->waiting_to_do);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&m->meeting->waiting_to_do, &left, left - 1)) {
            m->done++;
            return ABT_TRUE;
        }
    }
    return ABT_FALSE;
}

static void meet(struct member *m)
{
    struct meeting *at = m->meeting;
    uint32_t round = atomic_load(&at->round);
    if (atomic_fetch_add(&at->arrived, 1) == ALL - 1) {
        atomic_store(&at->arrived, 0);
        at->over = atomic_load(&at->stop);
        atomic_store(&at->round, round + 1);
        must(ABTX_word_wake(&at->round, one_in(&m->rng, 2) ? UINT32_MAX : ALL));
    } else {
        uint32_t num = one_in(&m->rng, 3) ? 0 : ALL;
        must(ABTX_word_wait(&at->round, round, num, m->block_native, one_in(&m->rng, 2) ? take_one : NULL, m));
    }
    if (atomic_load(&at->round) == round)
        bail_out("a wait ends before the word has changed");
}

static void take_part(void *arg)
{
    struct member *m = arg;
    for (bool last = false; !last; m->rounds++) {
        if (one_in(&m->rng, 4))
            jitter(&m->rng);
        if (one_in(&m->rng, 8))
            atomic_fetch_add(&m->meeting->waiting_to_do, 1);
        m->meeting->plain[m->index] = m->rounds;
        meet(m);
        for (int i = 0; i < ALL; i++) {
            if (m->meeting->plain[i] != m->rounds)
                bail_out("member %d has not met member %d in round %ld", m->index, i, m->rounds);
        }
        last = m->meeting->over;
        meet(m); /* all have read */
    }
}

static void *take_part_native(void *arg)
{
    take_part(arg);
    return NULL;
}

static void meet_for(double seconds)
{
    static struct meeting at;
    static struct member members[ALL];
    ABT_xstream streams[STREAMS], blocked[STREAMS];
    ABT_pool pools[STREAMS], shared, apart;
    ABT_thread threads[ULTS + STREAMS];
    at = (struct meeting){.round = UINT32_MAX - 100}; /* it wraps */
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &shared));
    for (int i = 0; i < STREAMS; i++) {
        pools[i] = shared;
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pools[i], ABT_SCHED_CONFIG_NULL, &streams[i]));
        must(ABT_xstream_create(ABT_SCHED_NULL, &blocked[i]));
    }
    for (int i = 0; i < ALL; i++) {
        members[i] = (struct member){.meeting = &at, .index = i, .rng = rng_fresh()};
        members[i].block_native = i >= ULTS && i < ULTS + STREAMS;
        if (i < ULTS) {
            must(ABT_thread_create(shared, take_part, &members[i], ABT_THREAD_ATTR_NULL, &threads[i]));
        } else if (i < ULTS + STREAMS) {
            must(ABT_xstream_get_main_pools(blocked[i - ULTS], 1, &apart));
            must(ABT_thread_create(apart, take_part, &members[i], ABT_THREAD_ATTR_NULL, &threads[i]));
        } else {
            must(pthread_create(&members[i].thread, NULL, take_part_native, &members[i]));
        }
    }
    for (double end = now() + seconds; now() < end;)
        nap_us(1000);
    atomic_store(&at.stop, true);
    for (int i = ULTS + STREAMS; i < ALL; i++)
        must(pthread_join(members[i].thread, NULL));
    must(ABT_thread_free_many(ULTS + STREAMS, threads));
    for (int i = 0; i < STREAMS; i++) {
        must(ABT_xstream_free(&streams[i]));
        must(ABT_xstream_free(&blocked[i]));
    }
    long done = 0;
    for (int i = 0; i < ALL; i++)
        done += members[i].done;
    pass("%ld rounds of %d, and %ld things done meanwhile", members[0].rounds, ALL, done);
}

int main(void)
{
    enum { RUNS = 4 };
    stress_begin();
    must(ABT_init(0, NULL));
    double seconds = tap_seconds(2) / RUNS;
    for (int i = 0; i < RUNS; i++)
        meet_for(seconds);
    must(ABT_finalize());
    return done_testing();
}

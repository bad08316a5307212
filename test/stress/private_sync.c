/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronisation between ULTs of private pools, whose quick ways to block and to wake are not those of others: 1 to 16
 * streams, each with a private pool in front. In every phase all of them take mutexes at random, hand a value around
 * their ring by eventuals, fill a common future, meet at a condition variable and then at a barrier. Nobody is in a
 * mutex with others, values arrive, no wake-up is lost, and the pools count nobody in the end.
 */
#include <stdatomic.h>
#include "stress.h"

enum { ULTS = 8, MUTEXES = 3 };

static struct {
    ABT_mutex mutex;
    int inside;
    long count;
} guarded[MUTEXES];

struct member {
    int number;
    ABT_eventual eventual; /* set by the one before */
    long locked;
};

static struct member members[MAX_TEAM * ULTS];
static int num_members;
static ABT_barrier barrier;
static ABT_future future;
static ABT_mutex hall;
static ABT_cond all_here;
static int here;        /* hall */
static long generation; /* hall */
static atomic_bool over;
static long phases; /* the first member's, between barriers */
static bool stop;   /* the same */

static void use_mutex(struct member *self, struct rng *rng)
{
    unsigned i = below(rng, MUTEXES);
    must(ABT_mutex_lock(guarded[i].mutex));
    if (guarded[i].inside++)
        fail("two inside");
    guarded[i].count++;
    self->locked++;
    if (one_in(rng, 2))
        must(ABT_thread_yield());
    jitter(rng);
    guarded[i].inside--;
    must(ABT_mutex_unlock(guarded[i].mutex));
}

static void hand_around(struct member *self, long phase)
{
    struct member *next = &members[(self->number + 1) % num_members];
    long value = phase * num_members + self->number, *got;
    must(ABT_eventual_set(next->eventual, &value, sizeof(value)));
    must(ABT_eventual_wait(self->eventual, (void **)&got));
    int before = (self->number + num_members - 1) % num_members;
    if (*got != phase * num_members + before)
        fail("phase %ld: member %d gets %ld", phase, self->number, *got);
    must(ABT_eventual_reset(self->eventual));
}

static void meet_in_hall(void)
{
    must(ABT_mutex_lock(hall));
    long mine = generation;
    if (++here == num_members) {
        here = 0;
        generation++;
        must(ABT_cond_broadcast(all_here));
    }
    while (mine == generation)
        must(ABT_cond_wait(all_here, hall));
    must(ABT_mutex_unlock(hall));
}

static void take_part(void *arg)
{
    struct member *self = arg;
    struct rng rng = rng_fresh();

    for (long phase = 0; !stop; phase++) {
        for (unsigned n = below(&rng, 6); n > 0; n--)
            use_mutex(self, &rng);
        must(ABT_future_set(future, self));
        jitter(&rng);
        hand_around(self, phase);
        must(ABT_future_wait(future));
        meet_in_hall();
        if (self->number == 0) {
            must(ABT_future_reset(future));
            phases++;
            stop = atomic_load(&over);
        }
        must(ABT_barrier_wait(barrier));
    }
}

/* Fills its stream's private pool, which nobody else may. */
static void populate(void *arg)
{
    struct member *first = arg;
    ABT_xstream es;
    ABT_pool private_pool;
    ABT_thread ults[ULTS];
    size_t total;

    must(ABT_self_get_xstream(&es));
    must(ABT_xstream_get_main_pools(es, 1, &private_pool));
    for (int i = 0; i < ULTS; i++)
        must(ABT_thread_create(private_pool, take_part, &first[i], ABT_THREAD_ATTR_NULL, &ults[i]));
    for (int i = 0; i < ULTS; i++)
        must(ABT_thread_free(&ults[i]));
    must(ABT_pool_get_total_size(private_pool, &total));
    is_int(total, 0, "the pool counts nobody");
}

static void make_objects(void)
{
    for (int i = 0; i < MUTEXES; i++) {
        must(ABT_mutex_create(&guarded[i].mutex));
        guarded[i].count = 0;
    }
    for (int i = 0; i < num_members; i++) {
        members[i] = (struct member){.number = i};
        must(ABT_eventual_create(sizeof(long), &members[i].eventual));
    }
    must(ABT_barrier_create((uint32_t)num_members, &barrier));
    must(ABT_future_create((uint32_t)num_members, NULL, &future));
    must(ABT_mutex_create(&hall));
    must(ABT_cond_create(&all_here));
    generation = phases = 0;
    stop = false;
    atomic_store(&over, false);
}

static void free_objects(void)
{
    for (int i = 0; i < MUTEXES; i++)
        must(ABT_mutex_free(&guarded[i].mutex));
    for (int i = 0; i < num_members; i++)
        must(ABT_eventual_free(&members[i].eventual));
    must(ABT_barrier_free(&barrier));
    must(ABT_future_free(&future));
    must(ABT_mutex_free(&hall));
    must(ABT_cond_free(&all_here));
}

static void play(int num_es, double seconds)
{
    ABT_xstream es[MAX_TEAM];
    ABT_thread starters[MAX_TEAM];

    must(ABT_init(0, NULL));
    num_members = num_es * ULTS;
    make_objects();
    for (int i = 0; i < num_es; i++) {
        ABT_pool pools[2];
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pools[0]));
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[1]));
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &es[i]));
        must(ABT_thread_create(pools[1], populate, &members[i * ULTS], ABT_THREAD_ATTR_NULL, &starters[i]));
    }
    nap_us((long)(seconds * 1e6));
    atomic_store(&over, true);
    for (int i = 0; i < num_es; i++) {
        must(ABT_thread_free(&starters[i]));
        must(ABT_xstream_free(&es[i]));
    }
    long locked = 0, counted = 0;
    for (int i = 0; i < num_members; i++)
        locked += members[i].locked;
    for (int i = 0; i < MUTEXES; i++)
        counted += guarded[i].count;
    is_int(counted, locked, "%d streams, %ld phases: the mutexes count right", num_es, phases);
    free_objects();
    must(ABT_finalize());
}

int main(void)
{
    stress_begin();
    double seconds = tap_seconds(4.0);

    for (int num_es = 1; num_es <= MAX_TEAM; num_es *= 2)
        play(num_es, seconds / 5);
    return done_testing();
}

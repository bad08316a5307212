/* SPDX-License-Identifier: BSD-3-Clause */
/* The world of a round: what its actors share. */
#ifndef TEST_FUZZ_WORLD_H
#define TEST_FUZZ_WORLD_H

#include "units.h"

enum {
    MAX_POOLS = 8,
    MAX_STREAMS = 5,
    MAX_OWN_STREAMS = 8,
    NUM_MUTEXES = 4,
    NUM_SPINS = 2,
    NUM_RWLOCKS = 2,
    NUM_KEYS = 4
};

/* A number that a lock guards, and what it has to be. */
struct guarded {
    long value;
    atomic_long added;
};

struct world {
    int num_pools;
    ABT_pool pools[MAX_POOLS]; /* 0: for the primary stream alone */
    bool is_open[MAX_POOLS];   /* any stream may pop from it */
    int num_streams;
    ABT_xstream streams[MAX_STREAMS]; /* 0: the primary one */
    ABT_sched scheds[MAX_STREAMS];    /* of the others */
    ABT_mutex mutexes[NUM_MUTEXES], spins[NUM_SPINS], recursive;
    struct guarded counts[NUM_MUTEXES], spin_counts[NUM_SPINS], recursive_count;
    ABT_rwlock rwlocks[NUM_RWLOCKS];
    struct guarded rw_counts[NUM_RWLOCKS];
    long rw_copies[NUM_RWLOCKS]; /* of the counts */
    ABT_key keys[NUM_KEYS];
    atomic_long values_made, values_gone;
    atomic_long user_units_made, user_units_gone;
    bool is_bound; /* what streams have may be bound to their native threads, so that regions must not wait for units */
    atomic_int own_streams; /* which steps have made */
};
extern struct world world;
extern FILE *nowhere; /* /dev/null */

/* num_streams: 0 is a random number. */
void world_begin(struct rng *rng, int num_streams);
/* Checks all, and ends the library. */
void world_end(void);

/* Those that steps may push to; the one that stands behind all others; one that all may pop from, or the null handle.
 */
ABT_pool any_pool(struct actor *actor);
ABT_pool last_pool(void);
ABT_pool open_pool(struct actor *actor);
ABT_xstream any_stream(struct actor *actor);

/* A step makes a stream of its own, if there are not too many. */
bool own_stream_begin(void);
void own_stream_end(void);

/*
 * Waits until the caller is not on the stream: a unit of it may have popped the caller and switched to it. Nobody may
 * wait for the stream that it is on.
 */
void be_elsewhere(struct actor *actor, ABT_xstream stream);

/* pools.c: MPMC, of any definition; or only one in which a unit that yields comes behind all others. */
ABT_pool pool_make(struct rng *rng, bool is_fair);
/* scheds.c: of any definition. */
ABT_sched sched_make(struct rng *rng, int num, ABT_pool *pools, bool automatic);
/* life.c: the destructor of keys. */
void value_destroy(void *value);

/* io.c, or no_io.c where libabtio is not built. True: rings belong to native threads in this round. */
bool io_begin(struct rng *rng);
void io_end(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime: what exists once per process between ABT_init and ABT_finalize. */
#ifndef ABTI_RT_RT_H
#define ABTI_RT_RT_H

#include <limits.h>
#include "rt/config.h"
#include "rt/self.h"

enum { ABTI_MAX_ES = 1 << 14 };

struct abti_rt {
    _Atomic(bool) up;          /* between the last ABT_init and its ABT_finalize */
    struct abti_config config; /* constant while up */
    size_t kept;               /* constant while up: bytes in free objects of a kind */
    struct abti_slab unit_slab;
    struct abti_slab stack_slab;
    struct abti_slab ktable_slab;                              /* tables of values by keys, see unit/key.c */
    struct abti_slab *_Atomic class_slabs[ABTI_STACK_CLASSES]; /* stacks of other sizes. NULL: there are none yet */

    struct abti_spin external_lock;
    struct abti_cache external_units;      /* external_lock: descriptors for threads that are no ES */
    struct abti_ownstacks external_stacks; /* external_lock: and stacks */
    struct abti_cache *external_ktables;   /* external_lock: and tables of values */

    /* The first function of every ULT on a stack of its own. abti_entry_choose (run/begin.c) writes it. */
    _Atomic(void (*)(void)) ult_entry;

    struct abti_spin lock; /* everything below; lock/lockrank.h says what may be held when it is taken */
    abti_es *xstreams;     /* those that have no rank of entered streams (stream/list.h) in order of rank, then these */
    abti_es *last_ranked;  /* the last one of the former. NULL: there is none */
    int num_xstreams;
    int num_ranked; /* those that have no rank of entered streams */
    int free_from;  /* no index below is free */
    abti_pool *pools;
    int next_pool_id, next_sched_id; /* see abti_rt_next_id */
    bool observed;                   /* somebody listens to events, see run/observe.h */
    abti_es *primary;
    _Atomic(abti_es *) lister; /* the ES that looks at all pools, none of which is destroyed meanwhile; NULL: none
                                  does. See stream/halt.c */
    _Atomic(uint64_t) next_unit_id;
    /*
     * The ESs by index. An entry is written under the lock when an ES comes and goes. A thread that holds a unit which
     * ran there reads it without.
     */
    _Atomic(abti_es *) by_index[ABTI_MAX_ES];
};

extern struct abti_rt abti_rt ABTI_HIDDEN;

/*
 * In the child of a fork, which has one thread: everything but the configuration is as when the library was loaded. The
 * memory stays, since threads that are no more may have been changing it.
 */
void abti_rt_forget(void);

/* A thread that is no ES (NULL) begins and ends to use the caches that all such threads have. An ES has its own. */
ABTI_INLINE void abti_rt_begin_shared(const abti_es *es)
{
    if (!es)
        abti_spin_lock(&abti_rt.external_lock);
}

ABTI_INLINE void abti_rt_end_shared(const abti_es *es)
{
    if (!es)
        abti_spin_unlock(&abti_rt.external_lock);
}

/*
 * Counts on, and returns an id for a pool or a scheduler. Users have ids as ints, of which none is negative: after the
 * last one come those that were given out long before. rt.lock is held.
 */
ABTI_INLINE int abti_rt_next_id(int *next)
{
    int id = *next;
    *next = id < INT_MAX ? id + 1 : 0;
    return id;
}

ABTI_INLINE bool abti_rt_is_up(void)
{
    /* acquire: pairs with the release of abti_rt.up in ABT_init (api/init.c) */
    return abti_load_acquire(&abti_rt.up);
}

#endif

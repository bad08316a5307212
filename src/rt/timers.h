/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deadlines of one stream, which say when its native thread has to look at them next. What they end is in
 * sync/timer.h.
 */
#ifndef ABTI_RT_TIMERS_H
#define ABTI_RT_TIMERS_H

#include <stdint.h>
#include "base/heap.h"
#include "rt/self.h"

/* The armed timers of one ES. */
struct abti_timers {
    struct abti_spin lock;
    bool recheck;           /* lock: a waiter may have been cancelled */
    _Atomic(uint64_t) next; /* when the ES has to look here again; ABTI_CLOCK_NEVER: never as yet. It is written
                               under the lock; a wait that ends early may leave it too early */
    struct abti_heap heap;  /* lock */
    uint64_t bit;           /* stands for the ES in a pool's lookout. Constant while the ES is there */
} ABTI_ALIGNED(ABTI_CACHE_LINE);

/*
 * Returns when the ES has to look at its timers again. seq_cst: pairs with the stores in set_next and tell_of_timer
 * (sync/timer.c). An ES that is about to sleep asks after it has announced that, and a thread that gives it a timer
 * wakes it.
 */
ABTI_INLINE uint64_t abti_timer_next(abti_es *es)
{
    return abti_load_seq_cst(&es->timers->next);
}

#endif

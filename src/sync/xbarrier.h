/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers of native threads: a ULT that waits blocks its execution stream. */
#ifndef ABTI_SYNC_XBARRIER_H
#define ABTI_SYNC_XBARRIER_H

#include "abt.h"
#include "base/compiler.h"
#include "wait/adaptive.h"

/*
 * Arrivals are numbered for ever, which says what round each belongs to: a thread that comes for the next round while
 * the last one of this round is about to announce it is not mistaken.
 */
struct ABT_xstream_barrier_opaque {
    /* Waiters look at these, which change at the end of a round only, unless some sleep. */
    ABTI_ALIGNED(ABTI_CACHE_LINE)
    _Atomic(uint32_t) rounds;      /* how many are complete. A futex word, which the last one of each round counts up */
    _Atomic(uint32_t) sleepers;    /* how many sleep, or are about to */
    uint32_t num;                  /* how many meet. Constant */
    struct abti_adaptive adaptive; /* how long they give way before they sleep */
    ABTI_ALIGNED(ABTI_CACHE_LINE)
    _Atomic(uint64_t) arrived;   /* how many have come so far, in all rounds */
    _Atomic(uint32_t) outsiders; /* how many that are no stream's threads use the barrier */
};

void abti_xbarrier_init(struct ABT_xstream_barrier_opaque *barrier, uint32_t num);

/* Waits, for a caller that has come out of the last round, until the others, which are on their way out, are out. */
void abti_xbarrier_fini(struct ABT_xstream_barrier_opaque *barrier);

void abti_xbarrier_wait(struct ABT_xstream_barrier_opaque *barrier);

#endif

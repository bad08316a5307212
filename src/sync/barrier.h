/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers: the last one to come wakes the others. A ULT whose stream has nothing else to run spins for a while before
 * it blocks (abti_barrier_wait_slow), so that streams that come together need not wake each other one by one. A native
 * thread spins likewise, and then sleeps until the round is over: it is in no queue.
 */
#ifndef ABTI_SYNC_BARRIER_H
#define ABTI_SYNC_BARRIER_H

#include "sync/waitq.h"
#include "wait/adaptive.h"

/*
 * The memory is aligned as malloc does, no more, since to align it to lines takes four times as long. So what each ULT
 * writes with the lock held is in the first 16 bytes, which are in one line, and the words that are polled are a line
 * away.
 */
struct ABT_barrier_opaque {
    struct abti_spin lock;     /* guards the fields that name it */
    uint32_t num;              /* lock: how many meet. Constant while one waits */
    _Atomic(uint32_t) arrived; /* lock: how many of this round have come so far. A thread that comes reads it before */
    uint32_t num_polls;        /* lock: how many of them poll the end of the round, or sleep as native threads */

    struct abti_waitq waiters; /* lock: the threads and ULTs that block */
    abti_pool *local_pool;     /* lock: the pool of those in `local`; NULL: there are none */
    uint32_t num_local;        /* lock: how many are in `local` */
    uint32_t room;             /* how many fit there; a barrier of more does without. Constant */
    uint32_t num_asleep;       /* lock: native threads of this round that sleep, or are about to */
    uint32_t natives_in;       /* lock: native threads that have begun to poll, of all rounds */

    char line_1[ABTI_CACHE_LINE];
    _Atomic(uint32_t) rounds;      /* lock: rounds that somebody looked at have ended so often. A futex word */
    uint32_t num_to_run;           /* num, for threads without the lock: they would move its line. Constant likewise */
    bool was_polled;               /* lock: there was such a round */
    struct abti_adaptive adaptive; /* how long native threads give way before they sleep */
    char line_2[ABTI_CACHE_LINE];
    _Atomic(uint32_t) natives_out; /* those that poll no more */
    char line_3[ABTI_CACHE_LINE];
    abti_unit *local[]; /* lock: ULTs of one private pool, which are woken by moving them there all at once */
};

/* Makes a barrier. Returns NULL when there is no memory. */
ABT_barrier abti_barrier_create(uint32_t num) ABTI_MUST_CHECK;

/* Makes a barrier as if it were new. Nobody has used it yet, or abti_barrier_settle has returned. */
void abti_barrier_init(ABT_barrier barrier, uint32_t num);

/* Returns when the members of the last round use the barrier no more. */
void abti_barrier_settle(ABT_barrier barrier);

/* Wakes all, which have come. The lock is held, and is released. Returns ABT_SUCCESS. */
int abti_barrier_meet(ABT_barrier barrier);

/*
 * Two ways to wait, for a ULT that may block quickly, with the lock held. Among ULTs of its own pool it is entered
 * before it has even saved its context: only its native thread reads that, and is about to save it. Among others it
 * goes by abti_ctx_leave.
 */
ABTI_INLINE int abti_barrier_wait_locally(ABT_barrier barrier, abti_es *es)
{
    abti_unit *self = es->cur;
    barrier->local[barrier->num_local++] = self;
    abti_unit_wait_for(self, barrier);
    abti_ctx next = abti_block_quick(es, self);
    abti_spin_unlock(&barrier->lock);
    return abti_ctx_switch(&self->ctx, next);
}
abti_ctx abti_barrier_leave(void *room, void *barrier, void *unused);

int abti_barrier_wait_slow(ABT_barrier barrier);

/* Counts the caller, with the lock held. True: it is the last. relaxed, both: the lock is held */
ABTI_INLINE bool abti_barrier_arrive(ABT_barrier barrier)
{
    uint32_t arrived = abti_load_relaxed(&barrier->arrived) + 1;
    abti_store_relaxed(&barrier->arrived, arrived);
    return arrived == barrier->num;
}

/*
 * Waits for the others. The last one takes all waiters out under the lock before it wakes the first: a caller that
 * comes early to the next round finds an empty queue, and nobody of this round needs the barrier any more.
 * Returns ABT_SUCCESS.
 */
ABTI_INLINE int abti_barrier_wait(ABT_barrier barrier)
{
    abti_es *es = abti_es_self;
    if (abti_may_block_quick(es) && ABTI_LIKELY(abti_spin_trylock(&barrier->lock))) {
        if (ABTI_UNLIKELY(abti_barrier_arrive(barrier)))
            return abti_barrier_meet(barrier);
        if (ABTI_UNLIKELY(!barrier->local_pool) && barrier->num <= barrier->room)
            barrier->local_pool = es->fast;
        if (ABTI_LIKELY(barrier->local_pool == es->fast))
            return abti_barrier_wait_locally(barrier, es);
        return abti_ctx_leave(&es->cur->ctx, barrier, NULL, abti_barrier_leave);
    }
    return abti_barrier_wait_slow(barrier);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gate is closed until somebody opens it: what eventuals and futures have in common. Zeroed memory is a closed gate.
 *
 * It may go, with the object around it, as soon as a wait or a test has found it open. The opener's last access is the
 * release of the lock: waiters that sleep are woken after that, and callers that see the gate open without taking the
 * lock look at the lock too. They cannot see it as it was before the opener took it, since that came before the store
 * to `open`.
 */
#ifndef ABTI_SYNC_GATE_H
#define ABTI_SYNC_GATE_H

#include "sync/waitq.h"

struct abti_gate {
    struct abti_spin lock;     /* guards everything below, and the fields of the object around it that name it */
    _Atomic(uint32_t) open;    /* set with the lock held, read without */
    struct abti_waitq waiters; /* lock */
};

ABTI_INLINE bool abti_gate_is_open(struct abti_gate *gate)
{
    /* acquire: pairs with the release in abti_gate_open_locked */
    if (!abti_load_acquire(&gate->open))
        return false;
    abti_waitq_settle(&gate->lock);
    return true;
}

/*
 * Opens the gate and lets everybody through. The caller holds the lock, which is released. Always returns ABT_SUCCESS.
 */
int abti_gate_open_locked(struct abti_gate *gate);

/* Opens or closes the gate, while nobody waits. */
ABTI_INLINE void abti_gate_reset(struct abti_gate *gate, bool open)
{
    abti_store_relaxed(&gate->open, open);
}

/* Queues a waiter, with the lock held on return. False when the gate is open, without the lock. */
bool abti_gate_enter(struct abti_gate *gate, struct abti_waiter *w);

/*
 * Takes a waiter out that has not been woken, if it is still there. True when the gate is open now, which is late, but
 * in time for a caller that polls.
 */
bool abti_gate_forget(struct abti_gate *gate, struct abti_waiter *w);

/* Waits, for a ULT that may block quickly, see abti_ctx_leave. The lock is held. */
abti_ctx abti_gate_leave(void *room, void *gate, void *reason);

int abti_gate_block(struct abti_gate *gate, ABT_sync_event_type reason);

/*
 * Waits until the gate is open. The gate is the first member of the object around it, so that its address tells the
 * object. Always returns ABT_SUCCESS, so that the public functions end in a jump, and a ULT that had to wait goes on in
 * fewer returns.
 */
ABTI_INLINE int abti_gate_wait(struct abti_gate *gate, ABT_sync_event_type reason)
{
    abti_es *es = abti_es_self;
    if (abti_may_block_quick(es) && ABTI_LIKELY(abti_spin_trylock(&gate->lock))) {
        if (!abti_load_relaxed(&gate->open)) /* relaxed: the lock is held */
            return abti_ctx_leave(&es->cur->ctx, gate, (void *)(intptr_t)reason, abti_gate_leave);
        abti_spin_unlock(&gate->lock);
        return ABT_SUCCESS;
    }
    return abti_gate_block(gate, reason);
}

/* Waits until the gate is open. False when the deadline has passed before. */
bool abti_gate_wait_until(struct abti_gate *gate, ABT_sync_event_type reason, uint64_t deadline_ns);

#endif

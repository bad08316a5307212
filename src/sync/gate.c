/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/gate.h"

#include "base/assert.h"

/* Wakes all waiters and unlocks. It is out of line, so that abti_gate_open_locked saves no registers for it. */
static ABTI_NOINLINE int let_all_through(struct abti_gate *gate)
{
    struct abti_waiter *rest = abti_waitq_wake_here(&gate->waiters);
    abti_spin_unlock(&gate->lock);
    if (ABTI_UNLIKELY(rest != NULL))
        abti_waiter_wake_all(rest);
    return ABT_SUCCESS;
}

ABTI_HOT int abti_gate_open_locked(struct abti_gate *gate)
{
    abti_assert(abti_load_relaxed(&gate->lock.word) == 1); /* it is held */
    /* release: pairs with the acquire in abti_gate_is_open, and publishes what was stored before */
    abti_store_release(&gate->open, 1);
    struct abti_waiter *w = gate->waiters.head;
    abti_es *es = abti_es_self;
    if (w && (w->next != w || !w->unit || !abti_may_unblock_quick(es, w->unit)))
        return let_all_through(gate);
    if (ABTI_LIKELY(w != NULL)) {
        gate->waiters.head = NULL;
        abti_unblock_quick(es, w->unit);
    }
    abti_spin_unlock(&gate->lock);
    return ABT_SUCCESS;
}

/* It is out of line, where gcc does not think that the waiter stays in the queue. */
ABTI_NOINLINE bool abti_gate_enter(struct abti_gate *gate, struct abti_waiter *w)
{
    abti_spin_lock(&gate->lock);
    if (abti_load_relaxed(&gate->open)) {
        abti_spin_unlock(&gate->lock);
        return false;
    }
    abti_waitq_push(&gate->waiters, w);
    return true;
}

ABTI_HOT abti_ctx abti_gate_leave(void *room, void *gate_, void *reason)
{
    struct abti_gate *gate = gate_;
    return abti_waitq_leave(&gate->waiters, room, (ABT_sync_event_type)(intptr_t)reason, gate, &gate->lock, false);
}

bool abti_gate_forget(struct abti_gate *gate, struct abti_waiter *w)
{
    abti_spin_lock(&gate->lock);
    abti_waitq_remove(&gate->waiters, w);
    bool open = abti_load_relaxed(&gate->open); /* relaxed: the lock is held */
    abti_spin_unlock(&gate->lock);
    return open;
}

int abti_gate_block(struct abti_gate *gate, ABT_sync_event_type reason)
{
    if (abti_gate_is_open(gate))
        return ABT_SUCCESS;
    struct abti_waiter w;
    abti_waiter_init(&w, reason, gate);
    if (abti_gate_enter(gate, &w))
        abti_waiter_park(&w, &gate->lock, NULL);
    return ABT_SUCCESS;
}

bool abti_gate_wait_until(struct abti_gate *gate, ABT_sync_event_type reason, uint64_t deadline_ns)
{
    if (abti_gate_is_open(gate))
        return true;
    struct abti_waiter w;
    abti_waiter_init(&w, reason, gate);
    if (!abti_gate_enter(gate, &w))
        return true;
    bool open = abti_waiter_park_until(&w, &gate->lock, NULL, deadline_ns) || abti_gate_forget(gate, &w);
    abti_waiter_finish(&w);
    return open;
}

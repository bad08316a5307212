#include "sync/gate.h"

void abti_gate_open_locked(struct abti_gate *gate)
{
    /* release: pairs with abti_gate_is_open, so that what was stored before is seen by whoever finds the gate open */
    abti_store_release(&gate->open, 1);
    struct abti_waiter *all = abti_waitq_take_all(&gate->waiters);
    abti_spin_unlock(&gate->lock);
    abti_waiter_wake_all(all);
}

void abti_gate_reset(struct abti_gate *gate, bool open)
{
    /* relaxed: nobody waits, and the user orders a reset with what comes before and after */
    abti_store_relaxed(&gate->open, open);
}

/* Queues the waiter, with the lock held on return. False when the gate is open, without the lock. (Out of line, where
 * gcc does not think that the waiter stays in the queue.) */
static ABTI_NOINLINE bool gate_enter(struct abti_gate *gate, struct abti_waiter *w)
{
    abti_spin_lock(&gate->lock);
    /* relaxed: under the lock */
    if (abti_load_relaxed(&gate->open)) {
        abti_spin_unlock(&gate->lock);
        return false;
    }
    abti_waitq_push(&gate->waiters, w);
    return true;
}

int abti_gate_wait(struct abti_gate *gate, ABT_sync_event_type reason, const void *object)
{
    if (abti_gate_is_open(gate))
        return ABT_SUCCESS;
    struct abti_waiter w;
    abti_waiter_init(&w, reason, object);
    if (gate_enter(gate, &w))
        abti_waiter_park(&w, &gate->lock, NULL);
    return ABT_SUCCESS;
}

bool abti_gate_wait_until(struct abti_gate *gate, ABT_sync_event_type reason, const void *object, uint64_t deadline_ns)
{
    if (abti_gate_is_open(gate))
        return true;
    struct abti_waiter w;
    abti_waiter_init(&w, reason, object);
    if (!gate_enter(gate, &w) || abti_waiter_park_until(&w, &gate->lock, NULL, deadline_ns))
        return true;
    abti_spin_lock(&gate->lock);
    abti_waitq_remove(&gate->waiters, &w);
    bool open = abti_load_relaxed(&gate->open); /* late, but while we looked */
    abti_spin_unlock(&gate->lock);
    return open;
}

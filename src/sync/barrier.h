/* Barriers: the last one to come wakes the others. */
#ifndef ABTI_SYNC_BARRIER_H
#define ABTI_SYNC_BARRIER_H

#include "sync/waitq.h"

struct ABT_barrier_opaque {
    struct abti_spin lock;
    uint32_t num;              /* lock: how many meet. Constant while somebody waits */
    uint32_t arrived;          /* lock: those of this round so far */
    struct abti_waitq waiters; /* lock: the same ones */
};

void abti_barrier_init(ABT_barrier barrier, uint32_t num);

/*
 * Waits for the others. The last one takes all waiters out under the lock before it wakes the first: who comes early to
 * the next round finds an empty queue, and nobody of this round needs the barrier any more.
 */
void abti_barrier_wait(ABT_barrier barrier);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/barrier.h"

#include <stdlib.h>
#include "base/assert.h"

/* Barriers of more ULTs are those of a few large machines. Their ULTs wait as if they were of different pools. */
enum { MAX_ROOM = 4096 };

ABT_barrier abti_barrier_create(uint32_t num)
{
    uint32_t room = num < MAX_ROOM ? num : MAX_ROOM;
    ABT_barrier barrier = malloc(sizeof(*barrier) + room * sizeof(barrier->local[0]));
    if (!barrier)
        return NULL;
    barrier->room = room;
    abti_barrier_init(barrier, num);
    return barrier;
}

void abti_barrier_init(ABT_barrier barrier, uint32_t num)
{
    uint32_t room = barrier->room;
    *barrier = (struct ABT_barrier_opaque){.num = num, .room = room};
}

/* Wakes ULTs of a pool that is not the caller's, which have been taken out of the barrier. */
static void wake_elsewhere(struct abti_queue *units)
{
    for (abti_unit *unit; (unit = abti_queue_pop(units));)
        abti_unblock(unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
}

int abti_barrier_meet(ABT_barrier barrier)
{
    abti_assert(abti_load_relaxed(&barrier->lock.word) == 1); /* it is held */
    abti_assert(barrier->arrived == barrier->num && barrier->num_local <= barrier->room);
    abti_es *es = abti_es_self;
    uint32_t num_local = barrier->num_local;
    struct abti_queue elsewhere;
    abti_queue_init(&elsewhere);
    barrier->arrived = 0;
    if (ABTI_LIKELY(num_local > 0)) {
        if (ABTI_LIKELY(es && es->fast == barrier->local_pool)) {
            abti_unblock_all_quick(es, barrier->local, num_local);
        } else {
            for (uint32_t i = 0; i < num_local; i++)
                abti_queue_push(&elsewhere, barrier->local[i]);
        }
        barrier->num_local = 0;
        barrier->local_pool = NULL;
    }
    struct abti_waiter *rest = abti_waitq_wake_here(&barrier->waiters);
    abti_spin_unlock(&barrier->lock);
    wake_elsewhere(&elsewhere);
    if (ABTI_UNLIKELY(rest != NULL))
        abti_waiter_wake_all(rest);
    return ABT_SUCCESS;
}

abti_ctx abti_barrier_leave(void *room, void *barrier_, void *unused)
{
    (void)unused;
    ABT_barrier barrier = barrier_;
    struct abti_waiter *w = room;
    abti_es *es = abti_es_self;
    abti_waiter_init_ult(w, es->cur, ABT_SYNC_EVENT_TYPE_BARRIER, barrier);
    return abti_waitq_leave(&barrier->waiters, w, es, &barrier->lock, false);
}

int abti_barrier_wait_slow(ABT_barrier barrier)
{
    struct abti_waiter w;
    abti_waiter_init(&w, ABT_SYNC_EVENT_TYPE_BARRIER, barrier);
    abti_spin_lock(&barrier->lock);
    if (++barrier->arrived == barrier->num)
        return abti_barrier_meet(barrier);
    abti_waitq_push(&barrier->waiters, &w);
    abti_waiter_park_in_crowd(&w, &barrier->lock, barrier->num);
    return ABT_SUCCESS;
}

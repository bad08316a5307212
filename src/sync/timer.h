/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlines of ULTs that wait: one heap for each ES, whose native thread ends the waits when their time has come. It
 * looks at the clock when its scheduler checks events, and sleeps no longer than until the next deadline. Without
 * armed timers it does neither. Where it runs a long unit, others look at its heap in its place (sync/lookout.h).
 *
 * A timer with a *poll* is no deadline: its waiter waits as long as it takes, and the poll tells from time to time
 * whether the waiter should wake and see for itself. Such a timer keeps no ES from ending.
 *
 * A timer is in its waiter's frame. Its waiter, which may go on elsewhere, takes it out, so that nobody touches it
 * once the wait has returned. An ES that ends gives its timers to another one. doc/memory-model.md proves this.
 */
#ifndef ABTI_SYNC_TIMER_H
#define ABTI_SYNC_TIMER_H

#include <stdbool.h>
#include "os/clock.h"
#include "rt/timers.h"
#include "sync/waiter.h"

struct abti_timer;

/*
 * Is called when the timer of a waiter with a `unit` is due. Returns when the poll is to be called again;
 * ABTI_POLL_WAKE: the poll has taken the waiter out of its queue, and the ES wakes it. The caller holds the lock of the
 * timers, so that the poll only tries to take locks.
 */
typedef uint64_t (*abti_timer_poll)(struct abti_timer *timer, uint64_t now_ns);

enum { ABTI_POLL_WAKE = 0 };

struct abti_timer {
    struct abti_heap_node node;           /* timers->lock; the key is the deadline */
    _Atomic(struct abti_timers *) timers; /* where it is armed; NULL: nowhere. It changes under the locks of all that
                                             are concerned, and not after it has become NULL */
    struct abti_waiter *waiter;
    abti_timer_poll poll; /* NULL: the time is a deadline, and the wait ends by abti_waiter_give_up */
};

/* Arms a timer for a ULT that is about to wait here. The native thread of `es` calls it. */
void abti_timer_arm(abti_es *es, struct abti_timer *timer, struct abti_waiter *waiter, uint64_t deadline_ns,
                    abti_timer_poll poll);

/* Takes a timer out, wherever it is. Nobody looks at it afterwards. Its waiter calls this. */
void abti_timer_disarm(struct abti_timer *timer);

/*
 * Ends waits whose time has passed, a limited number of them. The native thread of `es`, which is not switching, calls
 * it.
 */
void abti_timers_fire(abti_es *es);

/* Ends the waits whose time has passed, at the cost of a load as long as there is no deadline. */
ABTI_INLINE void abti_timers_poll(abti_es *es)
{
    /* relaxed: if an ES is given a timer while it runs, it may see that at its next poll */
    if (ABTI_UNLIKELY(abti_load_relaxed(&es->timers->next) != ABTI_CLOCK_NEVER))
        abti_timers_fire(es);
}

/*
 * Takes those out whose wait has ended, a limited number of them, and says how far the timers are then. Any thread may
 * call this, and then has to wake what it has got, without a lock.
 */
struct abti_heap_node *abti_timers_take_due(struct abti_timers *timers, uint64_t now_ns) ABTI_MUST_CHECK;
void abti_timers_wake(struct abti_heap_node *due);

/*
 * Ends the wait of a ULT of this pool that has been cancelled and may be waiting with a deadline. If the wait has ended
 * meanwhile, the pool may have been freed: it is looked for among those that exist.
 */
void abti_timers_recheck(abti_pool *pool);

/* Returns the timers of the ES with this index, none of which is armed. The caller holds rt.lock. */
struct abti_timers *abti_timers_of(unsigned index);

/* Returns the timers with this index, whether or not there is an ES. NULL: there has been none with so high an index.
 */
struct abti_timers *abti_timers_at(unsigned index);

/* In the child of a fork: those of the ES with this index are as new. */
void abti_timers_forget(unsigned index);

/*
 * Gives the timers of an ES that has been asked to end to others that serve their pools and have not been asked to end,
 * or to the primary ES if there is none. The ES does not run, or the caller is on its native thread. Unless `force`,
 * timers of its own pools stay if no other ES serves them, because some stream has to run what they wake: false. With
 * `force` the ES ends in any case, asked or not.
 */
bool abti_timers_leave(abti_es *es, bool force);

/*
 * Whether the scheduler of the calling ES, which has been asked to finish and has nothing to do, must stay for its
 * timers.
 */
bool abti_timers_keep(abti_sched *sched);

#endif

/*
 * Deadlines of ULTs that wait: one heap for each ES, whose native thread ends the waits when their time has come. It
 * looks at the clock when its scheduler looks at events, and sleeps no longer than until the next deadline; without
 * armed timers it does neither.
 *
 * A timer with a *look* is no deadline: its waiter waits as long as it takes, and the look tells from time to time
 * whether the waiter should wake and see for itself. Such a timer keeps no ES from ending.
 *
 * A timer lies in its waiter's frame. Its waiter, which may go on elsewhere, takes it out, so that nobody touches it
 * once the wait has returned. An ES that ends gives its timers to another one. doc/memory-model.md has the argument.
 */
#ifndef ABTI_SYNC_TIMER_H
#define ABTI_SYNC_TIMER_H

#include <stdbool.h>
#include "os/clock.h"
#include "rt/timers.h"
#include "sync/waiter.h"

struct abti_timer;

/*
 * The timer of a waiter with a `unit` is due. Returns when the look is to be called again; ABTI_LOOK_WAKE: the look has
 * taken the waiter out of its queue, and the ES wakes it; ABTI_CLOCK_NEVER: a waker has taken it out. Called with the
 * lock of the timers held: it only tries to take locks.
 */
typedef uint64_t (*abti_timer_look)(struct abti_timer *timer, uint64_t now_ns);

enum { ABTI_LOOK_WAKE = 0 };

struct abti_timer {
    struct abti_heap_node node;           /* timers->lock; the key is the deadline */
    _Atomic(struct abti_timers *) timers; /* where it is armed, NULL: nowhere. Changes under the locks of all that are
                                             concerned, and not after it has become NULL */
    struct abti_waiter *waiter;
    abti_timer_look look; /* NULL: the time is a deadline, and the wait ends by abti_waiter_give_up */
};

/* For the native thread of `es`: arms a timer for a ULT that is about to wait here. */
void abti_timer_arm(abti_es *es, struct abti_timer *timer, struct abti_waiter *waiter, uint64_t deadline_ns,
                    abti_timer_look look);

/* Takes it out, wherever it is; nobody looks at it afterwards. By its waiter. */
void abti_timer_disarm(struct abti_timer *timer);

/* Ends the waits whose time is over, a limited number of them. By the native thread of `es`, which is not switching. */
void abti_timers_fire(abti_es *es);

/* Ends the waits whose time is over, at the cost of a load as long as there is no deadline. */
ABTI_INLINE void abti_timers_look(abti_es *es)
{
    /* relaxed: what an ES is given while it runs it may see at its next look */
    if (ABTI_UNLIKELY(abti_load_relaxed(&es->timers->next) != ABTI_CLOCK_NEVER))
        abti_timers_fire(es);
}

/* A ULT that may be waiting with a deadline has been cancelled: its wait ends now. */
void abti_timers_recheck(void);

/* The timers of the ES with this index, none of which is armed. */
struct abti_timers *abti_timers_of(unsigned index);

/* In the child of a fork: those of the ES with this index are as new. */
void abti_timers_forget(unsigned index);

/*
 * The ES, which does not run or on whose native thread the caller is, has been told to end: its timers go to others
 * that serve their pools and have not been told to end, and if there is none to the primary ES. But unless `force`,
 * those of its own pools stay in that case, because somebody has to run what they wake: false. With `force` it ends in
 * any case, told or not.
 */
bool abti_timers_leave(abti_es *es, bool force);

/* The scheduler of the calling ES has been told to finish and has nothing to do: whether it must stay for its timers.
 */
bool abti_timers_keep(abti_sched *sched);

#endif

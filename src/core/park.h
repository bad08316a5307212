/*
 * Sleeping and waking: the only place in the library where anybody waits. doc/memory-model.md has the argument.
 */
#ifndef ABTI_CORE_PARK_H
#define ABTI_CORE_PARK_H

#include <stdbool.h>
#include "base/atomic.h"
#include "core/unit.h"
#include "os/clock.h"
#include "os/spin.h"

/*
 * A native thread's sleeping place (an external thread, a tasklet's or scheduler's ES).
 *
 *   AWAKE -> ASLEEP   by its thread, before it looks for the last time at what it waits for
 *   ASLEEP -> WOKEN   by one waker, who then makes the one system call
 *   any -> AWAKE      by its thread
 */
enum { ABTI_AWAKE = 0, ABTI_ASLEEP = 1, ABTI_WOKEN = 2 };

struct abti_sleeper {
    _Atomic(uint32_t) word;
};

/* Announces that the thread is about to sleep; what it waits for must be looked at after this. */
void abti_sleeper_prepare(struct abti_sleeper *s);
/* Sleeps until woken or the deadline. True if woken. Leaves the sleeper AWAKE. */
bool abti_sleeper_sleep(struct abti_sleeper *s, uint64_t deadline_ns);
/* Takes the announcement back. */
void abti_sleeper_cancel(struct abti_sleeper *s);
/* Wakes it if it is asleep or about to be; true if this call did. */
bool abti_sleeper_wake(struct abti_sleeper *s);

/* One sleeper's entry in one pool's list of those who wait for a unit; guarded by the pool's lock. */
struct abti_parking {
    struct abti_parking *next, *prev;
    struct abti_sleeper *sleeper;
    bool linked;
};

/*
 * Enters and leaves a pool's list. Entering fails when the pool is not empty. A pusher that puts its unit in before
 * the lock was taken is seen by the emptiness test, one that comes after sees the entry.
 */
bool abti_parking_enter(struct abti_parking *p, abti_pool *pool, struct abti_sleeper *s);
void abti_parking_leave(struct abti_parking *p, abti_pool *pool);

/* Picks somebody who sleeps on the pool and has not been woken yet; pool lock held. NULL when nobody is. */
struct abti_sleeper *abti_parking_claim_locked(abti_pool *pool);
/* The system call that goes with a claim, after the lock is released. NULL is nobody. */
void abti_parking_wake(struct abti_sleeper *s);

/*
 * Waits for a unit in one pool, on behalf of a native thread, with the pool's own pop. The deadline is monotonic.
 */
abti_unit *abti_park_pop(abti_pool *pool, uint64_t deadline_ns, ABT_pool_context context);

/*
 * One waiter of a synchronisation object: lies on the waiter's stack, queued by the object under the object's lock.
 */
struct abti_waiter {
    struct abti_waiter *next;
    abti_unit *unit;            /* the waiting ULT; NULL: a native thread waits */
    struct abti_sleeper sleeper;
};

/* Who is waiting: fills in the waiter for the calling ULT or native thread. */
void abti_waiter_init(struct abti_waiter *w);

/*
 * Sleeps until abti_waiter_wake. Called with `lock` held and the waiter queued; a ULT releases the lock only when it has
 * left its stack, so that whoever finds the waiter may resume it at once. Returns without the lock.
 */
void abti_waiter_park(struct abti_waiter *w, struct abti_spin *lock);

/* Wakes a waiter that has been taken out of its queue under the lock. The waiter's memory may be gone on return. */
void abti_waiter_wake(struct abti_waiter *w);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping and waking: how units and threads wait for objects. doc/memory-model.md proves that no wake is lost. */
#ifndef ABTI_SYNC_WAITER_H
#define ABTI_SYNC_WAITER_H

#include <stdbool.h>
#include "unit/unit.h"

/*
 * One waiter of a synchronisation object. It is on the waiter's stack, queued by the object under the object's lock. It
 * is woken once. A ULT that waits for one object, as long as it takes, leaves its stack with that lock held. All others
 * agree with their waker by `word`:
 *
 *   AWAKE -> ASLEEP          by its thread, before the system call; by a ULT, when it has left its stack
 *   any -> WOKEN             by its waker, which makes the system call, or resumes the ULT, only if it was ASLEEP
 *
 * With a deadline, or several objects, several threads may end the wait, and `claim` says which of them does:
 *
 *   OPEN -> TAKEN   by a waker, under its object's lock, so that the waiter finds out under that lock whether it is
 *                   still queued
 *   OPEN -> OVER    by the waiter itself or the ES that has its timer, when the time is up
 */
struct abti_waiter {
    struct abti_waiter *next, *prev; /* object's lock: links its queue. `next` then links the waiters that are to be
                                        woken. In one that waits for several objects `prev` is the branch that was
                                        claimed */
    abti_unit *unit;                 /* the blocked ULT; NULL: woken by `word` */
    union {
        struct abti_spin *lock; /* with a unit: what abti_waiter_park releases */
        abti_unit *ult;         /* without a unit: the ULT that waits; NULL: a native thread */
    };
    struct abti_waiter *other; /* the waiters that it wakes after that, linked by `next`; NULL: none */
    const void *object;        /* the object that it waits for, and the kind of that, for tools and dumps */
    ABT_sync_event_type reason;
    _Atomic(uint32_t) word;  /* see above */
    _Atomic(uint32_t) claim; /* see above */
    uint64_t deadline_ns;    /* of a ULT with a claim, ABTI_CLOCK_NEVER: none. For dumps */
};

enum { ABTI_CLAIM_NONE = 0, ABTI_CLAIM_OPEN = 1, ABTI_CLAIM_TAKEN = 2, ABTI_CLAIM_OVER = 3, ABTI_CLAIM_BRANCH = 4 };

/* A branch is in the queue of one of several objects for the waiter that waits for any of them. */
struct abti_branch {
    struct abti_waiter base;
    struct abti_waiter *trunk;
};

/* Fills in the waiter for the calling ULT or native thread. */
void abti_waiter_init(struct abti_waiter *w, ABT_sync_event_type reason, const void *object);

/* Fills in the waiter for a ULT that has no requests, in the room of abti_ctx_wait. */
ABTI_INLINE void abti_waiter_init_ult(struct abti_waiter *w, abti_unit *self, ABT_sync_event_type reason,
                                      const void *object)
{
    w->unit = self;
    w->object = object;
    w->reason = reason;
    atomic_init(&w->claim, ABTI_CLAIM_NONE);
}

_Static_assert(sizeof(struct abti_waiter) <= ABTI_CTX_ROOM, "waits there");

/*
 * Sleeps until abti_waiter_wake. The caller holds `lock` and has queued the waiter. A ULT releases the lock only when
 * it has left its stack, so that a waker that finds the waiter may resume it at once. On return the lock is not held.
 * Once the lock is released the waiters linked from `other`, if not NULL, are woken: that is for a caller that gives up
 * one object to wait for another.
 */
void abti_waiter_park(struct abti_waiter *w, struct abti_spin *lock, struct abti_waiter *other);

/*
 * Sleeps in the same way, as a ULT, which leaves to `next`: that goes on at once, whatever is asked of it. See
 * abti_take_next.
 */
void abti_waiter_park_to(struct abti_waiter *w, struct abti_spin *lock, abti_unit *next);

/*
 * Sleeps in the same way, and no longer than until the deadline. False when that has passed, or when the ULT has been
 * cancelled: the waiter is still queued, unless a waker has skipped it, and the caller takes the lock and removes it,
 * and then calls abti_waiter_finish.
 */
bool abti_waiter_park_until(struct abti_waiter *w, struct abti_spin *lock, struct abti_waiter *other,
                            uint64_t deadline_ns);

/*
 * Prepare to wait for several objects: the waiter can be claimed from now on; then one branch of it for each object is
 * queued.
 */
void abti_waiter_open(struct abti_waiter *w);
void abti_branch_init(struct abti_branch *branch, struct abti_waiter *trunk);

/*
 * Sleeps until one of the branches is claimed and the waiter woken, or until the deadline (0: it has passed). False in
 * the second case. In both cases the caller removes the branches, each under its object's lock, and calls
 * abti_waiter_finish.
 */
bool abti_waiter_await(struct abti_waiter *w, uint64_t deadline_ns);

/* Ends a wait that has been claimed, with nothing left of it in any queue: a cancelled ULT ends here, unless it puts
 * that off (run/cancel.h). */
void abti_waiter_finish(struct abti_waiter *w);

/*
 * Says, before abti_waiter_park, that the waiter has something to do for others when it is woken, so that it is not
 * cancelled then. relaxed: the stream that pops the ULT looks at it, which what wakes the ULT has ordered.
 */
ABTI_INLINE void abti_waiter_hold(struct abti_waiter *w)
{
    /* relaxed: the ULT itself looks at it, when it runs again */
    if (w->unit)
        abti_store_relaxed(&w->unit->held, 1);
}

/* Ends the wait of a waiter that can be claimed, without a wake. False: a waker was faster, and is going to wake it. */
bool abti_waiter_give_up(struct abti_waiter *w);

/* abti_waiter_claim, of a waiter that several threads may wake. */
struct abti_waiter *abti_waiter_claim_trunk(struct abti_waiter *w);

/*
 * Claims a waiter. The caller holds the object's lock and has taken `w` out of its queue. Returns the waiter to wake:
 * `w` itself, or the one that it stands for. NULL: the time of that is up, or others wake it.
 */
ABTI_INLINE struct abti_waiter *abti_waiter_claim(struct abti_waiter *w)
{
    /* relaxed: written before the waiter was queued, which the lock orders */
    return ABTI_LIKELY(abti_load_relaxed(&w->claim) == ABTI_CLAIM_NONE) ? w : abti_waiter_claim_trunk(w);
}

/*
 * Wakes a waiter that has been taken out of its queue under the lock, and claimed. The lock need not be held any more;
 * the waiter's memory may be gone on return.
 */
void abti_waiter_wake(struct abti_waiter *w);

/* Wakes all of those linked by `next`. */
void abti_waiter_wake_all(struct abti_waiter *first);

/* Wakes all of those linked by `next`, where it is one most often. */
ABTI_INLINE void abti_waiter_wake_list(struct abti_waiter *first)
{
    if (ABTI_UNLIKELY(first->next != NULL))
        abti_waiter_wake_all(first);
    else
        abti_waiter_wake(first);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mutexes. A mutex that nobody holds is taken by the first caller that runs and wants it. An unlock wakes one waiter,
 * which competes like all others, while those still queued poll by themselves. It wakes a ULT of the pool that has had
 * the mutex, as long as there are any, within limits; otherwise the waiter that has waited longest.
 *
 * While a waiter that was woken from afar is COMING, unlocks wake nobody else. Until it is there others lock and unlock
 * many times, with the mutex and the guarded data in their cache. Each waiter that came beside it would take these
 * lines from them, and would find the mutex locked most likely: with 16 streams that was 50 lines a lock. From afar
 * come a native thread, which takes as long as the system does, and a ULT of another pool than the waker's if still
 * others are queued. That may be behind others of its stream, so that after a number of unlocks (QUIET) the next waiter
 * is woken in any case.
 *
 * A free mutex may be barged, since the woken waiter may not run for long: its ES is busy, waits for the very caller
 * that wants the mutex, or is no more. But when the next unit to run on the caller's ES is the one that was woken (the
 * *successor*), in the caller's own FIFO pool, a ULT queues and leaves to it: the successor runs at once and takes the
 * mutex, if nobody else does. So ULTs of one pool that lock, yield and unlock take turns and switch once for each. If
 * the successor is queued further behind in that pool, the ULT yields, once, and then takes the mutex: it does not wait
 * for anybody, and does not keep those of its pool from it.
 *
 * The word is a set of bits. RECURSIVE is constant, set by the static initialiser in the first word of the storage.
 *
 *   LOCKED    somebody holds it. Set by the lock, cleared by the unlock.
 *   WAITERS   a queue may not be empty. Set under `lock` by a lock that queues, cleared by the unlock that leaves none.
 *   SUCCESSOR a ULT of a FIFO pool, `successor`, was woken and has not come: nobody has taken the mutex since. Set
 *             under `lock` by the unlock, cleared by the lock. Never together with LOCKED.
 *   COMING    a waiter was woken from afar and has not come. Set under `lock` by the unlock, cleared by the next woken
 *             waiter that takes the mutex or queues again; if that was woken before, one too many may be woken.
 *   QUIET     how many unlocks with WAITERS wake nobody, or ALWAYS. Set and cleared with COMING, ALWAYS for a native
 *             thread. Each of these unlocks subtracts one.
 *
 *   from                         to                                   by
 *   LOCKED, x                    LOCKED, WAITERS, x                   lock, which queues
 *   SUCCESSOR, x                 SUCCESSOR, WAITERS, x                lock, which queues and leaves to the successor
 *   LOCKED, WAITERS, x           SUCCESSOR, or COMING and QUIET, or   unlock, which takes one waiter out and wakes it,
 *     without QUIET              none, WAITERS if there are more, x   and with it all of `near` if its pool is another
 *   LOCKED, x otherwise          x, with WAITERS QUIET less one       unlock
 *   COMING, QUIET, x             x                                    a woken waiter, when it locks or queues
 *   x without LOCKED             LOCKED, x without SUCCESSOR          lock, trylock, a woken waiter
 *
 * No wake-up is lost: while the mutex is not locked and somebody is queued, some waiter is awake that has been taken
 * out of a queue and has not come yet. For lock queues only while the mutex is locked, or behind the successor, which
 * is such a waiter and runs next; unlock wakes one, unless QUIET says that the last one is still COMING; a poll takes
 * only the waiter itself out, which then is awake; and a woken waiter takes the mutex or finds it locked and queues
 * again.
 *
 * Nobody waits for ever for the one that was woken. A queued waiter polls the mutex from time to time, first after a
 * millisecond, in the end some eight times a second. When it finds the mutex free, it leaves the queue and competes. A
 * native thread, such as that of an ES with a tasklet, sleeps no longer than until its next poll; for a ULT its ES
 * polls, by a timer. A ULT in `near`, of a FIFO pool, need not poll. Since it is in that queue, every unlock has woken
 * a native thread, or a ULT of the same pool: when one of another pool is woken, all of `near` are woken with it, and
 * then compete or queue anew, behind the others. Or it was quiet: then the last waiter woken from afar is COMING, a
 * native thread or a ULT of this pool, since from its wake on the mutex belongs to its pool, until another is woken.
 * The woken ULT is queued in the pool before anything that is pushed later: it runs before the ULT could, unless the
 * user takes it out of that pool and keeps it from running. A poll comes when the ES where the ULT has queued checks
 * events, which may be held up as the one of the woken ULT is.
 *
 * A mutex may go as soon as its last lock and unlock have returned: unlock touches it for the last time when it clears
 * LOCKED or, if it wakes somebody, when it releases `lock`, before the wake, and the woken waiter has not returned from
 * lock. Nor has a ULT that yields to the successor, or for which its ES polls: the poll holds the lock of the ES's
 * timers, which the waiter takes before it returns, unless it sees that the last poll is over.
 */
#ifndef ABTI_SYNC_MUTEX_H
#define ABTI_SYNC_MUTEX_H

#include "sync/waitq.h"

enum {
    ABTI_MUTEX_RECURSIVE = 1 << 0,
    ABTI_MUTEX_LOCKED = 1 << 1,
    ABTI_MUTEX_WAITERS = 1 << 2,
    ABTI_MUTEX_SUCCESSOR = 1 << 3,
    ABTI_MUTEX_COMING = 1 << 4,
    ABTI_MUTEX_QUIET = 127 << 5, /* all of its bits: ALWAYS */
    ABTI_MUTEX_ONE_QUIET = 1 << 5,
    ABTI_MUTEX_QUIET_UNLOCKS = 64, /* doc/tuning.md */
};

/* Static initialisers are zeros, but for RECURSIVE in the first word. */
struct ABT_mutex_opaque {
    _Atomic(uint32_t) word;    /* see above */
    struct abti_spin lock;     /* guards the fields that name it */
    uint32_t depth;            /* of a recursive one: how many unlocks leave it locked. Only the owner uses it */
    uint32_t owner_room[3];    /* see abti_mutex_owner_at */
    struct abti_waitq near;    /* lock: ULTs that queued while their pool was the home pool */
    struct abti_waitq waiters; /* lock: the other waiters */
    abti_pool_p4 home;         /* lock: the pool of the last ULT woken from `waiters`. Only compared: it may be freed */
    abti_unit_p4 successor;    /* lock: the ULT of a FIFO pool that was woken last. Only compared, too */
};

_Static_assert(sizeof(struct ABT_mutex_opaque) <= sizeof(ABT_mutex_memory) &&
                   _Alignof(struct ABT_mutex_opaque) == _Alignof(ABT_mutex_memory),
               "lives in the users' storage");

struct ABT_mutex_attr_opaque {
    uint32_t attrs;
};

/*
 * They always return ABT_SUCCESS, so that the public functions end in a jump, and a ULT that had to wait goes on in
 * fewer returns.
 */
int abti_mutex_lock_slow(ABT_mutex mutex);
int abti_mutex_unlock_slow(ABT_mutex mutex);

/* Unlocks. Returns the waiters to wake, linked by `next`, first the one whose turn it is. NULL: none. */
struct abti_waiter *abti_mutex_release_slow(ABT_mutex mutex) ABTI_MUST_CHECK;

/*
 * What the word of a mutex is that nobody has, and that somebody has, with nothing else to be said: such a mutex is
 * taken and dropped at once. While owners are watched it is what no word ever holds, so that nobody finds it. Written
 * before the first lock.
 */
extern struct abti_mutex_quick {
    uint32_t free, held;
} abti_mutex_quick ABTI_HIDDEN;

/* Takes the mutex in the common case: it is not recursive, it is free, and nobody waits. */
ABTI_INLINE bool abti_mutex_take_plain(ABT_mutex mutex)
{
    uint32_t word = abti_mutex_quick.free;
    /* acquire: pairs with the release that clears LOCKED, in abti_mutex_drop_plain or release_plain */
    return ABTI_LIKELY(abti_cas_word(&mutex->word, &word, ABTI_MUTEX_LOCKED));
}

/* Drops the mutex in the common case: it is not recursive, and nobody waits. */
ABTI_INLINE bool abti_mutex_drop_plain(ABT_mutex mutex)
{
    uint32_t word = abti_mutex_quick.held;
    /* release: pairs with the acquire that sets LOCKED: abti_mutex_take_plain, take_or_announce */
    return ABTI_LIKELY(abti_cas_own_word(&mutex->word, &word, 0));
}

ABTI_INLINE bool abti_mutex_is_recursive(ABT_mutex mutex)
{
    return (abti_load_relaxed(&mutex->word) & ABTI_MUTEX_RECURSIVE) != 0;
}

/* While nobody has a mutex: the owners of all of them are kept from now on, or of recursive ones only. */
void abti_mutex_watch_owners(bool watch);

/*
 * The owner: a work unit, an address of its own for a native thread that is none, or NULL: nobody, or it is not kept.
 * Others may read while the owner changes, so it is one atomic word, at the first place in its room where it is
 * aligned.
 */
ABTI_INLINE _Atomic(const void *) *abti_mutex_owner_at(ABT_mutex mutex)
{
    return (_Atomic(const void *) *)(((uintptr_t)mutex->owner_room + 7) & ~(uintptr_t)7);
}

/* relaxed: it is the caller if and only if the caller stored that */
ABTI_INLINE const void *abti_mutex_owner(ABT_mutex mutex)
{
    return abti_load_relaxed(abti_mutex_owner_at(mutex));
}

/* The caller, as an owner. */
const void *abti_mutex_self(void);

ABTI_INLINE int abti_mutex_lock(ABT_mutex mutex)
{
    return abti_mutex_take_plain(mutex) ? ABT_SUCCESS : abti_mutex_lock_slow(mutex);
}

/* Unlocks, but leaves it to the caller to wake the waiters that are returned, if any, by abti_waiter_wake_list. */
ABTI_INLINE struct abti_waiter *abti_mutex_release(ABT_mutex mutex)
{
    return abti_mutex_drop_plain(mutex) ? NULL : abti_mutex_release_slow(mutex);
}

ABTI_INLINE int abti_mutex_unlock(ABT_mutex mutex)
{
    return abti_mutex_drop_plain(mutex) ? ABT_SUCCESS : abti_mutex_unlock_slow(mutex);
}

/* Takes the mutex. False when another caller holds it. */
bool abti_mutex_trylock(ABT_mutex mutex) ABTI_MUST_CHECK;

#endif

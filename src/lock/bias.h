/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock that is biased to one thread: while nobody else comes, that thread enters and leaves by plain stores. Another
 * thread first takes the bias away, which costs it a system call and the owner nothing but an interruption; a
 * thread that then comes alone for a long time gets the bias.
 *
 * A thread takes part by a word of its own, which says which lock it is in by the bias, and which is never freed. One
 * without such a word (NULL) gets no bias. A thread is in one lock at a time by the bias: while it is, it may not take
 * another; one that it has by abti_bias_lock_long does not count.
 *
 *   owner   NONE -> a thread's word     under spin, by the thread, which has spin
 *           a thread's word -> NONE     under spin, by anybody
 *   inside  NULL <-> the lock           by its thread alone
 *
 * Entering: the owner stores `inside` (1), then looks whether it still is the owner (2); if not, it takes `inside` back
 * and goes by spin. Taking away, under spin: the other stores NONE (3), makes every thread execute a fence (4), and
 * waits until it sees that the owner is not inside (5). If the owner's fence comes before (1), then (2) comes after it
 * and sees (3): it does not enter. If it comes after (1), then (5) sees (1), or what the owner has stored to the same
 * word since, when it left. So when (5) has ended, the owner is not in the lock by the bias, and no owner can be before
 * spin is released. All stores to `inside` are releases, for (5) to acquire: the owner's stores are seen. The other way
 * round spin orders it: the old owner takes it next, or a new one had it when it got the bias.
 *
 * (1) and (2) must be kept in order by the compiler only; that is the whole gain.
 */
#ifndef ABTI_LOCK_BIAS_H
#define ABTI_LOCK_BIAS_H

#include "base/assert.h"
#include "lock/spin.h"

struct abti_bias;

struct abti_bias_user {
    _Atomic(struct abti_bias *) inside; /* the lock that the thread is in by the bias, see above; others look at it */
} ABTI_ALIGNED(ABTI_CACHE_LINE);

/*
 * Zeroed memory is a free lock, too. Locks of the library's pools get the rank of pools. While several threads use the
 * lock nobody writes the first two fields, so that the struct that contains it begins a line of memory with the third:
 * each thread reads `owner` before it takes the spin lock, and would else fetch the line of that twice.
 */
struct abti_bias {
    uint64_t since_ns;                      /* spin: when the bias was given last */
    _Atomic(struct abti_bias_user *) owner; /* the word of the thread that has the bias, see above; NULL: none */
    struct abti_spin spin;
    _Atomic(uint16_t) streak; /* spin: how often `last` has come one after the other. Others read it, too */
    uint16_t need;            /* spin: how often it must do so */
    _Atomic(struct abti_bias_user *) last; /* spin: the word of the thread that came last; others read it without the
                                              lock */
};

/* There may be biases from now on. False: not yet, the system has to be asked first for what they need. */
bool abti_bias_init(void);

/* Asks the system, which may take long, and nobody is to wait for it. Locks may be in use. */
void abti_bias_ask(void);

/* Leaves the lock that the caller has entered by the bias. */
ABTI_INLINE void abti_bias_leave(struct abti_bias_user *me)
{
    if (ABTI_BUILD_ASSERT)
        abti_lockrank_leave(&abti_load_relaxed(&me->inside)->spin);
    /* release: pairs with the acquire in take_away (lock/bias.c) */
    abti_store_release(&me->inside, NULL);
}

/* Enters by the bias. False when `me`, which is not NULL, has not got it. */
ABTI_INLINE bool abti_bias_enter(struct abti_bias *lock, struct abti_bias_user *me)
{
    abti_assert(!abti_load_relaxed(&me->inside));
    /*
     * release: pairs with the acquire in take_away (lock/bias.c). A read of the word finds the lock that it was in
     * before, or this one, and all that it did there. The signal fence is for the compiler, see above, and pairs with
     * fence_all (lock/bias.c).
     */
    abti_store_release(&me->inside, lock);
    atomic_signal_fence(memory_order_seq_cst);
    /* relaxed: the order of (1) and (2), see above, is all that matters */
    if (ABTI_LIKELY(abti_load_relaxed(&lock->owner) == me)) {
        if (ABTI_BUILD_ASSERT) {
            abti_lockrank_check(&lock->spin, ABTI_RANK_POOL);
            abti_lockrank_enter(&lock->spin, ABTI_RANK_POOL);
        }
        return true;
    }
    /* release: pairs with the acquire in take_away */
    abti_store_release(&me->inside, NULL);
    return false;
}

/* Locks by spin. `me` may get the bias at that, unless it is NULL. */
void abti_bias_lock_and_count(struct abti_bias *lock, struct abti_bias_user *me);

/* Locks by spin. The bias of another thread is taken away, and nobody gets it. */
void abti_bias_lock_by_spin(struct abti_bias *lock, struct abti_bias_user *me);

/* Locks as abti_bias_lock does, but gives up at once when another thread holds the lock in the plain way. */
bool abti_bias_trylock(struct abti_bias *lock, struct abti_bias_user *me);

/*
 * Whether another thread than `me` comes again and again, as one does that makes units or runs them, and thieves do
 * not. relaxed: these are hints
 */
ABTI_INLINE bool abti_bias_is_other_at_work(const struct abti_bias *lock, const struct abti_bias_user *me)
{
    return abti_load_relaxed(&lock->last) != me && abti_load_relaxed(&lock->streak) > 1;
}

/* Locks by spin for a caller that may take other locks meanwhile. */
ABTI_INLINE void abti_bias_lock_long(struct abti_bias *lock, struct abti_bias_user *me)
{
    abti_bias_lock_by_spin(lock, me);
    if (ABTI_BUILD_ASSERT)
        abti_lockrank_change(&lock->spin, ABTI_RANK_WALK);
}

/* Locks in any way. `me` is NULL for a thread without a word. */
ABTI_INLINE void abti_bias_lock(struct abti_bias *lock, struct abti_bias_user *me)
{
    if (ABTI_UNLIKELY(!me || !abti_bias_enter(lock, me)))
        abti_bias_lock_and_count(lock, me);
}

ABTI_INLINE void abti_bias_unlock(struct abti_bias *lock, struct abti_bias_user *me)
{
    if (ABTI_LIKELY(me && abti_load_relaxed(&me->inside) == lock))
        abti_bias_leave(me);
    else
        abti_spin_unlock(&lock->spin);
}

#endif

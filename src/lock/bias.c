/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock/bias.h"

#include <time.h>
#include "lock/membarrier.h"
#include "os/clock.h"

/*
 * A bias that is taken away soon was given too early: a thread that comes alone must do so for longer then. To take
 * it away costs as much as some hundred locked instructions.
 */
enum { NEED_MIN = 256, NEED_MAX = 2048, SOON_NS = 200000 };

static _Atomic(bool) have_membarrier;

bool abti_bias_init(void)
{
    bool is_ready = abti_membarrier_is_ready();
    abti_store_relaxed(&have_membarrier, is_ready); /* relaxed: no other thread uses a lock yet */
    return is_ready;
}

void abti_bias_ask(void)
{
    /*
     * relaxed: a thread that sees it gives a bias, and the thread that takes that away calls abti_membarrier later than
     * this has asked the system: the lock orders it with the thread that gave the bias.
     */
    if (abti_membarrier_init())
        abti_store_relaxed(&have_membarrier, true);
}

/*
 * Lets all threads fence. The system, which promised it, may suddenly refuse, when a filter of calls tells it so. Then
 * nobody gets a bias any more, and for those that have one the caller waits for longer than any processor keeps a store
 * back. relaxed: a thread that misses the change asks for the fence again, and comes here.
 *
 * No architecture says how long that is, but all that this needs of one is: a store that an owner has executed, (1) in
 * lock/bias.h, reaches memory within 10 ms, though it be interrupted or lose its processor behind it; and a load that
 * is executed so long after (3) returns what (3) stored. Store buffers empty themselves, within microseconds, when
 * caches are coherent, and a load is executed, or executed anew, after the interrupt that came before it. That the two
 * may pass each other, and which other loads and stores do, on x86-64, ARM64 or POWER, does not matter: an owner whose
 * (2) missed (3) has executed (2) before (3) or just behind it, and (1), which is before (2), not much later; so
 * (5) sees (1), or what came after.
 */
static void fence_all(void)
{
    if (ABTI_LIKELY(abti_membarrier()))
        return;
    abti_store_relaxed(&have_membarrier, false);
    struct timespec ts = {0, 10000000};
    nanosleep(&ts, NULL);
}

/*
 * Takes the bias away from `owner`, another thread. spin is held. relaxed: fence_all orders the store, see lock/bias.h.
 */
static ABTI_COLD void take_away(struct abti_bias *lock, struct abti_bias_user *owner)
{
    abti_assert(abti_spin_is_mine(&lock->spin));
    abti_store_relaxed(&lock->owner, NULL);
    fence_all();
    /* acquire: pairs with the releases in abti_bias_enter and abti_bias_leave */
    abti_spin_until(abti_load_acquire(&owner->inside) != lock);
    bool soon = abti_clock_mono_ns() - lock->since_ns < SOON_NS;
    uint32_t need = lock->need < NEED_MIN ? NEED_MIN : lock->need;
    if (soon && need < NEED_MAX)
        need *= 2;
    else if (!soon && need > NEED_MIN)
        need /= 2;
    lock->need = (uint16_t)need;
}

/* Sees to it that nobody but the caller, which has spin, is or comes into the lock by the bias. */
static void bias_exclude(struct abti_bias *lock, struct abti_bias_user *me)
{
    /* relaxed: spin orders it, and `me` alone would see the last store without. No store: others read the line */
    struct abti_bias_user *owner = abti_load_relaxed(&lock->owner);
    if (ABTI_LIKELY(!owner))
        return;
    if (owner != me)
        take_away(lock, owner);
    else
        abti_store_relaxed(&lock->owner, NULL);
}

/*
 * Excludes others, counts that `me` has come, and gives it the bias when its time has come. spin is held. relaxed: spin
 * orders the words, and an owner that sees its own address has stored it itself.
 */
static void bias_come(struct abti_bias *lock, struct abti_bias_user *me)
{
    abti_assert(abti_spin_is_mine(&lock->spin));
    bias_exclude(lock, me);
    if (abti_load_relaxed(&lock->last) != me) {
        abti_store_relaxed(&lock->last, me);
        abti_store_relaxed(&lock->streak, 0);
    }
    uint16_t streak = (uint16_t)(abti_load_relaxed(&lock->streak) + 1);
    abti_store_relaxed(&lock->streak, streak);
    if (streak < lock->need || streak < NEED_MIN || !me || !abti_load_relaxed(&have_membarrier))
        return;
    abti_store_relaxed(&lock->streak, 0);
    lock->since_ns = abti_clock_mono_ns();
    abti_store_relaxed(&lock->owner, me);
}

void abti_bias_lock_by_spin(struct abti_bias *lock, struct abti_bias_user *me)
{
    abti_spin_lock(&lock->spin);
    bias_exclude(lock, me);
}

bool abti_bias_trylock(struct abti_bias *lock, struct abti_bias_user *me)
{
    if (abti_bias_enter(lock, me))
        return true;
    if (abti_load_relaxed(&lock->spin.word) & ABTI_SPIN_HELD || !abti_spin_trylock(&lock->spin))
        return false;
    bias_come(lock, me);
    return true;
}

void abti_bias_lock_and_count(struct abti_bias *lock, struct abti_bias_user *me)
{
    abti_spin_lock(&lock->spin);
    bias_come(lock, me);
}

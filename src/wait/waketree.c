/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/waketree.h"

#include "base/compiler.h"
#include "wait/threadword.h"
#include "wait/word.h"

/*
 * Each waking thread has a tree, so that unrelated wakers share no line and leave no wakes to each other's sleepers. A
 * thread that is woken learns the tree's number with its wake. A tree belongs to no thread's memory: threads that were
 * woken come to it even if their waker has ended. Threads with the same hash have one tree together, as has a thread
 * with its handlers of signals.
 *
 * The lower half of `state` has a bit for each slot with a word to be woken. The upper half, signed, is the number of
 * threads that are going to read these bits: those that were woken and have not arrived, and those in
 * abti_waketree_wake. A thread that arrives before its wake was counted makes it too small for a moment, never too
 * large.
 *
 *   slot    empty -> filled    by a waker, which then sets the bit
 *           filled -> empty    by the thread that has cleared the bit, which then wakes
 *   state   + ONE              by a thread that is going to wake another, in its place
 *           - ONE              by a thread that has arrived, or, with the bit, that has filled a slot
 *
 * No wake is lost: a thread that takes ONE away reads the bits by the same operation. It wakes what they say, unless it
 * has set one itself and others are still to look, the last of whom finds all bits that were set before. Nobody waits
 * for another thread here. The word of a slot may be gone: the slot has its address only, as in abti_futex_wake.
 *
 * relaxed, elsewhere: operations on one word have one order.
 */
enum { WAKETREE_BITS = 6, WAKETREES = 1 << WAKETREE_BITS, WAKETREE_ENOUGH = 3, WAKETREE_SLOTS = 7 };
#define WAKETREE_ONE ((uint64_t)1 << 32)

static struct waketree {
    _Atomic(uint64_t) state;
    _Atomic(_Atomic(uint32_t) *) slots[WAKETREE_SLOTS]; /* a thread that changes the state has them, too */
} ABTI_ALIGNED(ABTI_CACHE_LINE) trees[1 + WAKETREES];   /* the first is nobody's */

uint32_t abti_waketree_own(void)
{
    return 1 + (uint32_t)(abti_thread_hash() >> (64 - WAKETREE_BITS));
}

static int32_t num_coming(uint64_t state)
{
    return (int32_t)(state / WAKETREE_ONE);
}

void abti_waketree_help(uint32_t number)
{
    struct waketree *tree = &trees[number];
    uint64_t state;
    while ((uint32_t)(state = abti_load_relaxed(&tree->state)) != 0) { /* relaxed: a hint */
        uint64_t bit = state & -state;
        /*
         * acquire, release: pair with those in abti_waketree_wake. A thread that sees a bit set finds the slot filled,
         * and one that sees a slot empty finds the bit cleared.
         */
        if (abti_cas_acquire(&tree->state, &state, state - bit + WAKETREE_ONE))
            abti_word_wake(abti_exchange_release(&tree->slots[__builtin_ctzll(bit)], NULL));
    }
}

void abti_waketree_wake(_Atomic(uint32_t) *word)
{
    uint32_t number = abti_waketree_own();
    struct waketree *tree = &trees[number];
    bool enough = num_coming(abti_fetch_add_relaxed(&tree->state, WAKETREE_ONE)) >= WAKETREE_ENOUGH;
    for (unsigned i = 0; i < WAKETREE_SLOTS && enough; i++) {
        _Atomic(uint32_t) *empty = NULL;
        /* acquire, release: pair with those in abti_waketree_help */
        if (!abti_cas_acquire(&tree->slots[i], &empty, word))
            continue;
        if (num_coming(abti_fetch_add_release(&tree->state, ((uint64_t)1 << i) - WAKETREE_ONE)) <= 1)
            abti_waketree_help(number);
        return;
    }
    abti_word_wake(word);
}

void abti_waketree_arrive(uint32_t number)
{
    if ((uint32_t)abti_fetch_add_relaxed(&trees[number].state, -WAKETREE_ONE) != 0)
        abti_waketree_help(number);
}

void abti_waketree_forget(void)
{
    for (int i = 0; i <= WAKETREES; i++)
        abti_store_relaxed(&trees[i].state, 0); /* relaxed: there is no other thread. A slot that is filled stays so */
}

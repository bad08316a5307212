/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/sleeper.h"

#include "base/assert.h"
#include "lock/lockrank.h"
#include "os/affinity.h"
#include "os/wakefd.h"
#include "wait/waketree.h"
#include "wait/word.h"

/*
 * seq_cst, everywhere here: the sleeper stores its announcement (abti_sleeper_prepare) and then loads the
 * word of its object; the waker stores that and then loads the sleeper's word (abti_sleeper_claim). So one of the two
 * sees the store of the other.
 */

enum { TREE_BITS = 7 };

static uint32_t state_of(uint32_t word)
{
    return word % (1 << ABTI_SLEEPER_BITS);
}

/* Which CPU the caller is on, as a number that fits above that of a tree; 0: the system does not say. */
static uint32_t cpu_here(void)
{
    return (uint32_t)abti_affinity_here() + 1;
}

void abti_sleeper_prepare(struct abti_sleeper *s)
{
    abti_assert(abti_load_seq_cst(&s->word) == ABTI_AWAKE);
    abti_waketree_help(abti_waketree_own());
    abti_store_seq_cst(&s->word, ABTI_ASLEEP);
}

void abti_sleeper_prepare_fd(struct abti_sleeper *s, int signal_fd)
{
    abti_assert(abti_load_seq_cst(&s->word) == ABTI_AWAKE);
    abti_assert(signal_fd >= 0 && (uint32_t)signal_fd <= UINT32_MAX >> ABTI_SLEEPER_BITS);
    abti_store_seq_cst(&s->word, ABTI_IN_LOOP | (uint32_t)signal_fd << ABTI_SLEEPER_BITS);
}

bool abti_sleeper_sleep(struct abti_sleeper *s, uint64_t deadline_ns)
{
    bool in_time = true;
    while (abti_load_seq_cst(&s->word) == ABTI_ASLEEP && in_time)
        in_time = abti_word_wait(&s->word, ABTI_ASLEEP, deadline_ns);
    return abti_sleeper_cancel(s);
}

bool abti_sleeper_cancel(struct abti_sleeper *s)
{
    uint32_t word = atomic_exchange(&s->word, ABTI_AWAKE), waker = word >> ABTI_SLEEPER_BITS;
    bool woken = state_of(word) == ABTI_WOKEN;
    uint32_t tree = woken ? waker % (1 << TREE_BITS) : 0, cpu = woken ? waker >> TREE_BITS : 0;
    if (tree != 0)
        abti_waketree_arrive(tree);
    s->beside = cpu != 0 && cpu == cpu_here();
    return woken;
}

bool abti_sleeper_is_woken(struct abti_sleeper *s)
{
    return state_of(abti_load_seq_cst(&s->word)) == ABTI_WOKEN;
}

/*
 * Once the word is exchanged its thread may go on, and the sleeper may be freed. So all that the wake needs is in a
 * wakeup: the address of the word, which need not be valid any more, or a file descriptor, marked by the lowest bit.
 *
 * When the exchange fails after the poll, the thread has been awake in between, and polls again before it sleeps.
 */
static abti_wakeup sleeper_claim(struct abti_sleeper *s)
{
    abti_assert(s && ((uintptr_t)s & 1) == 0);
    uint32_t word = abti_load_seq_cst(&s->word);
    bool in_loop = state_of(word) == ABTI_IN_LOOP;
    if (word != ABTI_ASLEEP && !in_loop)
        return NULL;
    uint32_t waker = (in_loop ? 0 : abti_waketree_own()) | cpu_here() << TREE_BITS;
    if (!atomic_compare_exchange_strong(&s->word, &word, ABTI_WOKEN | waker << ABTI_SLEEPER_BITS))
        return NULL;
    return (abti_wakeup)(in_loop ? (uintptr_t)(word >> ABTI_SLEEPER_BITS) << 1 | 1 : (uintptr_t)s);
}

static void wakeup_send(abti_wakeup wakeup)
{
    uintptr_t how = (uintptr_t)wakeup;
    if (ABTI_LIKELY(how == 0))
        return;
    if (how & 1)
        abti_wakefd_signal((int)(how >> 1));
    else
        abti_waketree_wake(&((struct abti_sleeper *)how)->word);
}

bool abti_sleeper_wake(struct abti_sleeper *s)
{
    abti_wakeup wakeup = sleeper_claim(s);
    wakeup_send(wakeup);
    return wakeup != NULL;
}

abti_wakeup abti_sleeper_claim(struct abti_sleeper *s)
{
    abti_wakeup wakeup = sleeper_claim(s);
    if (ABTI_BUILD_ASSERT && wakeup)
        abti_lockrank_enter(wakeup, ABTI_RANK_WAKEUP);
    return wakeup;
}

void abti_wakeup_send(abti_wakeup wakeup)
{
    if (ABTI_BUILD_ASSERT && wakeup)
        abti_lockrank_leave(wakeup);
    wakeup_send(wakeup);
}

bool abti_wakeup_is_sure(abti_wakeup wakeup)
{
    return ((uintptr_t)wakeup & 1) == 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/word.h"

#include "base/assert.h"
#include "os/clock.h"
#include "wait/external.h"

ABTI_INLINE bool word_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    if (ABTI_BUILD_WAIT_ACTIVE)
        return abti_spin_on(word, expected, deadline_ns);
    return abti_futex_wait(word, expected, deadline_ns);
}

/* A wait that only a waker ends is shown to the check for deadlocks, while that is on. */
bool abti_word_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    /* relaxed: the check is on before the waits that it has to see */
    struct abti_known *known = abti_load_relaxed(&abti_externals_are_wanted) ? abti_known_self : NULL;
    if (ABTI_LIKELY(!known) || (deadline_ns != ABTI_CLOCK_NEVER && !known->only_polls))
        return word_wait(word, expected, deadline_ns);
    abti_store_relaxed(&known->value, expected); /* relaxed: the next store publishes it */
    abti_store_release(&known->word, word);      /* release: pairs with the acquire in abti_known_is_asleep */
    bool in_time = word_wait(word, expected, deadline_ns);
    abti_store_relaxed(&known->word, NULL); /* relaxed: late at most */
    return in_time;
}

bool abti_word_await_change(_Atomic uint32_t *word, uint32_t value, uint64_t deadline_ns)
{
    abti_assert(word);
    /*
     * acquire: pairs with the release by which the caller's partner changes the word: in set_control
     * (stream/xstream.c), halt_act (stream/halt.c), abti_reclaim_fini (stream/reclaim.c) and set_turn
     * (stream/carrier.c)
     */
    while (abti_load_acquire(word) == value) {
        if (!abti_futex_wait(word, value, deadline_ns))
            return false;
    }
    return true;
}

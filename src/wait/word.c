#include "wait/word.h"

#include "base/assert.h"
#include "os/clock.h"

bool abti_word_await_change(_Atomic uint32_t *word, uint32_t value, uint64_t deadline_ns)
{
    abti_assert(word);
    /*
     * acquire: pairs with the release by which the caller's partner changes the word: in set_control
     * (stream/xstream.c), act (stream/halt.c) and abti_reclaim_fini (stream/reclaim.c)
     */
    while (abti_load_acquire(word) == value) {
        if (!abti_futex_wait(word, value, deadline_ns))
            return false;
    }
    return true;
}

void abti_word_await_past(_Atomic uint32_t *word, uint32_t count)
{
    abti_assert(word);
    uint32_t now;
    /* acquire: pairs with the release by which the caller's partner counts, in abti_xbarrier_wait (sync/xbarrier.c) */
    while ((int32_t)((now = abti_load_acquire(word)) - count) <= 0)
        abti_word_wait(word, now, ABTI_CLOCK_NEVER);
}

#include "wait/word.h"

#include "os/clock.h"

bool abti_word_await_change(_Atomic uint32_t *word, uint32_t value, uint64_t deadline_ns)
{
    /* acquire: pairs with the release of whoever changes it */
    while (abti_load_acquire(word) == value) {
        if (!abti_futex_wait(word, value, deadline_ns))
            return false;
    }
    return true;
}

void abti_word_await_past(_Atomic uint32_t *word, uint32_t count)
{
    uint32_t now;
    /* acquire: pairs with the release of whoever counts */
    while ((int32_t)((now = abti_load_acquire(word)) - count) <= 0)
        abti_word_wait(word, now, ABTI_CLOCK_NEVER);
}

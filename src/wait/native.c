#include "wait/native.h"

#include "arch/cpu.h"
#include "wait/sleeper.h"
#include "wait/word.h"

/* How often a native thread looks before it sleeps: less than a wake by the system takes. */
enum { WAITER_LOOKS = 40 };

bool abti_native_is_woken(_Atomic(uint32_t) *word)
{
    /* acquire: pairs with the exchange in its waker */
    return abti_load_acquire(word) == ABTI_WOKEN;
}

/* It may be woken within less time than a system call takes. */
bool abti_native_is_woken_soon(_Atomic(uint32_t) *word, uint32_t looks)
{
    for (uint32_t i = 0; i < looks; i++) {
        if (abti_native_is_woken(word))
            return true;
        abti_cpu_relax();
    }
    return false;
}

/* The native thread waits for the wake; false when the deadline has passed before. */
bool abti_native_wait(_Atomic(uint32_t) *word, uint64_t deadline_ns)
{
    if (abti_native_is_woken_soon(word, WAITER_LOOKS))
        return true;
    uint32_t awake = ABTI_AWAKE;
    /* Fails when it is woken already, or when it is ASLEEP from an earlier wait for the same wake. */
    (void)abti_cas_acq_rel(word, &awake, ABTI_ASLEEP);
    for (bool in_time = true; !abti_native_is_woken(word) && in_time;)
        in_time = abti_word_wait(word, ABTI_ASLEEP, deadline_ns);
    return abti_native_is_woken(word);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/native.h"

#include <errno.h>
#include <time.h>
#include "arch/cpu.h"
#include "base/assert.h"
#include "wait/sleeper.h"
#include "wait/word.h"

bool abti_native_is_woken(_Atomic(uint32_t) *word)
{
    /* acquire: pairs with the exchange to WOKEN by the waker (abti_waiter_wake in sync/waiter.c) */
    return abti_load_acquire(word) == ABTI_WOKEN;
}

bool abti_native_wait(_Atomic(uint32_t) *word, uint64_t deadline_ns)
{
    abti_assert(word);
    uint32_t awake = ABTI_AWAKE;
    /*
     * This fails when the word is WOKEN already, or ASLEEP from an earlier wait for the same wake. relaxed: the load of
     * WOKEN orders what comes after the wake, and the waker reads nothing by ASLEEP.
     */
    (void)abti_cas_relaxed(word, &awake, ABTI_ASLEEP);
    for (bool in_time = true; !abti_native_is_woken(word) && in_time;)
        in_time = abti_word_wait(word, ABTI_ASLEEP, deadline_ns);
    return abti_native_is_woken(word);
}

void abti_pause(uint64_t ns)
{
    const uint64_t second = 1000000000;
    (void)nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / second), .tv_nsec = (long)(ns % second)}, NULL);
}

void abti_pause_for(sem_t *posted)
{
    while (sem_wait(posted) != 0 && errno == EINTR)
        ;
}

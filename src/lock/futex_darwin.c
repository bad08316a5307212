/* SPDX-License-Identifier: BSD-3-Clause */
/* macOS: by the calls that its C++ library waits with, since those for everybody came late. */
#include "lock/futex.h"

#include <errno.h>
#include "base/assert.h"
#include "base/compiler.h"
#include "lock/lockrank.h"
#include "os/clock.h"

enum { COMPARE_AND_WAIT = 1, WAKE_ALL = 0x100, NO_ERRNO = 0x1000000 };

/* The names and numbers are the system's, and in none of its headers. A timeout of 0 is none. */
int __ulock_wait(uint32_t operation, void *address, uint64_t value, uint32_t timeout_us);
int __ulock_wake(uint32_t operation, void *address, uint64_t wake_value);

static uint32_t futex_us(uint64_t ns)
{
    return ns / 1000 < UINT32_MAX ? (uint32_t)(ns / 1000) + 1 : UINT32_MAX;
}

bool abti_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    abti_assert(abti_lockrank_may_sleep());
    uint32_t timeout = 0;
    if (deadline_ns != ABTI_CLOCK_NEVER) {
        uint64_t now = abti_clock_mono_ns();
        if (now >= deadline_ns)
            return false;
        timeout = futex_us(deadline_ns - now);
    }
    int r = __ulock_wait(COMPARE_AND_WAIT | NO_ERRNO, (void *)word, expected, timeout);
    return r != -ETIMEDOUT || abti_clock_mono_ns() < deadline_ns;
}

void abti_futex_wake(_Atomic uint32_t *word)
{
    __ulock_wake(COMPARE_AND_WAIT | NO_ERRNO, (void *)word, 0);
}

void abti_futex_wake_all(_Atomic uint32_t *word)
{
    __ulock_wake(COMPARE_AND_WAIT | WAKE_ALL | NO_ERRNO, (void *)word, 0);
}

void abti_futex_forget_sleepers(void)
{
    /* The system keeps a list for each process. */
}

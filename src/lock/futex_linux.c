/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/compiler.h"
#include "lock/lockrank.h"
#include "os/clock.h"

/* How long a wait takes that the system refuses: some thousand polls a second cost a few hundredths of a CPU. */
enum { NAP_NS = 500000 };

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / ABTI_NS_PER_SEC), .tv_nsec = (long)(ns % ABTI_NS_PER_SEC)};
}

/*
 * The system may refuse the call by a filter, at any time. Then nobody is woken, and a sleeper polls again
 * every now and then: what the C library has for that would need the same call.
 */
static ABTI_COLD bool futex_nap(uint64_t deadline_ns)
{
    uint64_t now = abti_clock_mono_ns();
    if (now >= deadline_ns)
        return false;
    struct timespec ts = timespec_of(deadline_ns - now < NAP_NS ? deadline_ns - now : NAP_NS);
    nanosleep(&ts, NULL);
    return true;
}

bool abti_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    abti_assert(abti_lockrank_may_sleep());
    struct timespec ts = timespec_of(deadline_ns);
    struct timespec *timeout = deadline_ns != ABTI_CLOCK_NEVER ? &ts : NULL;
    /* FUTEX_WAIT_BITSET takes an absolute monotonic time, so that a wait cut short by a signal needs no arithmetic. */
    long r = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, timeout, NULL,
                     FUTEX_BITSET_MATCH_ANY);
    if (r == 0 || errno == EAGAIN || errno == EINTR)
        return true;
    return errno != ETIMEDOUT && futex_nap(deadline_ns);
}

void abti_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

void abti_futex_wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_self_sleep and ABTX_after: times. */
#include <sched.h>
#include "api/check.h"
#include "os/clock.h"
#include "run/yield.h"
#include "sync/gate.h"

/* A shorter sleep would be over before the caller is asleep, and a loop of such sleeps would never let others run. */
enum { SHORTEST_NS = 1000 };

int64_t ABTX_after(int64_t nanoseconds)
{
    int64_t now = (int64_t)abti_clock_mono_ns();
    return nanoseconds > INT64_MAX - now ? INT64_MAX : now + nanoseconds;
}

static void give_way(void)
{
    if (abti_es_self)
        abti_yield(abti_es_self, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    else
        sched_yield();
}

int ABTX_self_sleep(int64_t nanoseconds)
{
    uint64_t ns = abti_clock_deadline_of(nanoseconds);
    if (ns < SHORTEST_NS) {
        give_way();
        return ABT_SUCCESS;
    }
    struct abti_gate never = {.open = 0}; /* nobody knows it, so nobody opens it */
    uint64_t now = abti_clock_mono_ns();
    uint64_t deadline_ns = ns < ABTI_CLOCK_NEVER - now ? now + ns : ABTI_CLOCK_NEVER;
    (void)abti_gate_wait_until(&never, ABT_SYNC_EVENT_TYPE_USER, deadline_ns);
    return ABT_SUCCESS;
}

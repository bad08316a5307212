/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_thread_sleep: sleeping for a time. */
#include <sched.h>
#include "api/check.h"
#include "os/clock.h"
#include "run/yield.h"
#include "sync/gate.h"

/* A shorter sleep would be over before the caller is asleep, and a loop of such sleeps would never let others run. */
static const double SHORTEST = 1e-6;

static void give_way(void)
{
    if (abti_es_self)
        abti_yield(abti_es_self, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    else
        sched_yield();
}

int ABTX_thread_sleep(double seconds)
{
    if (ABTI_REFUSE(!(seconds >= 0.0)))
        return abti_error(ABT_ERR_INV_ARG);
    if (seconds < SHORTEST) {
        give_way();
        return ABT_SUCCESS;
    }
    struct abti_gate never = {.open = 0}; /* nobody knows it, so nobody opens it */
    (void)abti_gate_wait_until(&never, ABT_SYNC_EVENT_TYPE_USER, abti_clock_deadline_in(seconds));
    return ABT_SUCCESS;
}

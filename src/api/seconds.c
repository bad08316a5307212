/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_*: the older forms of functions, whose times are seconds as double. */
#include <math.h>
#include "api/handles.h"
#include "api/idle.h"
#include "idle/idle.h"
#include "os/clock.h"

/* Returns nanoseconds; ABTI_CLOCK_NEVER for a negative number, a very large one, or none. */
static uint64_t seconds_to_ns(double seconds)
{
    double ns = seconds * ABTI_NS_PER_SEC;
    return ns >= 0 && ns < 9.0e18 ? (uint64_t)ns : ABTI_CLOCK_NEVER;
}

static int seconds_park(int num_pools, const ABT_pool *pools, double deadline)
{
    int code = abti_check_parking(abti_es_self);
    if (code == ABT_SUCCESS && ABTI_REFUSE(isnan(deadline)))
        code = ABT_ERR_INV_ARG;
    if (code != ABT_SUCCESS)
        return code;
    return abti_park_until(num_pools, pools, deadline < 0 ? ABTI_CLOCK_NEVER : abti_clock_deadline_at(deadline));
}

int ABTX_xstream_park(double deadline)
{
    int code = seconds_park(0, NULL, deadline);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_xstream_park_on(int num_pools, const ABT_pool *pools, double deadline)
{
    static const ABT_pool none;
    int code = seconds_park(num_pools, pools ? pools : &none, deadline); /* NULL is for no pools here */
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_xstream_set_idle_hook(ABT_xstream xstream, ABTX_idle_hook_fn hook, void *arg)
{
    if (ABTI_REFUSE(ABTI_XSTREAM_IS_BAD(xstream)))
        return abti_error(ABT_ERR_INV_XSTREAM);
    int code = abti_idle_set_hook_in_seconds(xstream, hook, arg);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_poller_add(ABT_xstream xstream, ABTX_poll_fn poll, void *arg, double period)
{
    if (ABTI_REFUSE(ABTI_XSTREAM_IS_BAD(xstream)))
        return abti_error(ABT_ERR_INV_XSTREAM);
    if (ABTI_REFUSE(!poll || isnan(period)))
        return abti_error(ABT_ERR_INV_ARG);
    int code = abti_idle_add_poller(xstream, poll, arg, seconds_to_ns(period));
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_thread_sleep(double seconds)
{
    if (ABTI_REFUSE(!(seconds >= 0.0)))
        return abti_error(ABT_ERR_INV_ARG);
    abti_sleep(seconds_to_ns(seconds));
    return ABT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_xstream_*: sleeping for user-defined schedulers, wakes, and how long a stream polls before it sleeps. */
#include <errno.h>
#include <stdlib.h>
#include "api/handles.h"
#include "idle/idle.h"
#include "os/clock.h"
#include "run/sched.h"
#include "run/child.h"
#include "run/yield.h"
#include "stream/events.h"
#include "stream/park.h"
#include "stream/source.h"

/* --- Parking --- */

/* Returns the scheduler that the caller is, or NULL if it is none. */
static abti_sched *calling_sched(abti_es *es)
{
    unsigned flags = es->cur->flags;
    return flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED) ? abti_unit_cold_get(es->cur)->sched : NULL;
}

/*
 * Wakes others for units that the caller does not take. It was woken for one unit. If it finds several it takes one,
 * perhaps another one, and the threads that sleep on the same pools see to the rest. (A predefined scheduler knows
 * better: it does this when it takes one.)
 */
static void pass_surplus(const struct abti_park_set *set)
{
    size_t units = 0;
    for (int i = 0; i < set->num && units < 2; i++) {
        abti_pool *pool = set->pools[i];
        size_t many = abti_pool_is_empty(pool) ? 0 : 2; /* this stands for a pool that does not tell */
        units += abti_pool_tells_size(pool) ? abti_pool_size(pool) : many;
    }
    for (int i = 0; i < set->num && units >= 2; i++)
        abti_parking_pass(set->pools[i]);
}

static int idle_park(abti_es *es, abti_sched *sched, const struct abti_park_set *set, uint64_t deadline_ns)
{
    if (es->parent) {
        /* A stacked scheduler gives its ES to the one below. */
        abti_yield_slow(es, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
        return ABT_SUCCESS;
    }
    /* seq_cst: pairs with the store in abti_callees_update */
    if (atomic_load(&es->requests) & ABTI_ES_REQ_POLL)
        abti_idle_poll(es);
    abti_unit *unit = sched->num_pools > 0 ? abti_source_ask(es, sched) : NULL;
    if (unit)
        return abti_run_child_last(es, unit);
    abti_es_park_on(es, sched, set, deadline_ns);
    if (es->woken) {
        es->woken = false;
        pass_surplus(set);
    }
    return ABT_SUCCESS;
}

static int check_parking(abti_es *es)
{
    int code = abti_check_ult(es);
    if (code != ABT_SUCCESS)
        return code;
    return ABTI_REFUSE(!calling_sched(es)) ? ABT_ERR_INV_THREAD : ABT_SUCCESS;
}

static int check_pools(int num_pools, const ABT_pool *pools)
{
    if (ABTI_REFUSE(num_pools < 0))
        return ABT_ERR_INV_ARG;
    for (int i = 0; i < num_pools; i++) {
        if (ABTI_REFUSE(ABTI_POOL_IS_BAD(pools[i])))
            return ABT_ERR_INV_POOL;
    }
    return ABT_SUCCESS;
}

/* On its own pools if `pools` is NULL. */
static int park_until(int num_pools, const ABT_pool *pools, uint64_t deadline_ns)
{
    enum { FEW = 8 };
    abti_es *es = abti_es_self;
    abti_sched *sched = calling_sched(es);
    if (!pools) {
        struct abti_park_set own = {.num = sched->num_pools, .pools = sched->pools, .parkings = sched->parkings};
        return idle_park(es, sched, &own, deadline_ns);
    }
    int code = check_pools(num_pools, pools);
    if (code != ABT_SUCCESS)
        return code;
    struct abti_parking few[FEW], *parkings = few;
    if (num_pools > FEW && !(parkings = aligned_alloc(ABTI_CACHE_LINE, (size_t)num_pools * sizeof(*parkings))))
        return ABT_ERR_MEM;
    for (int i = 0; i < num_pools; i++)
        parkings[i] = (struct abti_parking){.own = i == 0, .may_look_out = true};
    struct abti_park_set set = {.num = num_pools, .pools = (abti_pool **)pools, .parkings = parkings};
    code = idle_park(es, sched, &set, deadline_ns);
    if (parkings != few)
        free(parkings);
    return code;
}

int ABTX_xstream_park_until(int num_pools, const ABT_pool *pools, int64_t deadline)
{
    int code = check_parking(abti_es_self);
    if (code == ABT_SUCCESS)
        code = park_until(num_pools, pools, abti_clock_deadline_of(deadline));
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABTX_xstream_wake(ABT_xstream xstream)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    int saved_errno = errno; /* the caller may be a signal handler */
    abti_es_notify(xstream, ABTI_ES_REQ_CHECK);
    errno = saved_errno;
    return ABT_SUCCESS;
}

int ABTX_xstream_set_spin(ABT_xstream xstream, int64_t nanoseconds)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    abti_idle_set_spin(xstream, nanoseconds);
    return ABT_SUCCESS;
}

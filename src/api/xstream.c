/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_xstream_*: making execution streams, their life, their schedulers. */
#include <pthread.h>
#include "api/handles.h"
#include "run/sched.h"
#include "pool/member.h"
#include "rt/handle.h"
#include "rt/log.h"
#include "run/child.h"
#include "stream/blocking.h"
#include "stream/entered.h"
#include "stream/events.h"
#include "stream/list.h"
#include "stream/main.h"
#include "stream/xstream.h"

/* Makes a scheduler, as the user gives it, ready to be a main scheduler. A null one becomes a new default one. */
static int claim_main_sched(ABT_sched sched, abti_sched **out, const char *function)
{
    if (ABTI_REFUSE(ABTI_IS_STALE(sched, ABT_SCHED_NULL, ABTI_HANDLE_SCHED, function)))
        return ABT_ERR_INV_SCHED;
    if (ABTI_SCHED_IS_NULL(sched)) {
        int code = abti_sched_make_basic(ABT_SCHED_DEFAULT, 0, NULL, ABT_SCHED_CONFIG_NULL, &sched);
        if (code != ABT_SUCCESS)
            return code;
    }
    if (!abti_sched_claim(sched, ABTI_SCHED_MAIN))
        return ABT_ERR_INV_SCHED;
    *out = sched;
    return ABT_SUCCESS;
}

/*
 * Undoes claim_main_sched, when the rest failed: a scheduler made there is destroyed, and the user's own is unused
 * again.
 */
static void unclaim_main_sched(ABT_sched given, abti_sched *sched)
{
    /* release: pairs with abti_sched_claim */
    abti_store_release(&sched->use, ABTI_SCHED_UNUSED);
    if (ABTI_SCHED_IS_NULL(given))
        abti_sched_destroy(sched);
}

static int xstream_create(ABT_sched given, int rank, ABT_xstream *newxstream, const char *function)
{
    abti_sched *sched;
    int code = claim_main_sched(given, &sched, function);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    code = abti_es_create(sched, rank, newxstream);
    if (code != ABT_SUCCESS) {
        unclaim_main_sched(given, sched);
        return abti_error(code);
    }
    abti_log("stream %d is made", (*newxstream)->rank);
    return ABT_SUCCESS;
}

/* --- Native threads that enter a stream --- */

/* By its value a thread says that it has entered a stream, which it leaves at its end. */
static pthread_key_t entered_key;
static bool has_entered_key;

/* Runs what is left, and leaves the stream. The library stays. */
static void stream_leave(abti_es *es)
{
    abti_log("stream %d is left", es->rank);
    abti_es_finish(es);
    abti_sched_release(abti_es_end_entered(es));
    abti_init_leave();
}

static int check_leave(abti_es *es)
{
    if (!es || !es->is_entered || abti_es_is_primary(es))
        return ABT_ERR_INV_XSTREAM;
    return es->cur->flags & ABTI_UNIT_ENTERED ? ABT_SUCCESS : ABT_ERR_INV_THREAD;
}

/* The end of a thread. It may have left, or be the primary stream, or run as another ULT. */
static void leave_at_end(void *unused)
{
    (void)unused;
    if (check_leave(abti_es_self) == ABT_SUCCESS)
        stream_leave(abti_es_self);
}

static void make_entered_key(void)
{
    has_entered_key = pthread_key_create(&entered_key, leave_at_end) == 0;
}

static int stream_enter(ABT_sched given, abti_es **es)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_entered_key);
    if (!has_entered_key || pthread_setspecific(entered_key, &entered_key) != 0)
        return ABT_ERR_MEM;
    abti_sched *sched;
    int code = claim_main_sched(given, &sched, "ABTX_xstream_enter");
    if (code != ABT_SUCCESS)
        return code;
    code = abti_es_enter(sched, ABTI_RANK_ENTERED, es);
    if (code != ABT_SUCCESS)
        unclaim_main_sched(given, sched);
    return code;
}

int ABTX_xstream_enter(ABT_sched sched, ABT_xstream *xstream)
{
    ABTI_REFUSE_IF(!xstream, ABT_ERR_INV_ARG);
    ABTI_REFUSE_IF(abti_es_self != NULL || abti_blocking_is_inside(), ABT_ERR_INV_XSTREAM);
    int code = abti_init_enter();
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    code = stream_enter(sched, xstream);
    if (code != ABT_SUCCESS) {
        abti_init_leave();
        return abti_error(code);
    }
    abti_log("stream %d is entered", (*xstream)->rank);
    return ABT_SUCCESS;
}

int ABTX_xstream_leave(ABT_xstream *xstream)
{
    abti_es *es = abti_es_self;
    ABTI_REFUSE_IF(!xstream || !es || *xstream != es, ABT_ERR_INV_XSTREAM);
    int code = check_leave(es);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    stream_leave(es);
    *xstream = ABT_XSTREAM_NULL;
    return ABT_SUCCESS;
}

/* --- Making --- */

int ABT_xstream_create(ABT_sched sched, ABT_xstream *newxstream)
{
    ABTI_PRESET_OUT(newxstream, ABT_XSTREAM_NULL);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    return xstream_create(sched, -1, newxstream, __func__);
}

int ABT_xstream_create_with_rank(ABT_sched sched, int rank, ABT_xstream *newxstream)
{
    ABTI_PRESET_OUT(newxstream, ABT_XSTREAM_NULL);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    /* This comes before the scheduler is looked at. Whether the rank is free when it is taken is another question. */
    ABTI_REFUSE_IF(rank < 0 || !abti_es_rank_is_free(rank), ABT_ERR_INV_XSTREAM_RANK);
    return xstream_create(sched, rank, newxstream, __func__);
}

int ABT_xstream_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool *pools, ABT_sched_config config,
                             ABT_xstream *newxstream)
{
    ABTI_PRESET_OUT(newxstream, ABT_XSTREAM_NULL);
    ABTI_REFUSE_IF(num_pools < 0, ABT_ERR_INV_ARG);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    abti_sched *sched;
    int code = abti_sched_check_parts(num_pools, pools, config, __func__);
    if (code == ABT_SUCCESS)
        code = abti_sched_make_basic(predef, num_pools, pools, config, &sched);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    code = xstream_create(sched, -1, newxstream, __func__);
    if (code != ABT_SUCCESS)
        abti_sched_unmake_basic(sched, num_pools, pools);
    return code;
}

int ABT_xstream_free(ABT_xstream *xstream)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    abti_es *es = *xstream;
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(es) || es == abti_es_self || es->is_entered, ABT_ERR_INV_XSTREAM);
    abti_log("stream %d is freed", es->rank);
    abti_es_free(es);
    *xstream = ABT_XSTREAM_NULL;
    return ABT_SUCCESS;
}

int ABT_xstream_join(ABT_xstream xstream)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream) || xstream->is_entered, ABT_ERR_INV_XSTREAM);
    ABTI_REFUSE_IF(xstream == abti_es_self && xstream->cur == xstream->main_unit, ABT_ERR_INV_XSTREAM);
    abti_es_join(xstream);
    abti_log("stream %d has ended", xstream->rank);
    return ABT_SUCCESS;
}

int ABT_xstream_revive(ABT_xstream xstream)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    int code = abti_es_revive(xstream);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    abti_log("stream %d is revived", xstream->rank);
    return ABT_SUCCESS;
}

int ABT_xstream_exit(void)
{
    abti_es *es = abti_es_self;
    ABTI_REFUSE_IF(!ABTI_BUILD_VER20 && !abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(!es || es->is_entered, ABT_ERR_INV_XSTREAM);
    ABTI_REFUSE_IF(abti_unit_is_tasklet(es->cur), ABT_ERR_INV_THREAD);
    abti_es_notify(es, ABTI_ES_REQ_CANCEL);
    if (!es->parent)
        abti_main_leave(es);
    abti_ult_exit();
}

int ABT_xstream_cancel(ABT_xstream xstream)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream) || xstream->is_entered, ABT_ERR_INV_XSTREAM);
    abti_es_notify(xstream, ABTI_ES_REQ_CANCEL);
    return ABT_SUCCESS;
}

int ABT_xstream_self(ABT_xstream *xstream)
{
    ABTI_PRESET_OUT(xstream, ABT_XSTREAM_NULL);
    ABTI_CALLING_ES_WHEN_UP(es);
    *xstream = es;
    return ABT_SUCCESS;
}

int ABT_xstream_self_rank(int *rank)
{
    ABTI_CALLING_ES_WHEN_UP(es);
    *rank = es->rank;
    return ABT_SUCCESS;
}

int ABT_xstream_set_rank(ABT_xstream xstream, int rank)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream) || abti_es_is_primary(xstream), ABT_ERR_INV_XSTREAM);
    return abti_error(abti_es_set_rank(xstream, rank));
}

int ABT_xstream_get_rank(ABT_xstream xstream, int *rank)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    *rank = xstream->rank;
    return ABT_SUCCESS;
}

/* Checks callers and targets of the two set_main_sched functions. */
static int check_set_main_sched(abti_es *self, abti_es *target)
{
    int code = abti_check_ult(self);
    if (code != ABT_SUCCESS)
        return code;
    /* acquire: pairs with the release of TERMINATED in es_thread */
    bool running = abti_load_acquire(&target->state) == ABT_XSTREAM_STATE_RUNNING;
    if (running && target != self)
        return ABTI_BUILD_VER20 ? ABT_ERR_INV_XSTREAM : ABT_ERR_XSTREAM_STATE;
    return ABT_SUCCESS;
}

static int set_main_sched(abti_es *target, ABT_sched given, const char *function)
{
    abti_sched *sched;
    int code = claim_main_sched(given, &sched, function);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    code = abti_es_set_main_sched(target, sched);
    if (code != ABT_SUCCESS) {
        unclaim_main_sched(given, sched);
        return abti_error(code);
    }
    abti_log("stream %d has a new main scheduler", target->rank);
    return ABT_SUCCESS;
}

int ABT_xstream_set_main_sched(ABT_xstream xstream, ABT_sched sched)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    int code = check_set_main_sched(abti_es_self, xstream);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    return set_main_sched(xstream, sched, __func__);
}

int ABT_xstream_set_main_sched_basic(ABT_xstream xstream, ABT_sched_predef predef, int num_pools, ABT_pool *pools)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    int code = abti_check_ult(abti_es_self);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    code = check_set_main_sched(abti_es_self, xstream);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    ABTI_REFUSE_IF(num_pools < 0, ABT_ERR_INV_ARG);
    abti_sched *sched;
    code = abti_sched_check_parts(num_pools, pools, ABT_SCHED_CONFIG_NULL, __func__);
    if (code == ABT_SUCCESS)
        code = abti_sched_make_basic(predef, num_pools, pools, ABT_SCHED_CONFIG_NULL, &sched);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    code = set_main_sched(xstream, sched, __func__);
    if (code != ABT_SUCCESS)
        abti_sched_unmake_basic(sched, num_pools, pools);
    return code;
}

int ABT_xstream_get_main_sched(ABT_xstream xstream, ABT_sched *sched)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    /*
     * acquire: pairs with the store in install_replacement (stream/main.c). The scheduler is complete before it is
     * found
     */
    *sched = abti_load_acquire(&xstream->main_sched);
    return ABT_SUCCESS;
}

int ABT_xstream_get_main_pools(ABT_xstream xstream, int max_pools, ABT_pool *pools)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    /* acquire: as in ABT_xstream_get_main_sched, pairs with stream/main.c */
    abti_sched *sched = abti_load_acquire(&xstream->main_sched);
    for (int i = 0; i < max_pools && i < sched->num_pools; i++)
        pools[i] = sched->pools[i];
    return ABT_SUCCESS;
}

int ABT_xstream_get_state(ABT_xstream xstream, ABT_xstream_state *state)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    /* acquire: pairs with the release of TERMINATED in es_thread or abti_main_run_entered */
    *state = (ABT_xstream_state)abti_load_acquire(&xstream->state);
    return ABT_SUCCESS;
}

int ABT_xstream_equal(ABT_xstream xstream1, ABT_xstream xstream2, ABT_bool *result)
{
    *result = xstream1 == xstream2 ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}

int ABT_xstream_get_num(int *num_xstreams)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    *num_xstreams = abti_plain_load_relaxed(&abti_rt.num_ranked); /* relaxed: it is of some moment */
    return ABT_SUCCESS;
}

int ABT_xstream_is_primary(ABT_xstream xstream, ABT_bool *is_primary)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    *is_primary = abti_es_is_primary(xstream) ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}

/* Runs the unit in a scheduler, with a change of its pool. */
static ABTI_NOINLINE int schedule_from(abti_es *es, abti_unit *unit, ABT_pool pool)
{
    int code = abti_unit_associate(unit, pool);
    return code == ABT_SUCCESS ? abti_run_child_last(es, unit) : abti_error(code);
}

/* Runs the unit in a scheduler. A pool that is given is the unit's from now on, which nearly always it is already. */
static inline int xstream_schedule(abti_es *es, abti_unit *unit, ABT_pool pool)
{
    return ABTI_POOL_IS_NULL(pool) || unit->pool == pool ? abti_run_child_last(es, unit)
                                                         : schedule_from(es, unit, pool);
}

int ABT_xstream_run_unit(ABT_unit unit, ABT_pool pool)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(ABTI_UNIT_IS_NULL(unit), ABT_ERR_INV_UNIT);
    abti_es *es = abti_es_self;
    ABTI_REFUSE_IF(!abti_is_up(es), ABT_ERR_UNINITIALIZED);
    int code = abti_check_ult(es);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_target(abti_unit_from_handle(unit), false, __func__)), ABT_ERR_INV_UNIT);
    return xstream_schedule(es, abti_unit_from_handle(unit), pool);
}

static ABTI_NOINLINE int self_schedule_checked(ABT_thread thread, ABT_pool pool)
{
    if (ABTI_REFUSE(ABTI_THREAD_IS_BAD_IN(thread, "ABT_self_schedule")))
        return abti_error_in(ABT_ERR_INV_THREAD, "ABT_self_schedule");
    abti_es *es = abti_es_self;
    if (ABTI_REFUSE(!abti_is_up(es)))
        return abti_error_in(ABT_ERR_UNINITIALIZED, "ABT_self_schedule");
    int code = abti_check_ult(es);
    if (code != ABT_SUCCESS)
        return abti_error_in(code, "ABT_self_schedule");
    if (ABTI_REFUSE(ABTI_IS_STALE(pool, ABT_POOL_NULL, ABTI_HANDLE_POOL, "ABT_self_schedule")))
        return abti_error_in(ABT_ERR_INV_POOL, "ABT_self_schedule");
    if (ABTI_MISUSED(abti_misuse_of_target(thread, false, "ABT_self_schedule")))
        return abti_error_in(ABT_ERR_INV_THREAD, "ABT_self_schedule");
    return xstream_schedule(es, thread, pool);
}

/* The common case needs no frame. */
ABTI_HOT int ABT_self_schedule(ABT_thread thread, ABT_pool pool)
{
    abti_es *es = abti_es_self;
    if (ABTI_UNLIKELY(abti_handle_is_to_check(thread) || !es || abti_unit_is_tasklet(es->cur)))
        return self_schedule_checked(thread, pool);
    return xstream_schedule(es, thread, pool);
}

/* The unit is the ULT of the scheduler. Other units have the argument of a callback in that place. */
static bool runs_sched(abti_unit *unit, abti_sched *sched)
{
    return (unit->flags & (ABTI_UNIT_SCHED | ABTI_UNIT_MAIN_SCHED)) && abti_unit_cold_get(unit)->sched == sched;
}

int ABT_xstream_check_events(ABT_sched sched)
{
    ABTI_CALLING_ES_WHEN_UP(es);
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(sched), ABT_ERR_INV_SCHED);
    ABTI_REFUSE_IF(!runs_sched(es->cur, sched), ABT_ERR_INV_THREAD);
    abti_es_check_events(es, sched);
    return ABT_SUCCESS;
}

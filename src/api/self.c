/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_self_*: the calling work unit. */
#include <sched.h>
#include "api/handles.h"
#include "os/clock.h"
#include "stream/native.h"
#include "run/sched.h"
#include "pool/member.h"
#include "rt/handle.h"
#include "run/block.h"
#include "run/cancel.h"
#include "run/end.h"
#include "run/yield.h"
#include "stream/events.h"
#include "stream/main.h"
#include "sync/gate.h"

/* --- The caller's switch hooks --- */

static int self_check_hooks(abti_es *es)
{
    if (ABTI_REFUSE(!es))
        return ABT_ERR_INV_XSTREAM;
    return ABTI_REFUSE(abti_unit_is_tasklet(es->cur)) ? ABT_ERR_INV_THREAD : ABT_SUCCESS;
}

static int self_change_hooks(ABTX_switch_link *link, bool (*change)(ABTX_switch_link **chain, ABTX_switch_link *link))
{
    abti_es *es = abti_es_self;
    int code = self_check_hooks(es);
    if (code == ABT_SUCCESS && (!link || !change(&es->hooks, link)))
        code = ABT_ERR_INV_ARG;
    if (code == ABT_SUCCESS)
        abti_switch_choose(es);
    return code;
}

int ABTX_self_add_switch_hooks(ABTX_switch_link *link)
{
    return abti_error(self_change_hooks(link, abti_hooks_add));
}

int ABTX_self_remove_switch_hooks(ABTX_switch_link *link)
{
    return abti_error(self_change_hooks(link, abti_hooks_remove));
}

/* --- The caller's stack --- */

int ABTX_self_get_stack_room(size_t *room)
{
    ABTI_CALLING_ES(es);
    ABTI_REFUSE_IF(abti_unit_is_tasklet(es->cur), ABT_ERR_INV_THREAD);
    struct abti_stack *stack = es->cur->stack;
    const char *here = __builtin_frame_address(0);
    if (!stack->base)
        abti_native_measure(stack); /* the first thread's, of which nothing had to be known yet */
    ABTI_FAIL_IF(here < stack->base || here >= stack->high || stack->base == stack->end, ABT_ERR_FEATURE_NA);
    *room = (size_t)(here - stack->base);
    return ABT_SUCCESS;
}

/* --- The caller's own identity --- */

int ABT_self_get_xstream(ABT_xstream *xstream)
{
    ABTI_CALLING_ES(es);
    *xstream = es;
    return ABT_SUCCESS;
}

int ABT_self_get_xstream_rank(int *rank)
{
    ABTI_CALLING_ES(es);
    *rank = es->rank;
    return ABT_SUCCESS;
}

int ABT_self_get_thread(ABT_thread *thread)
{
    ABTI_CALLING_ES(es);
    *thread = es->cur;
    return ABT_SUCCESS;
}

int ABT_self_get_thread_id(ABT_unit_id *id)
{
    ABTI_CALLING_ES(es);
    *id = abti_unit_id(es->cur);
    return ABT_SUCCESS;
}

int ABT_self_get_type(ABT_unit_type *type)
{
    abti_es *es = abti_es_self;
    if (es) {
        *type = abti_unit_is_tasklet(es->cur) ? ABT_UNIT_TYPE_TASK : ABT_UNIT_TYPE_THREAD;
        return ABT_SUCCESS;
    }
    *type = ABT_UNIT_TYPE_EXT;
    if (ABTI_BUILD_VER20)
        return ABT_SUCCESS;
    return abti_error(abti_rt_is_up() ? ABT_ERR_INV_XSTREAM : ABT_ERR_UNINITIALIZED);
}

int ABT_self_is_primary(ABT_bool *is_primary)
{
    *is_primary = ABT_FALSE;
    abti_es *es = abti_es_self;
    ABTI_REFUSE_IF(!ABTI_BUILD_VER20 && !abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    int code = abti_check_ult(es);
    if (code != ABT_SUCCESS)
        return ABTI_BUILD_VER20 ? ABT_SUCCESS : abti_error(code);
    *is_primary = abti_unit_is_primary(es->cur) ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}

int ABT_self_on_primary_xstream(ABT_bool *on_primary)
{
    *on_primary = ABT_FALSE;
    abti_es *es = abti_es_self;
    ABTI_REFUSE_IF(!ABTI_BUILD_VER20 && !abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    if (!es)
        return ABTI_BUILD_VER20 ? ABT_SUCCESS : abti_error(ABT_ERR_INV_XSTREAM);
    *on_primary = abti_es_is_primary(es) ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}

int ABTX_self_is_alone(ABT_bool *alone)
{
    ABTI_CALLING_ES(es);
    ABTI_REFUSE_IF(!alone, ABT_ERR_INV_ARG);
    abti_sched *sched = abti_load_relaxed(&es->main_sched); /* relaxed: the ES itself stores it */
    *alone = ABT_TRUE;
    for (int i = 0; i < sched->num_pools && *alone; i++)
        *alone = abti_pool_is_empty(sched->pools[i]) ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}

int ABT_self_is_unnamed(ABT_bool *is_unnamed)
{
    ABTI_CALLING_ES(es);
    *is_unnamed = es->cur->flags & ABTI_UNIT_NAMED ? ABT_FALSE : ABT_TRUE;
    return ABT_SUCCESS;
}

int ABT_self_get_last_pool(ABT_pool *pool)
{
    ABTI_CALLING_ES(es);
    *pool = es->cur->pool ? es->cur->pool : ABT_POOL_NULL;
    return ABT_SUCCESS;
}

int ABT_self_get_last_pool_id(int *pool_id)
{
    ABTI_PRESET_OUT(pool_id, -1);
    ABTI_CALLING_ES_WHEN_UP(es);
    *pool_id = es->cur->pool ? es->cur->pool->id : -1;
    return ABT_SUCCESS;
}

int ABT_self_set_associated_pool(ABT_pool pool)
{
    ABTI_CALLING_ES(es);
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    return abti_error(abti_unit_associate(es->cur, pool));
}

int ABT_self_get_unit(ABT_unit *unit)
{
    ABTI_CALLING_ES(es);
    *unit = abti_unit_handle(es->cur);
    return ABT_SUCCESS;
}

int ABT_self_set_arg(void *arg)
{
    ABTI_CALLING_ES_WHEN_UP(es);
    es->cur->arg = arg;
    return ABT_SUCCESS;
}

int ABT_self_get_arg(void **arg)
{
    ABTI_PRESET_OUT(arg, NULL);
    ABTI_CALLING_ES_WHEN_UP(es);
    *arg = es->cur->arg;
    return ABT_SUCCESS;
}

int ABT_self_get_thread_func(void (**thread_func)(void *))
{
    ABTI_CALLING_ES(es);
    *thread_func = es->cur->func;
    return ABT_SUCCESS;
}

/* --- Specific data --- */

int ABT_self_set_specific(ABT_key key, void *value)
{
    ABTI_REFUSE_IF(ABTI_KEY_IS_BAD(key), ABT_ERR_INV_KEY);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_CALLING_ES(es);
    return abti_error(abti_unit_set_specific(es->cur, key, value));
}

int ABT_self_get_specific(ABT_key key, void **value)
{
    ABTI_REFUSE_IF(ABTI_KEY_IS_BAD(key), ABT_ERR_INV_KEY);
    ABTI_CALLING_ES(es);
    *value = abti_unit_get_specific(es->cur, key);
    return ABT_SUCCESS;
}

/* --- Cancels --- */

int ABTX_self_put_off_cancel(ABT_bool off, ABT_bool *before)
{
    abti_es *es = abti_es_self;
    int code = abti_check_ult(es);
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    bool was_off = abti_cancel_set_off(es->cur, off);
    if (before)
        *before = was_off ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}

/* --- Giving way --- */

int ABT_self_yield(void)
{
    abti_es *es = abti_es_self;
    int code = abti_check_ult(es);
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    return abti_yield(es, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
}

int ABT_self_suspend(void)
{
    abti_es *es = abti_es_self;
    int code = abti_check_ult(es);
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    if (!es->parent)
        return abti_suspend_native(es);
    return abti_suspend(es, es->cur);
}

/* Null, or not what may be gone to while misuse is looked for. `resumed`: it is to be resumed. */
ABTI_INLINE bool is_wrong_target(ABT_thread target, bool resumed, const char *function)
{
    return abti_handle_is_to_check(target) &&
           (abti_thread_is_null(target) || ABTI_MISUSED(abti_misuse_of_target(target, resumed, function)));
}

/*
 * Checks the caller and the target of a *_to function. Main schedulers are neither; a target may be the caller where
 * that is allowed.
 */
static int check_to(abti_es *es, ABT_thread target, bool self_allowed, const char *function)
{
    int code = abti_check_ult(es);
    if (code != ABT_SUCCESS)
        return code;
    if (is_wrong_target(target, self_allowed, function) || abti_unit_is_tasklet(target) ||
        (!self_allowed && target == es->cur) || ((es->cur->flags | target->flags) & ABTI_UNIT_MAIN_SCHED))
        return ABT_ERR_INV_THREAD;
    return ABT_SUCCESS;
}

/* Checks the target of a resume_*_to function, too: it has suspended itself. */
static int check_resume_to(abti_es *es, ABT_thread target, const char *function)
{
    int code = check_to(es, target, true, function);
    return code == ABT_SUCCESS && !abti_unit_is_suspended(target) ? ABT_ERR_THREAD : code;
}

int ABT_self_yield_to(ABT_thread thread)
{
    abti_es *es = abti_es_self;
    int code = check_to(es, thread, false, __func__);
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    abti_direct_count(es);
    return abti_yield_to(es, es->cur, thread, ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO);
}

int ABT_self_resume_yield_to(ABT_thread thread)
{
    abti_es *es = abti_es_self;
    int code = check_resume_to(es, thread, __func__);
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    abti_take_blocked(es, thread);
    abti_direct_count(es);
    return abti_yield_to(es, es->cur, thread, ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO);
}

int ABT_self_suspend_to(ABT_thread thread)
{
    abti_es *es = abti_es_self;
    int code = check_to(es, thread, false, __func__);
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    abti_direct_count(es);
    return abti_suspend_to(es, es->cur, thread);
}

static ABTI_NOINLINE int resume_suspend_to_checked(ABT_thread thread)
{
    abti_es *es = abti_es_self;
    int code = check_resume_to(es, thread, "ABT_self_resume_suspend_to");
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    abti_take_blocked(es, thread);
    abti_direct_count(es);
    return abti_suspend_to(es, es->cur, thread);
}

/* This handles the common case by itself: two ULTs of one pool, with nothing asked of either. */
ABTI_HOT int ABT_self_resume_suspend_to(ABT_thread thread)
{
    abti_es *es = abti_es_self;
    if (ABTI_UNLIKELY(!es || abti_handle_is_to_check(thread)))
        return resume_suspend_to_checked(thread);
    abti_unit *self = es->cur;
    if (ABTI_UNLIKELY(!abti_may_hand_over(es, self, thread)) || ABTI_UNLIKELY(!abti_budget_allows(es)))
        return resume_suspend_to_checked(thread);
    (void)abti_budget_take(es); /* a branch on its answer takes 0.8 of 5.4 ns more than this one before it */
    return abti_hand_over(es, self, thread);
}

/* --- Ending --- */

/*
 * Checks that the caller may end: all ULTs may but the primary one, which belongs to the native thread, and the one
 * that schedules it.
 */
static int check_exit(abti_es *es)
{
    int code = abti_check_ult(es);
    if (code == ABT_SUCCESS && ((es->cur->flags & ABTI_UNIT_PRIMARY) || (es->is_entered && !es->parent)))
        code = ABT_ERR_INV_THREAD;
    return code;
}

int ABT_self_exit(void)
{
    abti_es *es = abti_es_self;
    int code = check_exit(es);
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    if (!es->parent)
        abti_main_leave(es);
    abti_ult_exit();
}

int ABT_self_exit_to(ABT_thread thread)
{
    abti_es *es = abti_es_self;
    int code = check_exit(es);
    if (code == ABT_SUCCESS)
        code = check_to(es, thread, false, __func__);
    if (ABTI_REFUSE(code != ABT_SUCCESS || thread->flags & ABTI_UNIT_PRIMARY))
        return abti_error(code != ABT_SUCCESS ? code : ABT_ERR_INV_THREAD);
    abti_direct_count(es);
    abti_ult_exit_to(thread);
}

int ABT_self_resume_exit_to(ABT_thread thread)
{
    abti_es *es = abti_es_self;
    int code = check_exit(es);
    if (code == ABT_SUCCESS)
        code = check_resume_to(es, thread, __func__);
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    abti_take_blocked(es, thread);
    abti_direct_count(es);
    abti_ult_exit_to(thread);
}

/* --- Times --- */

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

/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_thread_*: the life of ULTs. Queries are in thread_query.c, migration in thread_migrate.c. */
#include "api/handles.h"
#include "run/attr.h"
#include "run/create.h"
#include "run/quick.h"
#include "run/sched.h"
#include "rt/handle.h"
#include "run/block.h"
#include "run/join.h"
#include "run/yield.h"
#include "stream/events.h"
#include "sync/timer.h"

/* --- Creating --- */

/* An attribute of new ULTs is no more, or is none, or another ULT has its stack. */
ABTI_INLINE bool is_attr_bad(ABT_thread_attr attr, const char *function)
{
    return ABTI_MISUSED(!ABTI_ATTR_IS_NULL(attr) && abti_misuse_of_attr(attr, function));
}

/* Creates a ULT in any case, for ABT_thread_create. */
static ABTI_NOINLINE int thread_create_checked(ABT_pool pool, void (*func)(void *), void *arg, ABT_thread_attr attr,
                                               ABT_thread *newthread)
{
    if (newthread)
        ABTI_PRESET_OUT(newthread, ABT_THREAD_NULL);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD_IN(pool, "ABT_thread_create"), ABT_ERR_INV_POOL);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_function(func, "ABT_thread_create")), ABT_ERR_INV_ARG);
    ABTI_FAIL_IF(is_attr_bad(attr, "ABT_thread_create"), ABT_ERR_INV_THREAD_ATTR);
    ABTI_USES_POOL_IN(pool, "ABT_thread_create");
    int code = abti_create(pool, func, arg, attr, 0, newthread);
    return code == ABT_SUCCESS ? code : abti_error_in(code, "ABT_thread_create");
}

/* Creates a plain named ULT in another pool, on an ES. */
static ABTI_NOINLINE ABTI_HOT int thread_create_shared(ABT_pool pool, void (*func)(void *), void *arg,
                                                       ABT_thread_attr attr, ABT_thread *newthread)
{
    abti_es *es = abti_es_self;
    if (ABTI_UNLIKELY(!abti_create_may_be_quick(es, pool) || !newthread || !ABTI_ATTR_IS_NULL(attr)))
        return thread_create_checked(pool, func, arg, attr, newthread);
    if (abti_load_relaxed(&pool->quick_shared))
        return abti_create_quick_shared(es, pool, func, arg, ABTI_UNIT_NAMED, newthread);
    return thread_create_checked(pool, func, arg, attr, newthread);
}

/* The quick path with attributes, if they ask for no more than flags. */
static ABTI_NOINLINE int thread_create_quick_with_attr(ABT_pool pool, void (*func)(void *), void *arg,
                                                       ABT_thread_attr attr, ABT_thread *newthread)
{
    if (abti_attr_needs_more(attr))
        return thread_create_checked(pool, func, arg, attr, newthread);
    *newthread = abti_create_quick(abti_es_self, pool, func, arg,
                                   attr->migratable ? ABTI_UNIT_NAMED : ABTI_UNIT_NAMED | ABTI_UNIT_PINNED);
    return ABT_SUCCESS;
}

/*
 * The common case is here by itself, so that the compiler keeps everything in registers that need no saving: an ES
 * creates a plain named ULT in a private pool. Everything else is thread_create_checked's.
 */
ABTI_HOT int ABT_thread_create(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread_attr attr,
                               ABT_thread *newthread)
{
    abti_es *es = abti_es_self;
    if (ABTI_UNLIKELY(!abti_create_is_quick(es, pool) || !newthread))
        return thread_create_shared(pool, thread_func, arg, attr, newthread);
    if (ABTI_UNLIKELY(!ABTI_ATTR_IS_NULL(attr)))
        return thread_create_quick_with_attr(pool, thread_func, arg, attr, newthread);
    *newthread = abti_create_quick(es, pool, thread_func, arg, ABTI_UNIT_NAMED);
    return ABT_SUCCESS;
}

int ABT_thread_create_on_xstream(ABT_xstream xstream, void (*thread_func)(void *), void *arg, ABT_thread_attr attr,
                                 ABT_thread *newthread)
{
    if (newthread)
        ABTI_PRESET_OUT(newthread, ABT_THREAD_NULL);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    /*
     * acquire: pairs with the store in install_replacement (stream/main.c). The scheduler is complete before it is
     * found
     */
    abti_sched *sched = abti_load_acquire(&xstream->main_sched);
    ABTI_REFUSE_IF(sched->num_pools == 0, ABT_ERR_INV_XSTREAM);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_function(thread_func, __func__)), ABT_ERR_INV_ARG);
    ABTI_FAIL_IF(is_attr_bad(attr, __func__), ABT_ERR_INV_THREAD_ATTR);
    ABTI_USES_POOL(sched->pools[0]);
    return abti_error(abti_create(sched->pools[0], thread_func, arg, attr, 0, newthread));
}

int ABT_thread_create_many(int num_threads, ABT_pool *pool_list, void (**thread_func_list)(void *), void **arg_list,
                           ABT_thread_attr attr, ABT_thread *newthread_list)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_FAIL_IF(is_attr_bad(attr, __func__) || ABTI_REFUSE(!ABTI_ATTR_IS_NULL(attr) && attr->stackaddr),
                 ABT_ERR_INV_THREAD_ATTR);
    bool plain = newthread_list && ABTI_ATTR_IS_NULL(attr);
    for (int i = 0; i < num_threads; i++) {
        abti_es *es = abti_es_self;
        ABT_pool pool = pool_list[i];
        void (*func)(void *) = thread_func_list[i];
        void *arg = arg_list ? arg_list[i] : NULL;
        if (plain && abti_create_is_quick(es, pool)) {
            newthread_list[i] = abti_create_quick(es, pool, func, arg, ABTI_UNIT_NAMED);
            continue;
        }
        ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
        ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_function(func, __func__)), ABT_ERR_INV_ARG);
        ABTI_USES_POOL(pool);
        ABT_thread *handle = newthread_list ? &newthread_list[i] : NULL;
        int code = plain && abti_create_is_quick_shared(es, pool)
                       ? abti_create_quick_shared(es, pool, func, arg, ABTI_UNIT_NAMED, handle)
                       : abti_create(pool, func, arg, attr, 0, handle);
        ABTI_FAIL_IF(ABTI_UNLIKELY(code != ABT_SUCCESS), code);
    }
    return ABT_SUCCESS;
}

/* --- Creating and reviving with a switch --- */

/* Checks the caller of a *_to function, which is any ULT but a main scheduler. */
static int check_to_caller(abti_es *es)
{
    int code = abti_check_ult(es);
    if (code == ABT_SUCCESS && ABTI_UNLIKELY(es->cur->flags & ABTI_UNIT_MAIN_SCHED))
        code = ABT_ERR_INV_THREAD;
    return code;
}

static ABTI_NOINLINE int thread_create_to_checked(ABT_pool pool, void (*thread_func)(void *), void *arg,
                                                  ABT_thread_attr attr, ABT_thread *newthread)
{
    if (newthread)
        ABTI_PRESET_OUT(newthread, ABT_THREAD_NULL);
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    abti_es *es = abti_es_self;
    int code = check_to_caller(es);
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD_IN(pool, "ABT_thread_create_to"), ABT_ERR_INV_POOL);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_function(thread_func, "ABT_thread_create_to")), ABT_ERR_INV_ARG);
    ABTI_FAIL_IF(is_attr_bad(attr, "ABT_thread_create_to"), ABT_ERR_INV_THREAD_ATTR);
    abti_unit *unit;
    code = abti_create_unqueued(es, pool, thread_func, arg, attr, newthread, &unit);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    abti_direct_count(es);
    return abti_yield_to(es, es->cur, unit, ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO);
}

int ABT_thread_create_to(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread_attr attr,
                         ABT_thread *newthread)
{
    abti_es *es = abti_es_self;
    if (ABTI_UNLIKELY(!abti_create_is_quick(es, pool) || !newthread || !ABTI_ATTR_IS_NULL(attr) ||
                      es->cur->flags & (ABTI_UNIT_TASKLET | ABTI_UNIT_MAIN_SCHED) ||
                      !abti_may_yield_to_new(es, es->cur) || !abti_budget_allows(es)))
        return thread_create_to_checked(pool, thread_func, arg, attr, newthread);
    abti_budget_count(es);
    /* The new unit is as simple as ABT_thread_create's quick ones. */
    *newthread = abti_create_unqueued_quick(es, pool, thread_func, arg, ABTI_UNIT_NAMED);
    return abti_yield_to_new(es, es->cur, *newthread);
}

static bool cannot_revive(ABT_thread thread, const char *function)
{
    return abti_thread_is_null(thread) || ABTI_MISUSED(abti_misuse_of_revive(thread, function)) ||
           !abti_unit_is_done(thread);
}

static ABTI_NOINLINE int thread_revive_checked(ABT_pool pool, void (*func)(void *), void *arg, ABT_thread *thread)
{
    abti_unit *unit = *thread;
    ABTI_REFUSE_IF(cannot_revive(unit, "ABT_thread_revive"), ABT_ERR_INV_THREAD);
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD_IN(pool, "ABT_thread_revive"), ABT_ERR_INV_POOL);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_function(func, "ABT_thread_revive")), ABT_ERR_INV_ARG);
    ABTI_USES_POOL_IN(pool, "ABT_thread_revive");
    return abti_error(abti_revive(unit, pool, func, arg));
}

/* Like ABT_thread_create this handles the common case by itself, a plain unit and a private pool. */
ABTI_HOT int ABT_thread_revive(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread *thread)
{
    abti_unit *unit = *thread;
    if (ABTI_UNLIKELY(abti_handle_is_to_check(unit) || !abti_revive_is_quick(abti_es_self, pool, unit)))
        return thread_revive_checked(pool, thread_func, arg, thread);
    abti_revive_quick(pool, unit, thread_func, arg);
    return ABT_SUCCESS;
}

int ABT_thread_revive_to(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread *thread)
{
    abti_es *es = abti_es_self;
    int code = check_to_caller(es);
    ABTI_REFUSE_IF(code != ABT_SUCCESS, code);
    abti_unit *unit = *thread;
    ABTI_REFUSE_IF(cannot_revive(unit, __func__) || abti_unit_is_tasklet(unit), ABT_ERR_INV_THREAD);
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_function(thread_func, __func__)), ABT_ERR_INV_ARG);
    code = abti_revive_unqueued(unit, pool, thread_func, arg);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    abti_direct_count(es);
    return abti_yield_to(es, es->cur, unit, ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO);
}

/* --- Joining and freeing --- */

static int join_or_free(abti_es *es, abti_unit *unit, ABT_thread *handle)
{
    return es && abti_try_join_lone(es, unit, handle) ? ABT_SUCCESS : abti_join(es, unit, handle);
}

int ABT_thread_join(ABT_thread thread)
{
    abti_es *es = abti_es_self;
    int code;
    if (es && !abti_handle_is_to_check(thread) && abti_unit_is_fresh_default(thread) &&
        abti_join_in_place(es, thread, NULL, &code))
        return code;
    ABTI_REFUSE_IF(ABTI_CANNOT_JOIN(es, thread, __func__), ABT_ERR_INV_THREAD);
    return join_or_free(es, thread, NULL);
}

static ABTI_NOINLINE int thread_free_checked(abti_es *es, ABT_thread *thread)
{
    ABTI_REFUSE_IF(!abti_is_up(es), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_CANNOT_JOIN(es, *thread, "ABT_thread_free"), ABT_ERR_INV_THREAD);
    return join_or_free(es, *thread, thread);
}

/* Frees a unit that has ended, if it is nothing but its descriptor. */
ABTI_INLINE bool free_at_once(abti_es *es, abti_unit *unit, ABT_thread *thread)
{
    if (!abti_may_free_at_once(es, unit))
        return false;
    abti_unit_release_quick(es, unit);
    *thread = ABT_THREAD_NULL;
    return true;
}

/* A unit that has not been touched, by a racy read, is one that can be joined: main schedulers' never look so. */
ABTI_HOT int ABT_thread_free(ABT_thread *thread)
{
    abti_unit *unit = *thread;
    abti_es *es = abti_es_self;
    int code;
    if (ABTI_UNLIKELY(!es || abti_handle_is_to_check(unit)))
        return thread_free_checked(es, thread);
    if (ABTI_LIKELY(abti_unit_is_fresh_default(unit))) {
        if (ABTI_LIKELY(abti_join_in_place(es, unit, thread, &code)))
            return code;
        return abti_join_shared(es, unit, thread);
    }
    return free_at_once(es, unit, thread) ? ABT_SUCCESS : thread_free_checked(es, thread);
}

int ABT_thread_join_many(int num_threads, ABT_thread *thread_list)
{
    for (int i = 0; i < num_threads;) {
        int joined = (int)abti_join_row(&thread_list[i], (size_t)(num_threads - i), false);
        i += joined;
        if (joined > 0)
            continue;
        if (!abti_thread_is_null(thread_list[i]))
            ABT_thread_join(thread_list[i]);
        i++;
    }
    return ABT_SUCCESS;
}

/*
 * Frees the units of a row that have ended, up to the first one which has not or is more than its descriptor. Returns
 * how many.
 */
static int free_ended(ABT_thread *threads, int num)
{
    abti_es *es = abti_es_self;
    int i = 0;
    while (es && i < num && !abti_handle_is_to_check(threads[i]) && free_at_once(es, threads[i], &threads[i]))
        i++;
    return i;
}

int ABT_thread_free_many(int num_threads, ABT_thread *thread_list)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    for (int i = 0; i < num_threads;) {
        int freed = free_ended(&thread_list[i], num_threads - i);
        if (freed == 0)
            freed = (int)abti_join_row(&thread_list[i], (size_t)(num_threads - i), true);
        i += freed;
        if (freed > 0)
            continue;
        if (abti_thread_is_null(thread_list[i]))
            thread_list[i] = ABT_THREAD_NULL;
        else
            ABT_thread_free(&thread_list[i]);
        i++;
    }
    return ABT_SUCCESS;
}

/* --- Ending --- */

int ABT_thread_exit(void)
{
    ABTI_REFUSE_IF(!ABTI_BUILD_VER20 && !abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    return ABT_self_exit();
}

int ABT_thread_cancel(ABT_thread thread)
{
    ABTI_FAIL_IF(!ABTI_BUILD_CANCEL, ABT_ERR_FEATURE_NA);
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread) || (thread->flags & ABTI_UNIT_PRIMARY), ABT_ERR_INV_THREAD);
    atomic_fetch_or(&thread->requests, ABTI_REQ_CANCEL); /* seq_cst: both pair with those in block_until
                                                            (sync/waiter.c), see abti_timers_recheck */
    if (atomic_load(&thread->held))
        abti_timers_recheck(abti_unit_last_pool(thread));
    return ABT_SUCCESS;
}

/* --- Giving way --- */

ABTI_HOT int ABT_thread_yield(void)
{
    abti_es *es = abti_es_self;
    if (ABTI_BUILD_VER20)
        return ABT_self_yield();
    /* Nothing is asked of an external thread or a tasklet. */
    return ABTI_LIKELY(es != NULL) ? abti_yield(es, ABT_POOL_CONTEXT_OP_THREAD_YIELD) : ABT_SUCCESS;
}

ABTI_HOT int ABT_thread_yield_to(ABT_thread thread)
{
    abti_es *es = abti_es_self;
    if (!es || abti_unit_is_tasklet(es->cur))
        return ABT_SUCCESS;
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread) || abti_unit_is_tasklet(thread) || thread == es->cur ||
                       (es->cur->flags & ABTI_UNIT_MAIN_SCHED),
                   ABT_ERR_INV_THREAD);
    enum abti_taking taking = abti_unit_take_out(es, thread);
    ABTI_REFUSE_IF(taking == ABTI_TAKING_FAILED, ABT_ERR_POOL);
    abti_direct_count(es); /* also without a switch: the caller may try again and again */
    if (taking == ABTI_TAKING_MISSED)
        return ABT_SUCCESS;
    return abti_yield_to(es, es->cur, thread, ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO);
}

int ABT_thread_resume(ABT_thread thread)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread) || abti_unit_is_tasklet(thread), ABT_ERR_INV_THREAD);
    ABTI_REFUSE_IF(!abti_unit_is_suspended(thread), ABT_ERR_THREAD);
    abti_unblock(thread, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
    return ABT_SUCCESS;
}

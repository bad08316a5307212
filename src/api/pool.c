/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_pool_* and ABT_unit_*. */
#include <stddef.h>
#include <stdlib.h>
#include "api/handles.h"
#include "run/create.h"
#include "run/sched.h"
#include "pool/blocked.h"
#include "pool/member.h"
#include "pool/pool_impl.h"
#include "rt/handle.h"
#include "stream/park.h"

_Static_assert(offsetof(struct ABT_pool_opaque, data) == 32 * sizeof(void *),
               "programs made with the header of 2.0.0 read it there");

/* --- Making --- */

int ABT_pool_create(ABT_pool_user_def def, ABT_pool_config config, ABT_pool *newpool)
{
    ABTI_PRESET_OUT(newpool, ABT_POOL_NULL);
    ABTI_REFUSE_IF(ABTI_IS_BAD(def, ABT_POOL_USER_DEF_NULL, ABTI_HANDLE_POOL_DEF), ABT_ERR_INV_POOL_USER_DEF);
    ABTI_REFUSE_IF(ABTI_IS_STALE(config, ABT_POOL_CONFIG_NULL, ABTI_HANDLE_POOL_CONFIG, __func__),
                   ABT_ERR_INV_POOL_CONFIG);
    return abti_error(abti_pool_create_user(def, config, newpool));
}

int ABT_pool_create_basic(ABT_pool_kind kind, ABT_pool_access access, ABT_bool automatic, ABT_pool *newpool)
{
    ABTI_PRESET_OUT(newpool, ABT_POOL_NULL);
    ABTI_REFUSE_IF((unsigned)access > ABT_POOL_ACCESS_MPMC, ABT_ERR_INV_POOL_ACCESS);
    ABTI_REFUSE_IF((unsigned)kind > ABT_POOL_RANDWS, ABT_ERR_INV_POOL_KIND);
    return abti_error(abti_pool_create_basic(kind, access, automatic != ABT_FALSE, newpool));
}

int ABT_pool_free(ABT_pool *pool)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(*pool), ABT_ERR_INV_POOL);
    abti_pool_await_wakers(*pool);
    ABTI_FAIL_IF(ABTI_MISUSED(abti_misuse_of_pool(*pool, __func__)), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(abti_pool_num_blocked(*pool) > 0, ABT_ERR_POOL);
    abti_pool_destroy(*pool);
    *pool = ABT_POOL_NULL;
    return ABT_SUCCESS;
}

/* --- Queries --- */

int ABT_pool_get_access(ABT_pool pool, ABT_pool_access *access)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    *access = pool->access;
    return ABT_SUCCESS;
}

int ABT_pool_is_empty(ABT_pool pool, ABT_bool *is_empty)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    *is_empty = abti_pool_is_empty(pool) ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
}

int ABT_pool_get_size(ABT_pool pool, size_t *size)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(!abti_pool_tells_size(pool), ABT_ERR_POOL);
    *size = abti_pool_size(pool);
    return ABT_SUCCESS;
}

int ABT_pool_get_total_size(ABT_pool pool, size_t *size)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(!abti_pool_tells_size(pool), ABT_ERR_POOL);
    *size = abti_pool_total_size(pool);
    return ABT_SUCCESS;
}

int ABT_pool_get_id(ABT_pool pool, int *id)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    *id = pool->id;
    return ABT_SUCCESS;
}

int ABT_pool_set_data(ABT_pool pool, void *data)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    pool->data = data;
    return ABT_SUCCESS;
}

static ABTI_NOINLINE int pool_data_checked(ABT_pool pool, void **data)
{
    if (ABTI_REFUSE(ABTI_POOL_IS_BAD_IN(pool, "ABT_pool_get_data")))
        return abti_error_in(ABT_ERR_INV_POOL, "ABT_pool_get_data");
    *data = pool->data;
    return ABT_SUCCESS;
}

/* The functions of a user-defined pool call this for each unit, so that it has no frame. */
int ABT_pool_get_data(ABT_pool pool, void **data)
{
    if (abti_handle_is_to_check(pool))
        return pool_data_checked(pool, data);
    *data = pool->data;
    return ABT_SUCCESS;
}

/* Without a check, and without a frame. */
void *ABTX_pool_data(ABT_pool pool)
{
    return pool->data;
}

/* --- Pops. They are one function with two faces: work units, and units of the old interface. --- */

/* All pops end here, unless misuse is not looked for: what the user has popped is known then. */
static ABT_thread thread_or_null(abti_unit *unit)
{
    abti_note_popped(unit);
    return unit ? unit : ABT_THREAD_NULL;
}

static ABT_unit handle_or_null(abti_unit *unit)
{
    abti_note_popped(unit);
    return unit ? abti_unit_handle(unit) : ABT_UNIT_NULL;
}

static ABTI_NOINLINE int pool_pop_thread_checked(ABT_pool pool, ABT_thread *thread, ABT_pool_context pool_ctx)
{
    if (ABTI_REFUSE(ABTI_POOL_IS_BAD_IN(pool, "ABT_pool_pop_thread_ex")))
        return abti_error_in(ABT_ERR_INV_POOL, "ABT_pool_pop_thread_ex");
    ABTI_USES_POOL_IN(pool, "ABT_pool_pop_thread_ex");
    *thread = thread_or_null(abti_pool_pop(pool, pool_ctx));
    return ABT_SUCCESS;
}

/* From a user-defined pool. Any null handle is none. */
static ABTI_NOINLINE ABTI_HOT int pop_thread_user(ABT_pool pool, ABT_thread *thread, ABT_pool_context pool_ctx)
{
    if (abti_handle_is_to_check(pool) || !abti_pool_is_user(pool))
        return pool_pop_thread_checked(pool, thread, pool_ctx);
    ABT_thread popped = abti_pool_pop_user(pool, pool_ctx);
    *thread = ABTI_LIKELY(!ABTI_IS_NULL(popped, ABT_THREAD_NULL)) ? popped : ABT_THREAD_NULL;
    return ABT_SUCCESS;
}

ABTI_HOT int ABT_pool_pop_thread_ex(ABT_pool pool, ABT_thread *thread, ABT_pool_context pool_ctx)
{
    abti_unit *quick = abti_pool_pop_quick(pool);
    if (ABTI_UNLIKELY(!quick))
        return pop_thread_user(pool, thread, pool_ctx);
    *thread = quick;
    return ABT_SUCCESS;
}

ABTI_HOT int ABT_pool_pop_thread(ABT_pool pool, ABT_thread *thread)
{
    return ABT_pool_pop_thread_ex(pool, thread, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

static ABTI_NOINLINE int pool_pop_checked(ABT_pool pool, ABT_unit *unit)
{
    if (ABTI_REFUSE(ABTI_POOL_IS_BAD_IN(pool, "ABT_pool_pop")))
        return abti_error_in(ABT_ERR_INV_POOL, "ABT_pool_pop");
    ABTI_USES_POOL_IN(pool, "ABT_pool_pop");
    *unit = handle_or_null(abti_pool_pop(pool, ABT_POOL_CONTEXT_OP_POOL_OTHER));
    return ABT_SUCCESS;
}

int ABT_pool_pop(ABT_pool pool, ABT_unit *unit)
{
    abti_unit *quick = abti_pool_pop_quick(pool);
    if (ABTI_UNLIKELY(!quick))
        return pool_pop_checked(pool, unit);
    *unit = abti_unit_own_handle(quick);
    return ABT_SUCCESS;
}

int ABT_pool_pop_threads_ex(ABT_pool pool, ABT_thread *threads, size_t len, size_t *num, ABT_pool_context pool_ctx)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(!abti_pool_pops_many(pool), ABT_ERR_POOL);
    ABTI_USES_POOL(pool);
    if (len > 0)
        *num = abti_pool_pop_many(pool, threads, len, pool_ctx);
    for (size_t i = 0; ABTI_UNLIKELY(abti_ledger_on) && len > 0 && i < *num; i++)
        abti_note_popped(threads[i]);
    return ABT_SUCCESS;
}

int ABT_pool_pop_threads(ABT_pool pool, ABT_thread *threads, size_t len, size_t *num)
{
    return ABT_pool_pop_threads_ex(pool, threads, len, num, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_pop_wait_thread_ex(ABT_pool pool, ABT_thread *thread, double time_secs, ABT_pool_context pool_ctx)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(!abti_pool_can(pool, ABTI_POOL_POP_WAIT), ABT_ERR_POOL);
    ABTI_USES_POOL(pool);
    *thread = thread_or_null(abti_wait_for_unit(pool, time_secs, pool_ctx));
    return ABT_SUCCESS;
}

int ABT_pool_pop_wait_thread(ABT_pool pool, ABT_thread *thread, double time_secs)
{
    return ABT_pool_pop_wait_thread_ex(pool, thread, time_secs, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_pop_wait(ABT_pool pool, ABT_unit *unit, double time_secs)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(!abti_pool_can(pool, ABTI_POOL_POP_WAIT), ABT_ERR_POOL);
    ABTI_USES_POOL(pool);
    *unit = handle_or_null(abti_wait_for_unit(pool, time_secs, ABT_POOL_CONTEXT_OP_POOL_OTHER));
    return ABT_SUCCESS;
}

int ABT_pool_pop_timedwait(ABT_pool pool, ABT_unit *unit, double abstime_secs)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(!abti_pool_can(pool, ABTI_POOL_POP_TIMEDWAIT), ABT_ERR_POOL);
    ABTI_USES_POOL(pool);
    *unit = handle_or_null(abti_wait_for_unit_until(pool, abstime_secs));
    return ABT_SUCCESS;
}

/* --- Pushes --- */

static int pool_push(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    return abti_error(abti_unit_push_to(unit, pool, context));
}

static ABTI_COLD int pool_push_checked(abti_pool *pool, abti_unit *unit, ABT_pool_context context, int code,
                                       const char *function)
{
    if (ABTI_REFUSE(ABTI_POOL_IS_BAD_IN(pool, function)))
        return abti_error_in(ABT_ERR_INV_POOL, function);
    if (abti_thread_is_null(unit))
        return ABT_SUCCESS;
    if (ABTI_MISUSED(abti_misuse_of_target(unit, false, function)))
        return abti_error_in(code, function);
    ABTI_USES_POOL_IN(pool, function);
    return pool_push(pool, unit, context);
}

ABTI_INLINE int push_thread(abti_pool *pool, abti_unit *unit, ABT_pool_context context, const char *function)
{
    if (abti_handle_is_to_check(pool))
        return pool_push_checked(pool, unit, context, ABT_ERR_INV_THREAD, function);
    return abti_thread_is_null(unit) ? ABT_SUCCESS : pool_push(pool, unit, context);
}

int ABT_pool_push_thread_ex(ABT_pool pool, ABT_thread thread, ABT_pool_context pool_ctx)
{
    return push_thread(pool, thread, pool_ctx, __func__);
}

int ABT_pool_push_thread(ABT_pool pool, ABT_thread thread)
{
    return push_thread(pool, thread, ABT_POOL_CONTEXT_OP_POOL_OTHER, __func__);
}

int ABT_pool_push(ABT_pool pool, ABT_unit unit)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(ABTI_UNIT_IS_NULL(unit), ABT_ERR_INV_UNIT);
    if (abti_handle_is_to_check(pool))
        return pool_push_checked(pool, abti_unit_from_handle(unit), ABT_POOL_CONTEXT_OP_POOL_OTHER, ABT_ERR_INV_UNIT,
                                 __func__);
    return pool_push(pool, abti_unit_from_handle(unit), ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

static int push_threads(abti_pool *pool, const ABT_thread *threads, size_t num, ABT_pool_context pool_ctx,
                        const char *function)
{
    if (ABTI_REFUSE(ABTI_POOL_IS_BAD_IN(pool, function)))
        return abti_error_in(ABT_ERR_INV_POOL, function);
    if (ABTI_REFUSE(!abti_pool_pushes_many(pool)))
        return abti_error_in(ABT_ERR_POOL, function);
    ABTI_USES_POOL_IN(pool, function);
    /* A unit whose association fails is not pushed; those before it are. */
    struct abti_batch batch = {.pool = pool, .context = pool_ctx};
    int code = ABT_SUCCESS;
    for (size_t i = 0; i < num && code == ABT_SUCCESS; i++) {
        if (abti_thread_is_null(threads[i]))
            continue;
        if (ABTI_MISUSED(abti_misuse_of_target(threads[i], false, function)))
            code = ABT_ERR_INV_THREAD;
        else
            code = abti_batch_add(&batch, threads[i]);
    }
    abti_batch_push(&batch);
    return code == ABT_SUCCESS ? code : abti_error_in(code, function);
}

int ABT_pool_push_threads_ex(ABT_pool pool, const ABT_thread *threads, size_t num, ABT_pool_context pool_ctx)
{
    return push_threads(pool, threads, num, pool_ctx, __func__);
}

int ABT_pool_push_threads(ABT_pool pool, const ABT_thread *threads, size_t num)
{
    return push_threads(pool, threads, num, ABT_POOL_CONTEXT_OP_POOL_OTHER, __func__);
}

int ABT_pool_remove(ABT_pool pool, ABT_unit unit)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    abti_unit *thread = abti_unit_from_handle(unit);
    ABTI_REFUSE_IF(ABTI_IS_STALE(thread, ABT_THREAD_NULL, ABTI_HANDLE_UNIT, __func__), ABT_ERR_INV_UNIT);
    int code = abti_pool_remove(pool, thread);
    if (code == ABT_SUCCESS)
        abti_note_popped(thread);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

/* --- Walking --- */

int ABT_pool_print_all_threads(ABT_pool pool, void *arg, void (*print_fn)(void *arg, ABT_thread))
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(!abti_pool_can(pool, ABTI_POOL_PRINT_ALL), ABT_ERR_POOL);
    abti_pool_print_all(pool, arg, print_fn);
    return ABT_SUCCESS;
}

struct print_units {
    void *arg;
    void (*print_fn)(void *arg, ABT_unit unit);
};

static void print_unit_handle(void *arg, abti_unit *unit)
{
    struct print_units *p = arg;
    p->print_fn(p->arg, abti_unit_handle(unit));
}

int ABT_pool_print_all(ABT_pool pool, void *arg, void (*print_fn)(void *arg, ABT_unit))
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(!abti_pool_can(pool, ABTI_POOL_PRINT_ALL), ABT_ERR_POOL);
    struct print_units p = {arg, print_fn};
    abti_pool_print_all(pool, &p, print_unit_handle);
    return ABT_SUCCESS;
}

/* --- Stacked schedulers --- */

int ABT_pool_add_sched(ABT_pool pool, ABT_sched sched)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_FAIL_IF(ABTI_REFUSE(ABTI_SCHED_IS_BAD(sched)) || !abti_sched_claim(sched, ABTI_SCHED_STACKED),
                 ABT_ERR_INV_SCHED);
    ABTI_USES_POOL(pool);
    int code = abti_create_stacked(pool, sched);
    if (code == ABT_SUCCESS)
        return code;
    /* release: pairs with abti_sched_claim */
    abti_store_release(&sched->use, ABTI_SCHED_UNUSED);
    return abti_error(code);
}

/* --- Units --- */

int ABT_unit_get_thread(ABT_unit unit, ABT_thread *thread)
{
    ABTI_REFUSE_IF(ABTI_UNIT_IS_NULL(unit), ABT_ERR_INV_UNIT);
    abti_unit *found = abti_unit_from_handle(unit);
    ABTI_REFUSE_IF(ABTI_IS_STALE(found, ABT_THREAD_NULL, ABTI_HANDLE_UNIT, __func__), ABT_ERR_INV_UNIT);
    *thread = found;
    return ABT_SUCCESS;
}

int ABT_unit_set_associated_pool(ABT_unit unit, ABT_pool pool)
{
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(ABTI_UNIT_IS_NULL(unit), ABT_ERR_INV_UNIT);
    ABTI_REFUSE_IF(ABTI_IS_STALE(abti_unit_from_handle(unit), ABT_THREAD_NULL, ABTI_HANDLE_UNIT, __func__),
                   ABT_ERR_INV_UNIT);
    return ABT_SUCCESS; /* pushing re-associates by itself */
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* User-defined pools, from the two kinds of definition. */
#include <stdlib.h>
#include "os/annotate.h"
#include "pool/member.h"
#include "pool/pool_impl.h"
#include "pool/user_def.h"
#include "rt/kvconf.h"

/* The operations of one pool. A function that its definition leaves out is NULL. */
struct user_pool {
    struct abti_pool_ops ops;
    struct abti_pool_ops plain;    /* what those call while the order of the calls is reported, see below */
    struct abti_pool_callbacks fn; /* of the new kind */
    struct ABT_pool_def def;       /* of the old kind; optional members may be garbage until they are asked for */
    bool inited;                   /* the user's init has succeeded, so that free must be called */
};

static struct user_pool *user_of(abti_pool *pool)
{
    return pool->impl;
}

/*
 * Wakes one that sleeps on the pool. The user's queue has a lock of its own, or none. seq_cst: pairs with the fence in
 * abti_parking_enter. After our fence either we see the sleeper's entry, or the sleeper, which entered before its fence
 * and looks after it, sees the unit.
 */
static void wake_one(abti_pool *pool)
{
    abti_fence_seq_cst();
    if (!abti_pool_has_parked(pool))
        return;
    abti_pool_lock(abti_es_self, pool);
    abti_parking_unlock_and_wake(pool, 1);
}

static abti_unit *unit_or_null(ABT_thread thread)
{
    return thread == ABT_THREAD_NULL || thread == ABT_TASK_NULL ? NULL : thread;
}

static int cannot_remove(abti_pool *pool, abti_unit *unit)
{
    (void)pool;
    (void)unit;
    return ABT_ERR_POOL;
}

static int cannot_tell(abti_pool *pool, abti_unit *unit, bool *in_pool)
{
    (void)pool;
    (void)unit;
    (void)in_pool;
    return ABT_ERR_POOL;
}

static void user_fini(abti_pool *pool)
{
    struct user_pool *user = user_of(pool);
    if (user->inited && user->fn.free)
        user->fn.free(pool);
    free(user);
}

/* --- The new kind: callbacks take units in and give work units out --- */

static void new_push_handle(abti_pool *pool, ABT_unit handle, ABT_pool_context context)
{
    user_of(pool)->fn.push(pool, handle, context);
    wake_one(pool);
}

/* It is out of line, so that the common case saves no register for it; so is old_push_other. */
static ABTI_NOINLINE void new_push_other(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    new_push_handle(pool, abti_unit_other_handle(unit), context);
}

static ABTI_HOT void new_push(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    if (ABTI_LIKELY(abti_unit_is_handle(unit)))
        new_push_handle(pool, (ABT_unit)unit, context);
    else
        new_push_other(pool, unit, context);
}

static ABTI_HOT abti_unit *new_pop(abti_pool *pool, ABT_pool_context context)
{
    return unit_or_null(user_of(pool)->fn.pop(pool, context));
}

static bool new_is_empty(abti_pool *pool)
{
    return user_of(pool)->fn.is_empty(pool) != ABT_FALSE;
}

static size_t new_size(abti_pool *pool)
{
    return user_of(pool)->fn.get_size(pool);
}

static abti_unit *new_pop_wait(abti_pool *pool, double secs, ABT_pool_context context)
{
    return unit_or_null(user_of(pool)->fn.pop_wait(pool, secs, context));
}

static void new_push_many(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context)
{
    enum { BATCH = 64 };
    ABT_unit handles[BATCH];
    for (size_t done = 0; done < num;) {
        size_t n = num - done < BATCH ? num - done : BATCH;
        for (size_t i = 0; i < n; i++)
            handles[i] = abti_unit_handle(units[done + i]);
        user_of(pool)->fn.push_many(pool, handles, n, context);
        done += n;
        for (size_t i = 0; i < n; i++)
            wake_one(pool);
    }
}

static size_t new_pop_many(abti_pool *pool, abti_unit **units, size_t len, ABT_pool_context context)
{
    size_t n = 0;
    user_of(pool)->fn.pop_many(pool, units, len, &n, context);
    return n;
}

static void new_print_all(abti_pool *pool, void *arg, void (*print)(void *, abti_unit *))
{
    user_of(pool)->fn.print_all(pool, arg, print);
}

static ABTI_HOT ABT_unit new_create_unit(abti_pool *pool, abti_unit *unit)
{
    return user_of(pool)->fn.create_unit(pool, unit);
}

static ABTI_HOT void new_free_unit(abti_pool *pool, ABT_unit handle)
{
    user_of(pool)->fn.free_unit(pool, handle);
}

static void setup_new(struct user_pool *user, const struct abti_pool_callbacks *fn)
{
    user->fn = *fn;
    user->ops = (struct abti_pool_ops){
        .push = new_push,
        .pop = new_pop,
        .is_empty = new_is_empty,
        .size = fn->get_size ? new_size : NULL,
        .push_many = fn->push_many ? new_push_many : NULL,
        .pop_many = fn->pop_many ? new_pop_many : NULL,
        .pop_wait = fn->pop_wait ? new_pop_wait : NULL,
        .remove = cannot_remove,
        .is_in_pool = cannot_tell,
        .print_all = fn->print_all ? new_print_all : NULL,
        .fini = user_fini,
        .create_unit = new_create_unit,
        .free_unit = new_free_unit,
    };
}

/* --- The old kind: units in and out --- */

static void old_push_handle(abti_pool *pool, ABT_unit handle)
{
    user_of(pool)->def.p_push(pool, handle);
    wake_one(pool);
}

static ABTI_NOINLINE void old_push_other(abti_pool *pool, abti_unit *unit)
{
    old_push_handle(pool, abti_unit_other_handle(unit));
}

static ABTI_HOT void old_push(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    (void)context;
    if (ABTI_LIKELY(abti_unit_is_handle(unit)))
        old_push_handle(pool, (ABT_unit)unit);
    else
        old_push_other(pool, unit);
}

static abti_unit *unit_of_handle(ABT_unit handle)
{
    return handle == ABT_UNIT_NULL || !handle ? NULL : abti_unit_from_handle(handle);
}

static ABTI_HOT abti_unit *old_pop(abti_pool *pool, ABT_pool_context context)
{
    (void)context;
    return unit_of_handle(user_of(pool)->def.p_pop(pool));
}

static size_t old_size(abti_pool *pool)
{
    return user_of(pool)->def.p_get_size(pool);
}

static bool old_is_empty(abti_pool *pool)
{
    return old_size(pool) == 0;
}

static abti_unit *old_pop_wait(abti_pool *pool, double secs, ABT_pool_context context)
{
    (void)context;
    return unit_of_handle(abti_pool_def_pop_wait(&user_of(pool)->def)(pool, secs));
}

static abti_unit *old_pop_timedwait(abti_pool *pool, double wtime)
{
    return unit_of_handle(user_of(pool)->def.p_pop_timedwait(pool, wtime));
}

static int old_remove(abti_pool *pool, abti_unit *unit)
{
    ABT_pool_remove_fn fn = user_of(pool)->def.p_remove;
    return fn ? fn(pool, abti_unit_handle(unit)) : ABT_ERR_POOL;
}

static int old_is_in_pool(abti_pool *pool, abti_unit *unit, bool *in_pool)
{
    struct ABT_pool_def *def = &user_of(pool)->def;
    if (!def->u_is_in_pool || !def->p_remove)
        return ABT_ERR_POOL;
    *in_pool = def->u_is_in_pool(abti_unit_handle(unit)) != ABT_FALSE;
    return ABT_SUCCESS;
}

struct print_arg {
    void *arg;
    void (*print)(void *arg, abti_unit *unit);
};

static void print_handle(void *arg, ABT_unit handle)
{
    struct print_arg *p = arg;
    p->print(p->arg, abti_unit_from_handle(handle));
}

static void old_print_all(abti_pool *pool, void *arg, void (*print)(void *, abti_unit *))
{
    struct print_arg p = {arg, print};
    user_of(pool)->def.p_print_all(pool, &p, print_handle);
}

static bool old_lacks(abti_pool *pool, enum abti_pool_option option)
{
    const struct ABT_pool_def *def = &user_of(pool)->def;
    switch (option) {
    case ABTI_POOL_POP_WAIT: return !abti_pool_def_pop_wait(def);
    case ABTI_POOL_POP_TIMEDWAIT: return !def->p_pop_timedwait;
    default: return !def->p_print_all;
    }
}

static ABTI_HOT ABT_unit old_create_unit(abti_pool *pool, abti_unit *unit)
{
    return user_of(pool)->def.u_create_from_thread(unit);
}

static ABTI_HOT void old_free_unit(abti_pool *pool, ABT_unit handle)
{
    user_of(pool)->def.u_free(&handle);
}

static void old_fini(abti_pool *pool)
{
    struct user_pool *user = user_of(pool);
    if (user->inited && user->def.p_free)
        user->def.p_free(pool);
    free(user);
}

static void setup_old(struct user_pool *user, const struct ABT_pool_def *def)
{
    user->def = *def;
    user->fn.init = def->p_init;
    user->ops = (struct abti_pool_ops){
        .push = old_push,
        .pop = old_pop,
        .is_empty = old_is_empty,
        .size = old_size,
        .push_many = abti_pool_push_each,
        .pop_many = abti_pool_pop_each,
        .pop_wait = old_pop_wait,
        .pop_timedwait = old_pop_timedwait,
        .remove = old_remove,
        .is_in_pool = old_is_in_pool,
        .print_all = old_print_all,
        .fini = old_fini,
        .create_unit = old_create_unit,
        .free_unit = old_free_unit,
        .lacks = old_lacks,
    };
}

/* --- The order of the calls, where a tool is informed of it --- */

/*
 * A pool that one stream uses needs no lock: its functions are called by the units that run on the stream, which orders
 * the calls. The calls of several streams are the user's to order.
 */
static const struct abti_pool_ops *begin_call(abti_pool *pool)
{
    if (abti_es_self)
        abti_annotate_acquire(abti_es_self);
    return &user_of(pool)->plain;
}

static void end_call(void)
{
    if (abti_es_self)
        abti_annotate_release(abti_es_self);
}

static void ordered_push(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    begin_call(pool)->push(pool, unit, context);
    end_call();
}

static void ordered_push_many(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context)
{
    begin_call(pool)->push_many(pool, units, num, context);
    end_call();
}

#define ORDERED(type, name, parameters, ...)                                                                           \
    static type ordered_##name parameters                                                                              \
    {                                                                                                                  \
        type result = begin_call(pool)->name(__VA_ARGS__);                                                             \
        end_call();                                                                                                    \
        return result;                                                                                                 \
    }

ORDERED(abti_unit *, pop, (abti_pool * pool, ABT_pool_context context), pool, context)
ORDERED(size_t, pop_many, (abti_pool * pool, abti_unit **units, size_t len, ABT_pool_context context), pool, units, len,
        context)
ORDERED(abti_unit *, pop_wait, (abti_pool * pool, double secs, ABT_pool_context context), pool, secs, context)
ORDERED(abti_unit *, pop_timedwait, (abti_pool * pool, double wtime), pool, wtime)
ORDERED(bool, is_empty, (abti_pool * pool), pool)
ORDERED(size_t, size, (abti_pool * pool), pool)
ORDERED(int, remove, (abti_pool * pool, abti_unit *unit), pool, unit)
ORDERED(ABT_unit, create_unit, (abti_pool * pool, abti_unit *unit), pool, unit)

static void ordered_free_unit(abti_pool *pool, ABT_unit handle)
{
    begin_call(pool)->free_unit(pool, handle);
    end_call();
}

/* Reports the order of the calls from now on. A function that the pool has not got stays NULL. */
static void tell_order(struct user_pool *user)
{
    struct abti_pool_ops *ops = &user->ops;
    user->plain = *ops;
    ops->push = ordered_push;
    ops->pop = ordered_pop;
    ops->is_empty = ordered_is_empty;
    ops->size = ops->size ? ordered_size : NULL;
    ops->push_many = ops->push_many && ops->push_many != abti_pool_push_each ? ordered_push_many : ops->push_many;
    ops->pop_many = ops->pop_many && ops->pop_many != abti_pool_pop_each ? ordered_pop_many : ops->pop_many;
    ops->pop_wait = ops->pop_wait ? ordered_pop_wait : NULL;
    ops->pop_timedwait = ops->pop_timedwait ? ordered_pop_timedwait : NULL;
    ops->remove = ordered_remove;
    ops->create_unit = ordered_create_unit;
    ops->free_unit = ordered_free_unit;
}

/* --- Making --- */

int abti_pool_create_user(ABT_pool_user_def def, ABT_pool_config config, abti_pool **out)
{
    struct user_pool *user = calloc(1, sizeof(*user));
    if (!user)
        return ABT_ERR_MEM;
    const struct abti_pool_user_def *new_def = abti_pool_user_def_of(def);
    if (new_def)
        setup_new(user, &new_def->callbacks);
    else
        setup_old(user, def);
    if (abti_annotate_order)
        tell_order(user);
    abti_pool *pool = abti_pool_alloc(ABTI_POOL_USER, &user->ops);
    if (!pool) {
        free(user);
        return ABT_ERR_MEM;
    }
    pool->impl = user;
    pool->user_pop = abti_annotate_order ? NULL : user->fn.pop;
    pool->access = new_def ? ABT_POOL_ACCESS_MPMC : def->access;
    pool->kind = (ABT_pool_kind)-1;
    struct abti_kvconf *conf = config && config != ABT_POOL_CONFIG_NULL ? &config->conf : NULL;
    pool->automatic = abti_kvconf_get_int(conf, ABTI_POOL_CONFIG_AUTOMATIC, 0) != 0;
    if (user->fn.init) {
        int code = user->fn.init(pool, config);
        if (code != ABT_SUCCESS) {
            abti_pool_destroy(pool);
            return code;
        }
    }
    user->inited = true;
    *out = pool;
    return ABT_SUCCESS;
}

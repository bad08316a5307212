/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/member.h"

#include <stdlib.h>
#include "unit/key.h"
#include "unit/ledger.h"
#include "unit/ownstack.h"

/*
 * Returns the handle in the cold line, or NULL. The caller has the unit, or gets a stale answer. acquire: pairs with
 * the release in take_handle, for a pool that is asked about a unit which runs elsewhere
 */
static ABT_unit handle_in_line(abti_unit *unit)
{
    struct abti_unit_cold *cold = abti_unit_cold_peek(unit);
    return cold ? abti_load_acquire(&cold->unit) : NULL;
}

/* Whether a user-defined pool made a handle for the unit. */
static bool has_handle(abti_unit *unit)
{
    return abti_unit_is_handle(unit) || handle_in_line(unit);
}

/* Forgets the handle that a user-defined pool made for the unit. The caller frees it. */
static void forget_handle(abti_unit *unit)
{
    struct abti_unit_cold *cold = abti_unit_cold_get(unit);
    if (abti_unit_is_handle(unit)) {
        /* release and acquire: of no use. A read-modify-write, since others may set PINNED */
        abti_fetch_and_acq_rel(&unit->cold, (uint8_t)~ABTI_COLD_HANDLE);
        return;
    }
    abti_unitmap_remove(unit);
    abti_store_relaxed(&cold->unit, NULL); /* relaxed: the caller has the unit, whose next push publishes it */
}

/* Frees the handle that a user-defined pool made for the unit, if there is one. */
static void unit_drop_handle(abti_unit *unit)
{
    if (!has_handle(unit))
        return;
    ABT_unit handle = abti_unit_handle(unit);
    forget_handle(unit);
    unit->pool->ops->free_unit(unit->pool, handle);
}

void abti_unit_call_back(abti_unit *unit)
{
    struct abti_unit_cold *cold = abti_unit_cold_peek(unit);
    if (cold) {
        /* relaxed: the unit has ended, and nobody else sets values any more */
        abti_ktable_destroy_all(abti_load_relaxed(&cold->keys));
        abti_store_relaxed(&cold->keys, NULL);
    }
    if (abti_unit_is_handle(unit))
        abti_unit_free_as_handle(unit);
    else
        unit_drop_handle(unit);
}

bool abti_unit_calls_back(abti_unit *unit)
{
    if (unit->flags & ABTI_UNIT_OWN_STACK && has_handle(unit))
        return true;
    struct abti_unit_cold *cold = abti_unit_cold_peek(unit);
    /* relaxed: the unit has ended, and nobody else sets values any more */
    return cold && abti_ktable_has_destructors(abti_load_relaxed(&cold->keys));
}

static void release_kept(void *unit)
{
    abti_unit_release(abti_es_self, unit);
}

/*
 * Keeps the descriptor of a freed unit that the ledger knows. The descriptor then looks like that of an ended tasklet
 * with a cold line, which every quick path refuses. It is written before the ledger gets it: when other threads free
 * many units at once, the ledger may release this one before the caller goes on.
 */
static bool keep_back(abti_unit *unit)
{
    struct abti_ledger_note note;
    if (!abti_ledger_find(unit, &note) || note.freed)
        return false;
    abti_unit_mark_free(unit);
    unit->flags = ABTI_UNIT_TASKLET | ABTI_UNIT_NAMED;
    /* relaxed: a thread that looks at the unit yet has no right to, and the ledger tells it so */
    abti_store_relaxed(&unit->join, ABTI_JOIN_DONE);
    return abti_ledger_keep(unit, release_kept);
}

void abti_unit_free(abti_unit *unit)
{
    abti_unit_call_back(unit);
    abti_unit_forget_migrated(unit);
    if (unit->flags & ABTI_UNIT_OWN_STACK) {
        if (abti_annotate_on)
            abti_stack_forget(unit->stack);
        abti_ownstack_give(abti_es_self, unit->stack);
    }
    if (ABTI_LIKELY(!abti_ledger_on) || !keep_back(unit))
        abti_unit_release(abti_es_self, unit);
}

/* `pool` is the unit's from now on, with the handle that it has made. */
static void take_handle(abti_unit *unit, abti_pool *pool, ABT_unit handle)
{
    /* release: pairs with the acquire in handle_in_line. The stores of create_unit are seen by way of the handle */
    abti_store_release(&abti_unit_cold_get(unit)->unit, handle);
    abti_unit_set_pool(unit, pool);
    abti_unitmap_add(unit);
}

static int associate_with_other(abti_unit *unit, abti_pool *pool)
{
    if (!abti_pool_is_user(pool)) {
        unit_drop_handle(unit);
        abti_unit_set_pool(unit, pool);
        return ABT_SUCCESS;
    }
    ABT_unit handle = pool->ops->create_unit(pool, unit);
    if (handle == ABT_UNIT_NULL || !handle)
        return ABT_ERR_OTHER;
    unit_drop_handle(unit);
    take_handle(unit, pool, handle);
    return ABT_SUCCESS;
}

int abti_unit_enter_first(abti_unit *unit, abti_pool *pool, ABT_unit handle)
{
    forget_handle(unit);
    if (handle == ABT_UNIT_NULL || !handle)
        return ABT_ERR_OTHER;
    abti_store_relaxed(&pool->has_other_handles, true); /* relaxed: it is a hint */
    take_handle(unit, pool, handle);
    return ABT_SUCCESS;
}

int abti_unit_associate(abti_unit *unit, abti_pool *pool)
{
    bool has = has_handle(unit);
    if (ABTI_LIKELY(!abti_pool_is_user(pool) && !has)) {
        abti_unit_set_pool(unit, pool);
        return ABT_SUCCESS;
    }
    if (has && unit->pool == pool)
        return ABT_SUCCESS;
    return associate_with_other(unit, pool);
}

ABT_unit abti_unit_other_handle(abti_unit *unit)
{
    ABT_unit handle = handle_in_line(unit);
    return handle ? handle : abti_unit_own_handle(unit);
}

int abti_unit_push_to(abti_unit *unit, abti_pool *pool, ABT_pool_context context)
{
    int code = abti_unit_associate(unit, pool);
    if (code == ABT_SUCCESS)
        abti_pool_push(pool, unit, context);
    return code;
}

int abti_batch_add(struct abti_batch *batch, abti_unit *unit)
{
    abti_assert(batch->num < sizeof(batch->units) / sizeof(batch->units[0]));
    int code = abti_unit_associate(unit, batch->pool);
    if (code != ABT_SUCCESS)
        return code;
    batch->units[batch->num++] = unit;
    if (batch->num == sizeof(batch->units) / sizeof(batch->units[0]))
        abti_batch_push(batch);
    return ABT_SUCCESS;
}

void abti_batch_push(struct abti_batch *batch)
{
    if (batch->num > 0)
        abti_pool_push_many(batch->pool, batch->units, batch->num, batch->context);
    batch->num = 0;
}

enum abti_taking abti_unit_take_out_by_pool(abti_unit *unit)
{
    /* A user-defined pool is not asked about a unit that runs elsewhere, where it may change its pool and its handle.
     */
    if (abti_unit_state(unit) != ABT_THREAD_STATE_READY)
        return ABTI_TAKING_MISSED;
    abti_pool *pool = abti_plain_load_relaxed(&unit->pool); /* relaxed: see abti_unit_take_out */
    bool in_pool = true;
    if (pool->ops->is_in_pool && pool->ops->is_in_pool(pool, unit, &in_pool) != ABT_SUCCESS)
        return ABTI_TAKING_FAILED;
    if (!in_pool)
        return ABTI_TAKING_MISSED;
    if (abti_pool_remove(pool, unit) == ABT_SUCCESS)
        return ABTI_TAKING_DONE;
    return abti_pool_is_user(pool) ? ABTI_TAKING_FAILED : ABTI_TAKING_MISSED; /* a built-in pool: it has been popped */
}

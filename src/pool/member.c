#include "pool/member.h"

#include <stdlib.h>
#include "os/annotate.h"
#include "unit/key.h"
#include "unit/ledger.h"
#include "unit/ownstack.h"
#include "unit/unitmap.h"

/*
 * Returns the handle that a user-defined pool made for the unit, or NULL. relaxed: the caller has the unit, or gets a
 * stale answer.
 */
static ABT_unit made_handle(abti_unit *unit)
{
    struct abti_unit_cold *cold = abti_unit_cold_peek(unit);
    return cold ? abti_load_relaxed(&cold->unit) : NULL;
}

/*
 * Frees the handle that a user-defined pool made for the unit. relaxed: the caller has the unit, whose next push
 * publishes the store.
 */
static void unit_drop_handle(abti_unit *unit)
{
    ABT_unit handle = made_handle(unit);
    if (!handle)
        return;
    abti_unitmap_remove(unit);
    abti_store_relaxed(&abti_unit_cold_get(unit)->unit, NULL);
    unit->pool->ops->free_unit(unit->pool, handle);
}

void abti_unit_call_back(abti_unit *unit)
{
    struct abti_unit_cold *cold = abti_unit_cold_peek(unit);
    if (!cold)
        return;
    /* relaxed: the unit has ended, and nobody else sets values any more */
    abti_ktable_destroy_all(abti_load_relaxed(&cold->keys));
    abti_store_relaxed(&cold->keys, NULL);
    unit_drop_handle(unit);
}

bool abti_unit_calls_back(abti_unit *unit)
{
    struct abti_unit_cold *cold = abti_unit_cold_peek(unit);
    /* relaxed: the unit has ended, and nobody else sets values any more */
    return cold && (abti_ktable_has_destructors(abti_load_relaxed(&cold->keys)) ||
                    (unit->flags & ABTI_UNIT_OWN_STACK && made_handle(unit)));
}

static void release_kept(void *unit)
{
    abti_unit_release(abti_es_self, unit);
}

/*
 * Of a unit that the ledger knows, the descriptor stays. It looks like a tasklet that has ended and has more than its
 * descriptor, which no quick path takes for anything. That is written before the ledger has it: others may free so many
 * units at once that it lets go of this one before we go on.
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

static int associate_slow(abti_unit *unit, abti_pool *pool)
{
    if (!pool->user_defined) {
        unit_drop_handle(unit);
        abti_unit_set_pool(unit, pool);
        return ABT_SUCCESS;
    }
    struct abti_unit_cold *cold = abti_unit_cold_get(unit);
    ABT_unit handle = pool->ops->create_unit(pool, unit);
    if (handle == ABT_UNIT_NULL || !handle)
        return ABT_ERR_OTHER;
    unit_drop_handle(unit);
    abti_store_relaxed(&cold->unit, handle); /* relaxed: the caller has the unit, and its next push publishes it */
    abti_unit_set_pool(unit, pool);
    abti_unitmap_add(unit);
    return ABT_SUCCESS;
}

int abti_unit_associate(abti_unit *unit, abti_pool *pool)
{
    bool has_handle = made_handle(unit) != NULL;
    if (ABTI_LIKELY(!pool->user_defined && !has_handle)) {
        abti_unit_set_pool(unit, pool);
        return ABT_SUCCESS;
    }
    if (has_handle && unit->pool == pool)
        return ABT_SUCCESS;
    return associate_slow(unit, pool);
}

ABT_unit abti_unit_handle(abti_unit *unit)
{
    ABT_unit handle = made_handle(unit);
    return handle ? handle : abti_unit_own_handle(unit);
}

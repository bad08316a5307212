/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse of units and pools. */
#include <stdio.h>
#include "run/attr.h"
#include "api/misuse.h"
#include "pool/blocked.h"

enum { UNIT_TEXT = ABTI_MISUSE_TEXT };

bool abti_misuse_of_join(abti_es *es, abti_unit *unit, const char *function)
{
    const char *problem = NULL;
    if (ABTI_IS_NULL(unit, ABT_THREAD_NULL))
        return false;
    if (abti_misuse_is_stale(unit, ABTI_HANDLE_UNIT, function))
        return true;
    if (es && es->cur == unit)
        problem = "is the caller, which cannot wait for its own end";
    else if (unit->flags & ABTI_UNIT_PRIMARY)
        problem = "is the primary ULT, which ends with the program";
    else if (unit->flags & ABTI_UNIT_MAIN_SCHED)
        problem = "runs the main scheduler of an execution stream";
    else if (!(unit->flags & ABTI_UNIT_NAMED))
        problem = "is unnamed, and frees itself";
    if (!problem)
        return false;
    abti_misuse_tell(function, unit, ABTI_HANDLE_UNIT, problem);
    return true;
}

bool abti_misuse_of_pool(abti_pool *pool, const char *function)
{
    char problem[UNIT_TEXT];
    int scheds = abti_load_relaxed(&pool->num_scheds); /* relaxed: others that use it meanwhile are the mistake */
    if (scheds > 0)
        snprintf(problem, sizeof(problem), "is used by %d scheduler%s", scheds, scheds == 1 ? "" : "s");
    else if (!abti_pool_is_empty(pool))
        snprintf(problem, sizeof(problem), "has units in it");
    else if (abti_pool_num_blocked(pool) > 0)
        snprintf(problem, sizeof(problem), "has blocked units that come back to it");
    else
        return false;
    abti_misuse_tell(function, pool, ABTI_HANDLE_POOL, problem);
    return true;
}

struct search {
    const abti_unit *unit;
    bool found;
};

static void look_at_member(void *arg, abti_unit *unit)
{
    struct search *search = arg;
    search->found |= unit == search->unit;
}

/*
 * The built-in pool that the unit is in, or NULL. It goes over all that are there, and so is asked only of a unit
 * that the user has not popped. The units in a user-defined pool are not known.
 */
static abti_pool *pool_with(abti_unit *unit)
{
    struct abti_ledger_note note;
    struct search search = {.unit = unit};
    if (abti_ledger_find(unit, &note) && note.popped)
        return NULL;
    abti_pool *pool = abti_unit_last_pool(unit);
    if (!pool || !abti_ledger_find(pool, &note) || note.kind != ABTI_HANDLE_POOL || note.freed ||
        abti_pool_is_user(pool))
        return NULL;
    if (pool->access == ABT_POOL_ACCESS_PRIV && !abti_pool_is_keeper(abti_es_self, pool))
        return NULL;
    abti_pool_print_all(pool, &search, look_at_member);
    return search.found ? pool : NULL;
}

bool abti_misuse_of_target(abti_unit *unit, bool resumed, const char *function)
{
    char problem[UNIT_TEXT] = "";
    if (abti_misuse_is_stale(unit, ABTI_HANDLE_UNIT, function))
        return true;
    ABT_thread_state state = abti_unit_state(unit);
    abti_pool *pool = NULL;
    if (state == ABT_THREAD_STATE_TERMINATED)
        snprintf(problem, sizeof(problem), "has ended");
    else if (resumed)
        snprintf(problem, sizeof(problem), "%s", state == ABT_THREAD_STATE_READY ? "is not blocked" : "");
    else if (state != ABT_THREAD_STATE_READY)
        snprintf(problem, sizeof(problem), "%s", state == ABT_THREAD_STATE_BLOCKED ? "is blocked" : "runs");
    else if ((pool = pool_with(unit)))
        snprintf(problem, sizeof(problem), "is queued in pool %p, and has not been popped", (void *)pool);
    if (*problem) {
        abti_misuse_tell(function, unit, ABTI_HANDLE_UNIT, problem);
        return true;
    }
    abti_ledger_note_popped(unit, false);
    return false;
}

bool abti_misuse_of_revive(abti_unit *unit, const char *function)
{
    if (abti_misuse_is_stale(unit, ABTI_HANDLE_UNIT, function))
        return true;
    if (abti_unit_is_done(unit))
        return false;
    abti_misuse_tell(function, unit, ABTI_HANDLE_UNIT, "has not ended");
    return true;
}

bool abti_misuse_of_attr(ABT_thread_attr attr, const char *function)
{
    char problem[UNIT_TEXT + 64], user[UNIT_TEXT];
    if (abti_misuse_is_stale(attr, ABTI_HANDLE_THREAD_ATTR, function))
        return true;
    const void *unit = attr->stackaddr ? abti_ledger_stack_user(attr->stackaddr, attr->stacksize) : NULL;
    if (!unit)
        return false;
    abti_misuse_spell_owner(user, unit);
    snprintf(problem, sizeof(problem), "has the stack %p, which %s has", attr->stackaddr, user);
    abti_misuse_tell(function, attr, ABTI_HANDLE_THREAD_ATTR, problem);
    return true;
}

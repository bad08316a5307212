#include "api/misuse.h"

#include <stdio.h>
#include <stdlib.h>
#include "os/symbol.h"
#include "pool/blocked.h"
#include "rt/rt.h"
#include "sync/mutex.h"

enum { TEXT = 256 };

static const char *const kind_names[] = {
    [ABTI_HANDLE_UNIT] = "ULT",        [ABTI_HANDLE_POOL] = "pool",
    [ABTI_HANDLE_SCHED] = "scheduler", [ABTI_HANDLE_XSTREAM] = "execution stream",
    [ABTI_HANDLE_MUTEX] = "mutex",     [ABTI_HANDLE_COND] = "condition variable",
    [ABTI_HANDLE_RWLOCK] = "rwlock",   [ABTI_HANDLE_EVENTUAL] = "eventual",
    [ABTI_HANDLE_FUTURE] = "future",   [ABTI_HANDLE_BARRIER] = "barrier",
    [ABTI_HANDLE_KEY] = "key",
};

/* "ULT 0x55d0 of work". */
static void spell_unit(char text[TEXT], const char *kind, const void *unit, void (*func)(void *))
{
    char name[TEXT / 2] = "";
    if (func)
        (void)abti_symbol_text(name, sizeof(name), (void *)(uintptr_t)func);
    snprintf(text, TEXT, "%s %p%s%s", kind, unit, func ? " of " : "", name);
}

static void spell_party(char text[TEXT], const struct abti_party *party)
{
    switch (party->kind) {
    case ABTI_PARTY_NATIVE: snprintf(text, TEXT, "a native thread"); break;
    case ABTI_PARTY_PRIMARY: snprintf(text, TEXT, "the primary ULT"); break;
    case ABTI_PARTY_SCHED: spell_unit(text, "the scheduler's ULT", party->unit, NULL); break;
    case ABTI_PARTY_TASKLET: spell_unit(text, "tasklet", party->unit, party->func); break;
    case ABTI_PARTY_ULT: spell_unit(text, "ULT", party->unit, party->func); break;
    }
}

static void spell_object(char text[TEXT], const void *handle, enum abti_handle_kind kind, bool tasklet,
                         void (*func)(void *))
{
    spell_unit(text, tasklet ? "tasklet" : kind_names[kind], handle, func);
}

static void end_if_asked(void)
{
    if (abti_rt.config.check == ABTI_CHECK_ABORT)
        abort();
}

void abti_misuse_tell(const char *function, const void *handle, enum abti_handle_kind kind, const char *problem)
{
    char object[TEXT], creator[TEXT];
    struct abti_ledger_note note = {.kind = kind};
    bool known = abti_ledger_find(handle, &note);
    spell_object(object, handle, note.kind, note.tasklet, note.func);
    if (known)
        spell_party(creator, &note.creator);
    fprintf(stderr, "libabt: %s: %s%s%s%s %s\n", function, object, known ? " (created by " : "", known ? creator : "",
            known ? ")" : "", problem);
    end_if_asked();
}

static void tell_freed(const char *function, const void *handle, const struct abti_ledger_note *note)
{
    char problem[TEXT + 32] = "has been freed", freer[TEXT];
    if (note->freer.unit != handle) { /* else it has freed itself for its joiner */
        spell_party(freer, &note->freer);
        snprintf(problem, sizeof(problem), "has been freed by %s", freer);
    }
    abti_misuse_tell(function, handle, note->kind, problem);
}

bool abti_misuse_is_stale(const void *handle, enum abti_handle_kind kind, const char *function)
{
    struct abti_ledger_note note;
    char problem[TEXT];
    if (!abti_ledger_find(handle, &note))
        return false;
    if (note.freed) {
        tell_freed(function, handle, &note);
        return true;
    }
    if (note.kind == kind)
        return false;
    snprintf(problem, sizeof(problem), "is not of the kind %s", kind_names[kind]);
    abti_misuse_tell(function, handle, note.kind, problem);
    return true;
}

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
    char problem[TEXT];
    int scheds = abti_load_relaxed(&pool->num_scheds); /* relaxed: others that use it meanwhile are the mistake */
    if (scheds > 0)
        snprintf(problem, sizeof(problem), "is used by %d scheduler%s", scheds, scheds == 1 ? "" : "s");
    else if (!pool->ops->is_empty(pool))
        snprintf(problem, sizeof(problem), "has units in it");
    else if (abti_pool_num_blocked(pool) > 0)
        snprintf(problem, sizeof(problem), "has blocked units that come back to it");
    else
        return false;
    abti_misuse_tell(function, pool, ABTI_HANDLE_POOL, problem);
    return true;
}

static bool is_locked(ABT_mutex mutex)
{
    /* relaxed: the caller asks of itself, or there is a mistake whatever the moment */
    return (abti_load_relaxed(&mutex->word) & ABTI_MUTEX_LOCKED) != 0;
}

bool abti_misuse_of_lock(ABT_mutex mutex, const char *function)
{
    if (abti_misuse_is_stale(mutex, ABTI_HANDLE_MUTEX, function))
        return true;
    if (!abti_mutex_is_recursive(mutex) && is_locked(mutex) && abti_mutex_owner(mutex) == abti_mutex_self())
        abti_misuse_tell(function, mutex, ABTI_HANDLE_MUTEX, "is locked by the caller, and is not recursive");
    return false;
}

/* An owner of a mutex: a unit, or an address that stands for a native thread. */
static void spell_owner(char text[TEXT], const void *owner)
{
    struct abti_ledger_note note;
    if (abti_ledger_find(owner, &note))
        spell_object(text, owner, note.kind, note.tasklet, note.func);
    else if (!abti_slab_has(&abti_rt.unit_slab, owner))
        snprintf(text, TEXT, "a native thread");
    else if (((const abti_unit *)owner)->flags & ABTI_UNIT_PRIMARY)
        snprintf(text, TEXT, "the primary ULT");
    else
        snprintf(text, TEXT, "ULT %p", owner); /* that runs a scheduler, perhaps */
}

bool abti_misuse_of_unlock(ABT_mutex mutex, const char *function)
{
    char problem[TEXT + 32], owner[TEXT];
    if (abti_misuse_is_stale(mutex, ABTI_HANDLE_MUTEX, function))
        return true;
    if (!is_locked(mutex)) {
        abti_misuse_tell(function, mutex, ABTI_HANDLE_MUTEX, "is not locked");
        return true;
    }
    const void *unit = abti_mutex_owner(mutex);
    if (!unit || unit == abti_mutex_self())
        return false;
    spell_owner(owner, unit);
    snprintf(problem, sizeof(problem), "is locked by %s, not by the caller", owner);
    abti_misuse_tell(function, mutex, ABTI_HANDLE_MUTEX, problem);
    return abti_mutex_is_recursive(mutex);
}

bool abti_misuse_of_function(void (*func)(void *), const char *function)
{
    char caller[TEXT];
    if (func)
        return false;
    struct abti_party self = abti_party_self();
    spell_party(caller, &self);
    fprintf(stderr, "libabt: %s: the function of a new unit is NULL (created by %s)\n", function, caller);
    end_if_asked();
    return true;
}

void abti_misuse_note_unit(abti_unit *unit)
{
    (void)abti_unit_cold_get(unit); /* so that it is freed on the general path */
    abti_ledger_note_made(unit, ABTI_HANDLE_UNIT, abti_unit_is_tasklet(unit), unit->func);
}

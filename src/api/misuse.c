/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/misuse.h"

#include <stdio.h>
#include <stdlib.h>
#include "rt/symbol.h"
#include "pool/pool.h"
#include "rt/rt.h"

enum { TEXT = ABTI_MISUSE_TEXT, LONG = 2 * TEXT + 32 };

static const char *const kind_names[] = {
    [ABTI_HANDLE_UNIT] = "ULT",
    [ABTI_HANDLE_POOL] = "pool",
    [ABTI_HANDLE_SCHED] = "scheduler",
    [ABTI_HANDLE_XSTREAM] = "execution stream",
    [ABTI_HANDLE_MUTEX] = "mutex",
    [ABTI_HANDLE_COND] = "condition variable",
    [ABTI_HANDLE_RWLOCK] = "rwlock",
    [ABTI_HANDLE_EVENTUAL] = "eventual",
    [ABTI_HANDLE_FUTURE] = "future",
    [ABTI_HANDLE_BARRIER] = "barrier",
    [ABTI_HANDLE_KEY] = "key",
    [ABTI_HANDLE_XBARRIER] = "barrier of execution streams",
    [ABTI_HANDLE_TIMER] = "timer",
    [ABTI_HANDLE_THREAD_ATTR] = "ULT attribute",
    [ABTI_HANDLE_DRIVER] = "driver",
    [ABTI_HANDLE_MUTEX_ATTR] = "mutex attribute",
    [ABTI_HANDLE_POOL_CONFIG] = "pool configuration",
    [ABTI_HANDLE_POOL_DEF] = "pool definition",
    [ABTI_HANDLE_SCHED_CONFIG] = "scheduler configuration",
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

/* "ULT 0x55d0 of work (created by the primary ULT)", as far as it is known. */
static void spell_with_creator(char text[LONG], const void *handle, enum abti_handle_kind kind)
{
    char object[TEXT], creator[TEXT];
    struct abti_ledger_note note = {.kind = kind};
    bool known = abti_ledger_find(handle, &note) && !note.foreign;
    spell_object(object, handle, note.kind, note.tasklet, note.func);
    if (known)
        spell_party(creator, &note.creator);
    snprintf(text, LONG, "%s%s%s%s", object, known ? " (created by " : "", known ? creator : "", known ? ")" : "");
}

void abti_misuse_tell(const char *function, const void *handle, enum abti_handle_kind kind, const char *problem)
{
    char object[LONG];
    spell_with_creator(object, handle, kind);
    fprintf(stderr, "libabt: %s: %s %s\n", function, object, problem);
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

static bool tell_garbage(const char *function, const void *handle, enum abti_handle_kind kind, const char *why)
{
    fprintf(stderr, "libabt: %s: handle %p is not of the kind %s: %s\n", function, handle, kind_names[kind], why);
    end_if_asked();
    return true;
}

bool abti_misuse_is_stale(const void *handle, enum abti_handle_kind kind, const char *function)
{
    struct abti_ledger_note note;
    char problem[TEXT];
    if (!abti_ledger_find(handle, &note) || (note.foreign && note.kind != kind)) {
        const char *why = abti_garbage_reason(handle, kind);
        return why && tell_garbage(function, handle, kind, why);
    }
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

void abti_misuse_spell_owner(char text[ABTI_MISUSE_TEXT], const void *owner)
{
    struct abti_ledger_note note;
    if (owner && abti_ledger_find(owner, &note))
        spell_object(text, owner, note.kind, note.tasklet, note.func);
    else if (!owner || !abti_slab_has(&abti_rt.unit_slab, owner))
        snprintf(text, TEXT, "a native thread");
    else if (((const abti_unit *)owner)->flags & ABTI_UNIT_PRIMARY)
        snprintf(text, TEXT, "the primary ULT");
    else
        snprintf(text, TEXT, "ULT %p", owner); /* that runs a scheduler, perhaps */
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

bool abti_misuse_of_private(abti_pool *pool, const char *function)
{
    char caller[TEXT], problem[2 * TEXT];
    int rank = abti_pool_is_private(pool) ? abti_pool_foreign_rank(abti_es_self, pool) : -1;
    if (rank < 0 || abti_load_relaxed(&pool->is_reported))
        return false;
    abti_store_relaxed(&pool->is_reported, true);
    struct abti_party self = abti_party_self();
    spell_party(caller, &self);
    snprintf(problem, sizeof(problem), "is private to execution stream %d, and is used by %s elsewhere", rank, caller);
    abti_misuse_tell(function, pool, ABTI_HANDLE_POOL, problem);
    return false;
}

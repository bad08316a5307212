/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/registry.h"

#include <inttypes.h>
#include <stdio.h>
#include "rt/symbol.h"
#include "os/clock.h"

/* --- Words --- */

const char *abti_registry_kind_name(enum abti_unit_kind kind)
{
    static const char *const names[] = {
        [ABTI_KIND_ULT] = "ULT",
        [ABTI_KIND_TASKLET] = "tasklet",
        [ABTI_KIND_PRIMARY] = "primary ULT",
        [ABTI_KIND_ENTERED] = "entered ULT",
        [ABTI_KIND_MAIN_SCHED] = "main scheduler",
        [ABTI_KIND_SCHED] = "stacked scheduler",
    };
    return names[kind];
}

const char *abti_registry_state_name(ABT_thread_state state)
{
    static const char *const names[] = {
        [ABT_THREAD_STATE_READY] = "READY",
        [ABT_THREAD_STATE_RUNNING] = "RUNNING",
        [ABT_THREAD_STATE_BLOCKED] = "BLOCKED",
        [ABT_THREAD_STATE_TERMINATED] = "TERMINATED",
    };
    return names[state];
}

const char *abti_registry_wait_name(enum abti_wait_kind wait)
{
    static const char *const names[] = {
        [ABTI_WAIT_NOTHING] = "nothing",
        [ABTI_WAIT_SUSPEND] = "being resumed",
        [ABTI_WAIT_MUTEX] = "mutex",
        [ABTI_WAIT_COND] = "cond",
        [ABTI_WAIT_RWLOCK] = "rwlock",
        [ABTI_WAIT_EVENTUAL] = "eventual",
        [ABTI_WAIT_ANY] = "any of several eventuals",
        [ABTI_WAIT_FUTURE] = "future",
        [ABTI_WAIT_BARRIER] = "barrier",
        [ABTI_WAIT_JOIN] = "the end of unit",
        [ABTI_WAIT_FREE] = "the end and free of unit",
        [ABTI_WAIT_SLEEP] = "a time",
        [ABTI_WAIT_WORD] = "word",
        [ABTI_WAIT_OTHER] = "something else",
    };
    return names[wait];
}

const char *abti_registry_name(char text[ABTI_NAME_ROOM], const struct abti_unit_note *note)
{
    char code[ABTI_NAME_ROOM / 2], id[32];
    if (note->id == ABTI_NO_ID)
        snprintf(id, sizeof(id), "%p", (void *)note->unit);
    else
        snprintf(id, sizeof(id), "%" PRId64, note->id);
    const char *kind = abti_registry_kind_name(note->kind);
    if (!note->func) {
        snprintf(text, ABTI_NAME_ROOM, "%s %s", kind, id);
        return text;
    }
    snprintf(text, ABTI_NAME_ROOM, "%s %s (%s)", kind, id,
             abti_symbol_place(code, sizeof(code), (void *)(uintptr_t)note->func));
    return text;
}

/* --- Lines --- */

/* "ULT 0x1234 (id 5)" */
static void print_note_name(FILE *fp, const struct abti_unit_note *note)
{
    fprintf(fp, "%s %p", abti_registry_kind_name(note->kind), (void *)note->unit);
    if (note->id != ABTI_NO_ID)
        fprintf(fp, " (id %" PRId64 ")", note->id);
}

static void print_note_function(FILE *fp, const struct abti_unit_note *note)
{
    char text[248];
    if (!note->func)
        return;
    abti_symbol_describe((uintptr_t)note->func, false, text, sizeof(text));
    fprintf(fp, ", function %p %s, argument %p", (void *)(uintptr_t)note->func, text, note->arg);
}

static void print_note_number(FILE *fp, const char *what, int number)
{
    if (number >= 0)
        fprintf(fp, ", %s %d", what, number);
}

static void print_note_owner(FILE *fp, const struct abti_unit_note *note)
{
    struct abti_unit_note owner;
    if (!note->owner || !abti_registry_look(note->owner, &owner))
        return;
    fputs(note->owner == note->object ? ": " : ", held by ", fp);
    print_note_name(fp, &owner);
    fprintf(fp, ", %s", abti_registry_state_name(owner.state));
}

void abti_registry_print_wait(FILE *fp, const struct abti_unit_note *note)
{
    uint64_t now = abti_clock_mono_ns();
    fprintf(fp, "  waits for %s", abti_registry_wait_name(note->wait));
    if (note->object)
        fprintf(fp, " %p", note->object);
    print_note_owner(fp, note);
    if (note->waited_ns > 0)
        fprintf(fp, ", since %.3f s", (double)note->waited_ns / 1e9);
    if (note->has_deadline)
        fprintf(fp, ", %.3f s more at most", note->deadline_ns > now ? (double)(note->deadline_ns - now) / 1e9 : 0.0);
    fputc('\n', fp);
}

void abti_registry_print(FILE *fp, const struct abti_unit_note *note)
{
    print_note_name(fp, note);
    fprintf(fp, ": %s", abti_registry_state_name(note->state));
    print_note_function(fp, note);
    print_note_number(fp, "pool", note->pool_id);
    print_note_number(fp, note->state == ABT_THREAD_STATE_RUNNING ? "stream" : "last stream", note->rank);
    fputc('\n', fp);
    if (note->wait != ABTI_WAIT_NOTHING)
        abti_registry_print_wait(fp, note);
}

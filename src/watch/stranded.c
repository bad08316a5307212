/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/stranded.h"

#include <stdio.h>
#include <stdlib.h>
#include "idle/driver.h"
#include "os/symbol.h"
#include "os/clock.h"
#include "pool/blocked.h"
#include "rt/rt.h"
#include "unit/ledger.h"
#include "watch/registry.h"

/* How often it is looked, and after how many looks blocked units are reported although others could still run. */
enum { LOOK_NS = 1000000000, PATIENCE = 5, MOST_LINES = 50, NAME = 128 };

/* ABT_finalize's, which is called by one thread at a time. */
static struct {
    uint64_t due_ns;
    unsigned looks;
    ABTX_driver driver; /* NULL: there was no memory for it */
    bool reported;
} stranded;

struct census {
    unsigned blocked, lines;
    bool others; /* that run, or will */
};

/* Not the units that ABT_finalize itself is made of. */
static bool is_of_user(const struct abti_unit_note *note)
{
    return note->kind != ABTI_KIND_PRIMARY && note->kind != ABTI_KIND_ENTERED && note->kind != ABTI_KIND_MAIN_SCHED &&
           note->state != ABT_THREAD_STATE_TERMINATED;
}

static bool is_stranded(const struct abti_unit_note *note)
{
    return is_of_user(note) && note->state == ABT_THREAD_STATE_BLOCKED && !note->has_deadline;
}

static bool count_unit(const struct abti_unit_note *note, void *arg)
{
    struct census *census = arg;
    census->blocked += is_stranded(note);
    census->others |= is_of_user(note) && !is_stranded(note);
    return true;
}

static void spell_func(void (*func)(void *), char name[NAME])
{
    (void)abti_symbol_text(name, NAME, (void *)(uintptr_t)func);
}

/* " (created by ULT 0x1 of work)", where that is known. */
static void spell_creator(const abti_unit *unit, char text[2 * NAME])
{
    struct abti_ledger_note note;
    char name[NAME];
    text[0] = '\0';
    if (!abti_ledger_on || !abti_ledger_find(unit, &note))
        return;
    if (note.creator.kind == ABTI_PARTY_PRIMARY || !note.creator.func) {
        snprintf(text, 2 * NAME, " (created by %s)",
                 note.creator.kind == ABTI_PARTY_PRIMARY ? "the primary ULT" : "a native thread");
        return;
    }
    spell_func(note.creator.func, name);
    snprintf(text, 2 * NAME, " (created by %p of %s)", note.creator.unit, name);
}

static bool print_stranded(const struct abti_unit_note *note, void *arg)
{
    struct census *census = arg;
    char name[NAME], creator[2 * NAME], owner[NAME] = "";
    if (!is_stranded(note) || census->lines == MOST_LINES)
        return census->lines < MOST_LINES;
    census->lines++;
    spell_func(note->func, name);
    spell_creator(note->unit, creator);
    const char *kind = abti_registry_kind_name(note->kind);
    if (note->wait == ABTI_WAIT_MUTEX && note->owner)
        snprintf(owner, sizeof(owner), ", which %p has", (void *)note->owner);
    if (note->wait == ABTI_WAIT_SUSPEND)
        fprintf(stderr, "libabt:   %s %p of %s%s is suspended\n", kind, (void *)note->unit, name, creator);
    else if (note->wait == ABTI_WAIT_JOIN || note->wait == ABTI_WAIT_FREE)
        fprintf(stderr, "libabt:   %s %p of %s%s waits for the end of %p\n", kind, (void *)note->unit, name, creator,
                note->object);
    else
        fprintf(stderr, "libabt:   %s %p of %s%s waits for %s %p%s\n", kind, (void *)note->unit, name, creator,
                abti_registry_wait_name(note->wait), note->object, owner);
    return true;
}

/* One line for all of them, and one for each. */
static void tell_stranded(struct census *census, const char *what)
{
    fprintf(stderr, "libabt: ABT_finalize: %u blocked work unit%s, %s\n", census->blocked,
            census->blocked == 1 ? "" : "s", what);
    abti_registry_walk(print_stranded, census);
    if (census->lines < census->blocked)
        fprintf(stderr, "libabt:   and %u more\n", census->blocked - census->lines);
    stranded.reported = true;
    if (abti_rt.config.check == ABTI_CHECK_ABORT)
        abort();
}

ABT_bool abti_stranded_look(void *data, ABT_bool about_to_sleep)
{
    struct census census = {0};
    (void)data, (void)about_to_sleep;
    uint64_t now = abti_clock_mono_ns();
    if (stranded.reported || now < stranded.due_ns)
        return ABT_FALSE;
    stranded.due_ns = now + LOOK_NS;
    stranded.looks++;
    abti_registry_walk(count_unit, &census);
    if (census.blocked > 0 && (!census.others || stranded.looks >= PATIENCE))
        tell_stranded(&census, "which the primary execution stream waits for; nobody has woken them for a second");
    return ABT_FALSE;
}

static void free_driver(void)
{
    if (stranded.driver)
        abti_driver_free(stranded.driver);
    stranded.driver = NULL;
}

void abti_stranded_watch(abti_es *es)
{
    stranded.due_ns = abti_clock_mono_ns() + LOOK_NS;
    stranded.looks = 0;
    stranded.reported = false;
    const ABTX_driver_ops ops = {.poll = abti_stranded_look, .any_thread = ABT_TRUE};
    if (abti_driver_create(&ops, NULL, &stranded.driver) != ABT_SUCCESS)
        return;
    abti_store_relaxed(&stranded.driver->period_ns, LOOK_NS); /* relaxed: it is a setting */
    if (abti_driver_attach(stranded.driver, es) != ABT_SUCCESS)
        free_driver();
}

static bool any_is_blocked(void)
{
    bool any = false;
    abti_spin_lock(&abti_rt.lock);
    for (abti_pool *pool = abti_rt.pools; pool && !any; pool = pool->next)
        any = abti_pool_num_blocked(pool) > 0;
    abti_spin_unlock(&abti_rt.lock);
    return any;
}

void abti_stranded_end(void)
{
    struct census census = {0};
    free_driver();
    if (stranded.reported || !any_is_blocked())
        return;
    abti_registry_walk(count_unit, &census);
    if (census.blocked > 0)
        tell_stranded(&census, "which never end, since several schedulers share their pools");
}

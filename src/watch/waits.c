/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include "rt/symbol.h"
#include "unit/joining.h"
#include "unit/ledger.h"
#include "wait/external.h"

/* --- Marks --- */

/*
 * relaxed, everywhere: a mark orders nothing, and as marks are stored by read-modify-writes, they keep what a store of
 * BLOCKED has released. The memory of a descriptor stays mapped as long as the library is up. TSan does not look, as a
 * descriptor is made by plain stores.
 */

ABTI_NOINLINE ABTI_NO_SANITIZE int abti_mark_get(abti_unit *unit, ABT_thread_state state)
{
    uint8_t both = abti_load_relaxed(&unit->state);
    return (both & ABTI_STATE_MASK) == (uint8_t)state ? (both & ~ABTI_STATE_SUSPENDED) >> ABTI_STATE_BITS : -1;
}

ABTI_NOINLINE ABTI_NO_SANITIZE bool abti_mark_change(abti_unit *unit, ABT_thread_state state, int from, int to)
{
    abti_assert(!(unit->flags & ABTI_UNIT_MAIN_SCHED));
    unsigned rest = (abti_load_relaxed(&unit->state) & ABTI_STATE_SUSPENDED) | (unsigned)state;
    uint8_t before = (uint8_t)((unsigned)from << ABTI_STATE_BITS | rest);
    return abti_cas_relaxed(&unit->state, &before, (uint8_t)((unsigned)to << ABTI_STATE_BITS | rest));
}

/* --- The list --- */

void abti_waits_add(struct abti_waits *waits, const struct abti_unit_note *note, bool reported)
{
    if (waits->num == waits->room) {
        size_t room = waits->room ? waits->room * 2 : 64;
        struct abti_wait *all = realloc(waits->all, room * sizeof(*all));
        if (!all)
            return;
        waits->all = all;
        waits->room = room;
    }
    waits->all[waits->num++] = (struct abti_wait){.unit = note->unit, .owner = note->owner, .reported = reported};
}

void abti_waits_fini(struct abti_waits *waits)
{
    free(waits->all);
    *waits = (struct abti_waits){0};
}

/* --- Printing --- */

/* The units are stopped as long as they are looked at, so that they may be given ids. False: there is no such unit. */
static bool look_with_id(abti_unit *unit, struct abti_unit_note *note)
{
    if (!abti_registry_look(unit, note))
        return false;
    if (note->id == ABTI_NO_ID)
        note->id = (int64_t)abti_unit_id(unit);
    return true;
}

static void print_native_holder(FILE *fp, const void *owns_as)
{
    enum { MOST = 64 };
    struct abti_external_note externals[MOST];
    unsigned num = abti_externals_list(externals, MOST), i = 0;
    while (i < num && externals[i].owns_as != owns_as)
        i++;
    if (i < num)
        fprintf(fp, " held by native thread %d", externals[i].task);
    else
        fputs(" held by a native thread", fp);
}

static void print_object(FILE *fp, const struct abti_unit_note *note)
{
    char name[ABTI_NAME_ROOM];
    struct abti_unit_note owner;
    const char *whose = note->owner && look_with_id(note->owner, &owner) ? abti_registry_name(name, &owner) : "a unit";
    if (note->wait == ABTI_WAIT_SUSPEND)
        fputs(" waits to be resumed", fp);
    else if (note->wait == ABTI_WAIT_JOIN || note->wait == ABTI_WAIT_FREE)
        fprintf(fp, " waits for the end of %s", whose);
    else
        fprintf(fp, " waits for %s", abti_registry_wait_name(note->wait));
    if (note->object && note->object != note->owner)
        fprintf(fp, " %p", note->object);
    if (note->owner && (note->wait == ABTI_WAIT_MUTEX || note->wait == ABTI_WAIT_RWLOCK))
        fprintf(fp, " held by %s", note->owner == note->unit ? "itself" : whose);
    else if (note->native_owner)
        print_native_holder(fp, note->native_owner);
}

/* ", created by ULT 0x1234 (work at program+0x11d9)", while misuse is looked for. */
static void print_creator(FILE *fp, const abti_unit *unit)
{
    struct abti_ledger_note note;
    char place[ABTI_NAME_ROOM];
    if (!abti_ledger_on || !abti_ledger_find(unit, &note))
        return;
    if (note.creator.kind == ABTI_PARTY_PRIMARY || !note.creator.func)
        fprintf(fp, ", created by %s,",
                note.creator.kind == ABTI_PARTY_PRIMARY ? "the primary ULT" : "a native thread");
    else
        fprintf(fp, ", created by ULT %p (%s),", note.creator.unit,
                abti_symbol_place(place, sizeof(place), (void *)(uintptr_t)note.creator.func));
}

/* From `first` along those that it waits for, up to one that was there before, or waits for nobody. */
void abti_waits_print(FILE *fp, const struct abti_unit_note *first)
{
    enum { MOST = 16 };
    abti_unit *seen[MOST];
    char name[ABTI_NAME_ROOM];
    struct abti_unit_note note = *first;
    if (note.id == ABTI_NO_ID)
        note.id = (int64_t)abti_unit_id(note.unit);
    fprintf(fp, "libabt:   %s", abti_registry_name(name, &note));
    print_creator(fp, note.unit);
    for (int num = 0; num < MOST; num++) {
        print_object(fp, &note);
        seen[num] = note.unit;
        bool again = !note.owner;
        for (int i = 0; i <= num && !again; i++)
            again = seen[i] == note.owner;
        if (again)
            break;
        if (!abti_registry_look(note.owner, &note) || note.wait == ABTI_WAIT_NOTHING)
            break;
        fputs(", which", fp);
    }
    if (first->waited_ns > 0)
        fprintf(fp, " (for %" PRIu64 " ms)", first->waited_ns / 1000000);
    fputc('\n', fp);
}

void abti_waits_print_natives(FILE *fp)
{
    enum { MOST = 16 };
    struct abti_external_note externals[MOST];
    unsigned num = abti_externals_list(externals, MOST);
    for (unsigned i = 0; i < num; i++) {
        char name[ABTI_NAME_ROOM];
        struct abti_unit_note note;
        abti_unit *owner = NULL;
        const void *mutex = externals[i].word ? abti_registry_mutex_of(externals[i].word, &owner) : NULL;
        if (!mutex)
            continue;
        bool held = owner && look_with_id(owner, &note);
        fprintf(fp, "libabt:   native thread %d waits for mutex %p%s%s\n", externals[i].task, mutex,
                held ? " held by " : "", held ? abti_registry_name(name, &note) : "");
    }
}

/* --- Cycles --- */

static int waits_compare(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct abti_wait *)a)->unit, y = (uintptr_t)((const struct abti_wait *)b)->unit;
    return (x > y) - (x < y);
}

static struct abti_wait *find_wait(const struct abti_waits *waits, abti_unit *unit)
{
    struct abti_wait key = {.unit = unit};
    return bsearch(&key, waits->all, waits->num, sizeof(key), waits_compare);
}

/*
 * Each waits for one other at most: the way from `from` ends, comes to where an earlier one went, or comes to where it
 * was itself: there is a cycle, one of whose units is returned. Otherwise NULL.
 */
static struct abti_wait *find_cycle(const struct abti_waits *waits, struct abti_wait *from, size_t way)
{
    struct abti_wait *at = from;
    while (at && at->way == 0) {
        at->way = way;
        at = find_wait(waits, at->owner);
    }
    return at && at->way == way ? at : NULL;
}

/* All of them are reported then. True: some of them was not before. */
static bool pass_cycle(const struct abti_waits *waits, struct abti_wait *first)
{
    bool is_new = false;
    struct abti_wait *at = first;
    do {
        at->in_cycle = true;
        is_new |= !at->reported;
        (void)abti_mark_change(at->unit, ABT_THREAD_STATE_BLOCKED, abti_mark_get(at->unit, ABT_THREAD_STATE_BLOCKED),
                               ABTI_MARK_REPORTED);
        abti_joining_tell(at->unit);
        at = find_wait(waits, at->owner);
    } while (at && at != first);
    return is_new;
}

bool abti_waits_in_cycle(const struct abti_waits *waits, abti_unit *unit)
{
    const struct abti_wait *wait = waits->num > 0 ? find_wait(waits, unit) : NULL;
    return wait && wait->in_cycle;
}

unsigned abti_waits_print_cycles(FILE *fp, const struct abti_waits *waits, bool part)
{
    unsigned num = 0;
    if (waits->num > 0)
        qsort(waits->all, waits->num, sizeof(waits->all[0]), waits_compare);
    for (size_t i = 0; i < waits->num; i++) {
        struct abti_unit_note note;
        struct abti_wait *first = find_cycle(waits, &waits->all[i], i + 1);
        if (!first || (!pass_cycle(waits, first) && !part))
            continue;
        if (num++ == 0 && !part)
            fputs("libabt: deadlock: units wait for each other\n", fp);
        if (look_with_id(first->unit, &note))
            abti_waits_print(fp, &note);
    }
    return num;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include "base/round.h"
#include "os/annotate.h"
#include "os/vm.h"
#include "rt/rt.h"
#include "wait/external.h"

/* Releases the hot lines and the cold ones of as many descriptors as are in a page. */
static void release_units(char *word)
{
    enum { BYTES = ABTI_ARENA_WORD * sizeof(abti_unit) };
    abti_vm_release(word, BYTES);
    abti_vm_release(word + ABTI_UNIT_COLD_OFFSET, BYTES);
}

/* Cells that were never used are zero, whatever the chunk is made of: see abti_unit_mark_free. */
static bool map_units(struct abti_chunk *chunk, size_t size, bool huge)
{
    if (!abti_chunk_map(chunk, size, huge))
        return false;
    for (size_t at = 0; chunk->origin == ABTI_CHUNK_MALLOC && at < chunk->size; at += ABTI_UNIT_BLOCK)
        memset((char *)chunk->base + at, 0, ABTI_UNIT_COLD_OFFSET);
    return true;
}

void abti_unit_slab_spec(struct abti_slab_spec *spec, size_t chunk, unsigned kept)
{
    enum { MAX_BATCH = 62 }; /* the magazine has 512 bytes */
    *spec = (struct abti_slab_spec){
        .arena =
            {
                .cell = sizeof(abti_unit),
                .block = ABTI_UNIT_BLOCK,
                .span = ABTI_UNIT_COLD_OFFSET,
                .chunk = abti_round_up(chunk, ABTI_UNIT_BLOCK),
                .huge = true,
                .words = true,
                .map = map_units,
            },
        .run = 64,
        .spares = 1,
        .batch = kept / 2 < MAX_BATCH ? kept / 2 : MAX_BATCH, /* a cache has two magazines */
        .release = release_units,
    };
}

struct abti_unit_cold *abti_unit_cold_make(abti_unit *unit)
{
    struct abti_unit_cold *cold = (struct abti_unit_cold *)((char *)unit + ABTI_UNIT_COLD_OFFSET);
    uint8_t handle = abti_unit_is_handle(unit) ? ABTI_COLD_HANDLE : 0, none = handle; /* it keeps still until READY */
    /* release and acquire: of no use, as READY orders the line */
    if (abti_cas_word(&unit->cold, &none, handle | ABTI_COLD_BUSY)) {
        abti_annotate_begin_private();
        memset(cold, 0, sizeof(*cold));
        /* release: pairs with the acquires here, in abti_unit_cold_racy and in abti_unit_cold_peek */
        abti_annotate_end_private();
        abti_store_release(&unit->cold, handle | (unit->flags & ABTI_UNIT_PINNED ? ABTI_COLD_READY | ABTI_COLD_PINNED
                                                                                 : ABTI_COLD_READY));
        return cold;
    }
    abti_spin_until(abti_load_acquire(&unit->cold) & ABTI_COLD_READY); /* acquire: pairs with the release above */
    return cold;
}

void abti_unit_set_pinned(abti_unit *unit, bool pinned)
{
    (void)abti_unit_cold_get(unit); /* the state keeps still only in a line that is ready */
    /* release and acquire: of no use. A read-modify-write keeps the release of READY in abti_unit_cold_get */
    if (pinned)
        abti_fetch_or_acq_rel(&unit->cold, ABTI_COLD_PINNED);
    else
        abti_fetch_and_acq_rel(&unit->cold, (uint8_t)~ABTI_COLD_PINNED);
}

/* Returns what is called after a migration, or NULL. A scheduler's unit has something else in that place. */
static struct abti_migrated *migrated_of(abti_unit *unit)
{
    struct abti_unit_cold *cold = abti_unit_cold_peek(unit);
    return cold && !(unit->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED)) ? cold->migrated : NULL;
}

struct abti_migrated abti_unit_migrated(abti_unit *unit)
{
    const struct abti_migrated *migrated = migrated_of(unit);
    return migrated ? *migrated : (struct abti_migrated){NULL, NULL};
}

void abti_unit_forget_migrated(abti_unit *unit)
{
    free(migrated_of(unit));
}

int abti_unit_set_migrated(abti_unit *unit, void (*func)(ABT_thread, void *), void *arg)
{
    abti_assert(!(unit->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED)));
    struct abti_unit_cold *cold = abti_unit_cold_get(unit);
    if (!cold->migrated) {
        cold->migrated = malloc(sizeof(*cold->migrated));
        if (!cold->migrated)
            return ABT_ERR_MEM;
    }
    *cold->migrated = (struct abti_migrated){func, arg};
    return ABT_SUCCESS;
}

abti_es *abti_unit_last_es(abti_unit *unit)
{
    /* relaxed: queries may see it late, and the caller's unit keeps the stream */
    unsigned index = abti_load_relaxed(&unit->es);
    abti_es *es = index == ABTI_ES_NONE ? NULL : abti_load_relaxed(&abti_rt.by_index[index]);
    return es ? es : ABT_XSTREAM_NULL;
}

ABT_thread_state abti_unit_state(abti_unit *unit)
{
    if (abti_unit_is_done(unit))
        return ABT_THREAD_STATE_TERMINATED;
    /* acquire: pairs with the release of BLOCKED in abti_after_suspend; a thread that sees it may resume the unit */
    return (ABT_thread_state)(abti_load_acquire(&unit->state) & ABTI_STATE_MASK);
}

/* acquire: pairs with the release in abti_unit_set_stack */
static struct abti_stack *stack_of(abti_unit *unit)
{
    return abti_plain_load_acquire(&unit->stack);
}

/* Whether the unit keeps its stack for life. Then what the header says is constant. */
static bool has_lasting_stack(const abti_unit *unit)
{
    return (unit->flags & (ABTI_UNIT_OWN_STACK | ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_PRIMARY)) != 0;
}

/*
 * A default stack may become another unit's at any time. Therefore it is not looked into: its address, which is that of
 * its header, says enough. When a unit starts in place, these are stored in this order: IN_PLACE in the join word, the
 * joiner's stack, and the index of the ES that runs it. When it is revived, first the index is cleared and then the
 * join word. So what is read between two equal looks at the join word belongs together, and a joiner whose context is
 * read still waits. (Between the two stores and its first instruction, a unit in place may be said to begin where its
 * joiner left that stack, or another, the last time. And where a processor lets a later store pass that of DONE, a unit
 * that has just ended may be said to begin where its joiner leaves that stack, or another, the next time. The library
 * looks at memory there only with care, see os/peek.h.)
 */
static char *default_stack_end(abti_unit *unit)
{
    for (;;) {
        /* acquire: pairs with the releases in abti_unit_renew and abti_register_unstarted */
        uintptr_t join = abti_load_acquire(&unit->join);
        /* acquire: pairs with the release in abti_set_running. The stack is the one that the unit has started on */
        bool started = abti_load_acquire(&unit->es) != ABTI_ES_NONE;
        char *end = started ? (char *)stack_of(unit) : NULL;
        if (end && join & ABTI_JOIN_IN_PLACE) {
            abti_unit *joiner = (abti_unit *)(join & ~(uintptr_t)ABTI_JOIN_TAGS);
            /* acquire: keeps this load before the next read of unit->join, and pairs with no release */
            end = (char *)abti_plain_load_acquire(&joiner->ctx) - ABTI_CTX_BELOW;
        }
        /* relaxed: the acquires above keep this load after theirs */
        if (abti_load_relaxed(&unit->join) == join)
            return join == ABTI_JOIN_DONE ? NULL : end;
    }
}

char *abti_unit_stack_end(abti_unit *unit)
{
    if (!has_lasting_stack(unit))
        return default_stack_end(unit);
    struct abti_stack *stack = stack_of(unit);
    return stack ? stack->end : NULL;
}

size_t abti_unit_stack_size(abti_unit *unit)
{
    if (unit->flags & ABTI_UNIT_TASKLET)
        return 0;
    if (!has_lasting_stack(unit))
        return abti_rt.config.thread_stacksize;
    struct abti_stack *stack = stack_of(unit);
    return stack ? stack->size : abti_rt.config.sched_stacksize; /* it is a main scheduler that has not started */
}

abti_unit *abti_unit_alloc_external(void)
{
    abti_external_note();
    abti_spin_lock(&abti_rt.external_lock);
    abti_unit *unit = abti_cache_get(&abti_rt.external_units);
    abti_spin_unlock(&abti_rt.external_lock);
    return unit;
}

void abti_unit_release_external(abti_unit *unit)
{
    abti_spin_lock(&abti_rt.external_lock);
    abti_cache_put(&abti_rt.external_units, unit);
    abti_spin_unlock(&abti_rt.external_lock);
}

uint64_t abti_unit_id(abti_unit *unit)
{
    _Atomic(uint64_t) *word = &abti_unit_cold_get(unit)->id;
    /* relaxed, everywhere here: an id orders nothing */
    uint64_t id = abti_load_relaxed(word);
    if (id == 0) {
        uint64_t fresh = abti_fetch_add_relaxed(&abti_rt.next_unit_id, 1) + 1;
        /* A thread that loses the race does not use its number. */
        if (abti_cas_relaxed(word, &id, fresh))
            id = fresh;
    }
    return id - 1;
}

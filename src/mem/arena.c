/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/arena.h"

#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/round.h"
#include "os/annotate.h"
#include "os/vm.h"

enum { WORD = ABTI_ARENA_WORD };

void abti_arena_init(struct abti_arena *arena, const struct abti_arena_spec *spec)
{
    *arena = (struct abti_arena){.spec = *spec};
}

/* --- Regions --- */

static size_t words_of(size_t slots)
{
    return (slots + WORD - 1) / WORD;
}

static bool make_room(struct abti_arena *arena)
{
    if (arena->num_regions < arena->room)
        return true;
    size_t room = arena->room ? 2 * arena->room : 4;
    struct abti_region **regions = realloc(arena->regions, room * sizeof(*regions));
    if (!regions)
        return false;
    arena->regions = regions;
    arena->room = room;
    return true;
}

/* Maps a number of blocks for the region, which is big enough for that many. False when there is no memory. */
static bool region_map(const struct abti_arena_spec *spec, struct abti_region *region, size_t blocks, bool lean)
{
    *region = (struct abti_region){.slot = spec->slot, .block = spec->block, .span = spec->span};
    if (lean)
        region->slot = region->block = region->span = spec->lean;
    return spec->map(&region->chunk, abti_round_up(blocks * region->block, abti_vm_page_size()), spec->huge && !lean);
}

/*
 * Maps as many blocks as can be had, `most` at most. Where that number cannot be mapped fewer are tried, down to a
 * single one, so that objects are made as long as there is room for one.
 */
static bool region_map_some(const struct abti_arena_spec *spec, struct abti_region *region, size_t most, bool lean)
{
    enum { SHARE = 8 };
    bool mapped = false;
    for (size_t blocks = most; !mapped && blocks > 1; blocks /= SHARE)
        mapped = region_map(spec, region, blocks, lean);
    return mapped || region_map(spec, region, 1, lean) ||
           (spec->lean > 0 && !lean && region_map(spec, region, 1, true));
}

static size_t max_slots(const struct abti_arena_spec *spec, size_t bytes)
{
    size_t slots = bytes / spec->block * (spec->span / spec->slot), lean = spec->lean > 0 ? bytes / spec->lean : 0;
    return slots > lean ? slots : lean;
}

/*
 * Makes a region over a new chunk, with all of its slots free. What the system locks is memory as soon as it is mapped:
 * then little is taken at a time. Returns NULL when there is no memory.
 */
static struct abti_region *region_create(const struct abti_arena_spec *spec)
{
    enum { LOCKED_CHUNK = 256 * 1024 };
    bool differs = spec->lean > 0 || spec->chunk > LOCKED_CHUNK; /* else it need not be known, which three calls tell */
    bool locked = differs && abti_vm_is_locked_when_mapped(), lean = spec->lean > 0 && locked;
    size_t bytes = abti_chunk_size(locked && spec->chunk > LOCKED_CHUNK ? LOCKED_CHUNK : spec->chunk, spec->huge);
    size_t words = words_of(max_slots(spec, bytes < spec->block ? spec->block : bytes));
    struct abti_region *region = malloc(sizeof(*region) + words * sizeof(region->free[0]));
    if (!region)
        return NULL;
    if (!region_map_some(spec, region, bytes / (lean ? spec->lean : spec->block), lean)) {
        free(region);
        return NULL;
    }
    size_t slots = region->chunk.size / region->block * (region->span / region->slot);
    abti_assert(slots > 0 && words_of(slots) <= words);
    region->num_slots = region->num_free = slots;
    memset(region->free, 0xff, words_of(slots) * sizeof(region->free[0]));
    if (slots % WORD)
        region->free[slots / WORD] = (UINT64_C(1) << slots % WORD) - 1;
    return region;
}

static void region_destroy(struct abti_region *region)
{
    abti_chunk_unmap(&region->chunk);
    free(region);
}

bool abti_arena_can_grow(const struct abti_arena_spec *spec)
{
    struct abti_region *region = region_create(spec);
    if (region)
        region_destroy(region);
    return region != NULL;
}

/* Returns how many regions are at or below an address. */
static size_t num_up_to(const struct abti_arena *arena, const void *addr)
{
    size_t low = 0, high = arena->num_regions;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)arena->regions[middle]->chunk.base <= (uintptr_t)addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void open_region(struct abti_arena *arena, struct abti_region *region)
{
    if (region->is_open)
        return;
    region->is_open = true;
    region->next_open = arena->open;
    arena->open = region;
}

static bool grow_privately(struct abti_arena *arena)
{
    struct abti_region *region = make_room(arena) ? region_create(&arena->spec) : NULL;
    if (!region)
        return false;
    size_t at = num_up_to(arena, region->chunk.base);
    memmove(&arena->regions[at + 1], &arena->regions[at], (arena->num_regions - at) * sizeof(arena->regions[0]));
    arena->regions[at] = region;
    arena->num_regions++;
    open_region(arena, region);
    return true;
}

static bool arena_grow(struct abti_arena *arena)
{
    abti_annotate_begin_private();
    bool grown = grow_privately(arena);
    abti_annotate_end_private();
    return grown;
}

/* Returns a region with free slots, or NULL when there is no memory. */
static struct abti_region *some_region(struct abti_arena *arena)
{
    while (arena->open && arena->open->num_free == 0) {
        arena->open->is_open = false;
        arena->open = arena->open->next_open;
    }
    return arena->open || arena_grow(arena) ? arena->open : NULL;
}

void abti_arena_fini(struct abti_arena *arena)
{
    for (size_t i = 0; i < arena->num_regions; i++)
        region_destroy(arena->regions[i]);
    free(arena->regions);
    arena->regions = NULL;
    arena->num_regions = arena->room = 0;
    arena->open = NULL;
}

/* --- Slots --- */

static char *slot_address(const struct abti_region *region, size_t slot)
{
    size_t per_block = region->span / region->slot;
    return (char *)region->chunk.base + slot / per_block * region->block + slot % per_block * region->slot;
}

/* Returns the region that an address is in, and the slot. */
static struct abti_region *arena_find(const struct abti_arena *arena, const void *in_slot, size_t *slot)
{
    abti_assert(num_up_to(arena, in_slot) > 0);
    struct abti_region *region = arena->regions[num_up_to(arena, in_slot) - 1];
    size_t offset = (size_t)((const char *)in_slot - (const char *)region->chunk.base);
    abti_assert(offset < region->chunk.size);
    *slot = offset / region->block * (region->span / region->slot) + offset % region->block / region->slot;
    return region;
}

/*
 * Clears the lowest bit that is set and those that follow it, at most `most` altogether. Returns their number; *first
 * is the lowest.
 */
static unsigned take_bits(uint64_t *word, unsigned most, unsigned *first)
{
    abti_assert(*word != 0 && most > 0);
    unsigned num = 0;
    *first = (unsigned)__builtin_ctzll(*word);
    while (num<most && * first + num<WORD && * word>>(*first + num) & 1)
        *word &= ~(UINT64_C(1) << (*first + num++));
    return num;
}

bool abti_arena_take(struct abti_arena *arena, unsigned most, struct abti_run *run)
{
    struct abti_region *region = some_region(arena);
    if (!region)
        return false;
    while (region->free[region->first_word] == 0)
        region->first_word++;
    unsigned first, num = take_bits(&region->free[region->first_word], most, &first);
    region->num_free -= num;
    *run = (struct abti_run){slot_address(region, region->first_word * WORD + first), num, region->slot,
                             region->chunk.origin};
    return true;
}

static void set_bits(struct abti_arena *arena, struct abti_region *region, size_t word, uint64_t bits, unsigned num)
{
    abti_assert((region->free[word] & bits) == 0); /* no slot is freed twice */
    region->free[word] |= bits;
    region->num_free += num;
    if (word < region->first_word)
        region->first_word = word;
    open_region(arena, region);
}

char *abti_arena_return(struct abti_arena *arena, void *in_slot)
{
    size_t slot;
    struct abti_region *region = arena_find(arena, in_slot, &slot);
    set_bits(arena, region, slot / WORD, UINT64_C(1) << slot % WORD, 1);
    if (!arena->spec.words || region->free[slot / WORD] != UINT64_MAX)
        return NULL;
    region->free[slot / WORD] = 0;
    region->num_free -= WORD;
    return slot_address(region, slot / WORD * WORD);
}

void abti_arena_reopen(struct abti_arena *arena, char *word)
{
    size_t slot;
    struct abti_region *region = arena_find(arena, word, &slot);
    set_bits(arena, region, slot / WORD, UINT64_MAX, WORD);
}

/* --- Walks --- */

static char *word_in_region(const struct abti_region *region, size_t word, uint64_t *used)
{
    for (; word < words_of(region->num_slots); word++) {
        size_t slots = region->num_slots - word * WORD;
        uint64_t exist = slots < WORD ? (UINT64_C(1) << slots) - 1 : UINT64_MAX;
        *used = exist & ~region->free[word];
        if (*used)
            return slot_address(region, word * WORD);
    }
    return NULL;
}

char *abti_arena_word_after(const struct abti_arena *arena, const char *after, uint64_t *used)
{
    size_t at = 0, slot, word = 0;
    if (after) {
        arena_find(arena, after, &slot);
        word = slot / WORD + 1;
        at = num_up_to(arena, after) - 1;
    }
    for (char *first; at < arena->num_regions; at++, word = 0) {
        if ((first = word_in_region(arena->regions[at], word, used)))
            return first;
    }
    return NULL;
}

bool abti_arena_has(const struct abti_arena *arena, const void *slot)
{
    size_t up_to = num_up_to(arena, slot), number;
    if (up_to == 0)
        return false;
    const struct abti_region *region = arena->regions[up_to - 1];
    if ((uintptr_t)slot - (uintptr_t)region->chunk.base >= region->chunk.size)
        return false;
    arena_find(arena, slot, &number);
    return number < region->num_slots && slot_address(region, number) == slot;
}

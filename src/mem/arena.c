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

/* --- Extents --- */

static size_t words_of(size_t cells)
{
    return (cells + WORD - 1) / WORD;
}

static bool make_room(struct abti_arena *arena)
{
    if (arena->num_extents < arena->room)
        return true;
    size_t room = arena->room ? 2 * arena->room : 4;
    struct abti_extent **extents = realloc(arena->extents, room * sizeof(*extents));
    if (!extents)
        return false;
    arena->extents = extents;
    arena->room = room;
    return true;
}

/* Maps a number of blocks for the extent, which is big enough for that many. False when there is no memory. */
static bool extent_map(const struct abti_arena_spec *spec, struct abti_extent *extent, size_t blocks, bool lean)
{
    *extent = (struct abti_extent){.cell = spec->cell, .block = spec->block, .span = spec->span};
    if (lean)
        extent->cell = extent->block = extent->span = spec->lean;
    return spec->map(&extent->chunk, abti_round_up(blocks * extent->block, abti_vm_page_size()), spec->huge && !lean);
}

/*
 * Maps as many blocks as can be had, `most` at most. Where that number cannot be mapped fewer are tried, down to a
 * single one, so that objects are made as long as there is room for one.
 */
static bool extent_map_some(const struct abti_arena_spec *spec, struct abti_extent *extent, size_t most, bool lean)
{
    enum { SHARE = 8 };
    bool mapped = false;
    for (size_t blocks = most; !mapped && blocks > 1; blocks /= SHARE)
        mapped = extent_map(spec, extent, blocks, lean);
    return mapped || extent_map(spec, extent, 1, lean) ||
           (spec->lean > 0 && !lean && extent_map(spec, extent, 1, true));
}

static size_t max_cells(const struct abti_arena_spec *spec, size_t bytes)
{
    size_t cells = bytes / spec->block * (spec->span / spec->cell), lean = spec->lean > 0 ? bytes / spec->lean : 0;
    return cells > lean ? cells : lean;
}

/*
 * Makes an extent over a new chunk, with all of its cells free. What the system locks is memory as soon as it is
 * mapped: then little is taken at a time. Returns NULL when there is no memory.
 */
static struct abti_extent *extent_create(const struct abti_arena_spec *spec)
{
    enum { LOCKED_CHUNK = 256 * 1024 };
    bool differs = spec->lean > 0 || spec->chunk > LOCKED_CHUNK; /* else it need not be known, which three calls tell */
    bool locked = differs && abti_vm_is_locked_when_mapped(), lean = spec->lean > 0 && locked;
    size_t bytes = abti_chunk_size(locked && spec->chunk > LOCKED_CHUNK ? LOCKED_CHUNK : spec->chunk, spec->huge);
    size_t words = words_of(max_cells(spec, bytes < spec->block ? spec->block : bytes));
    struct abti_extent *extent = malloc(sizeof(*extent) + words * sizeof(extent->free[0]));
    if (!extent)
        return NULL;
    if (!extent_map_some(spec, extent, bytes / (lean ? spec->lean : spec->block), lean)) {
        free(extent);
        return NULL;
    }
    size_t cells = extent->chunk.size / extent->block * (extent->span / extent->cell);
    abti_assert(cells > 0 && words_of(cells) <= words);
    extent->num_cells = extent->num_free = cells;
    memset(extent->free, 0xff, words_of(cells) * sizeof(extent->free[0]));
    if (cells % WORD)
        extent->free[cells / WORD] = (UINT64_C(1) << cells % WORD) - 1;
    return extent;
}

static void extent_destroy(struct abti_extent *extent)
{
    abti_chunk_unmap(&extent->chunk);
    free(extent);
}

bool abti_arena_can_grow(const struct abti_arena_spec *spec)
{
    struct abti_extent *extent = extent_create(spec);
    if (extent)
        extent_destroy(extent);
    return extent != NULL;
}

/* Returns how many extents are at or below an address. */
static size_t num_up_to(const struct abti_arena *arena, const void *addr)
{
    size_t low = 0, high = arena->num_extents;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)arena->extents[middle]->chunk.base <= (uintptr_t)addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void open_extent(struct abti_arena *arena, struct abti_extent *extent)
{
    if (extent->is_open)
        return;
    extent->is_open = true;
    extent->next_open = arena->open[extent->node];
    arena->open[extent->node] = extent;
}

static bool grow_privately(struct abti_arena *arena, uint32_t node)
{
    struct abti_extent *extent = make_room(arena) ? extent_create(&arena->spec) : NULL;
    if (!extent)
        return false;
    extent->node = node;
    size_t at = num_up_to(arena, extent->chunk.base);
    memmove(&arena->extents[at + 1], &arena->extents[at], (arena->num_extents - at) * sizeof(arena->extents[0]));
    arena->extents[at] = extent;
    arena->num_extents++;
    open_extent(arena, extent);
    return true;
}

static bool arena_grow(struct abti_arena *arena, uint32_t node)
{
    abti_annotate_begin_private();
    bool grown = grow_privately(arena, node);
    abti_annotate_end_private();
    return grown;
}

/* Returns an extent of the node with free cells, or NULL when there is none. */
static struct abti_extent *open_extent_of(struct abti_arena *arena, uint32_t node)
{
    struct abti_extent **open = &arena->open[node];
    while (*open && (*open)->num_free == 0) {
        (*open)->is_open = false;
        *open = (*open)->next_open;
    }
    return *open;
}

/* Returns an extent with free cells, of the node if there is memory, or NULL when there is none at all. */
static struct abti_extent *some_extent(struct abti_arena *arena, uint32_t node)
{
    abti_assert(node < ABTI_NODES_MOST);
    struct abti_extent *extent = open_extent_of(arena, node);
    if (!extent && arena_grow(arena, node))
        return arena->open[node];
    for (uint32_t other = 0; !extent && other < abti_num_nodes; other++)
        extent = open_extent_of(arena, other);
    return extent;
}

void abti_arena_fini(struct abti_arena *arena)
{
    for (size_t i = 0; i < arena->num_extents; i++)
        extent_destroy(arena->extents[i]);
    free(arena->extents);
    arena->extents = NULL;
    arena->num_extents = arena->room = 0;
    memset(arena->open, 0, sizeof(arena->open));
}

/* --- Cells --- */

static char *cell_address(const struct abti_extent *extent, size_t cell)
{
    size_t per_block = extent->span / extent->cell;
    return (char *)extent->chunk.base + cell / per_block * extent->block + cell % per_block * extent->cell;
}

/* Returns the extent that an address is in, and the cell. */
static struct abti_extent *arena_find(const struct abti_arena *arena, const void *in_cell, size_t *cell)
{
    abti_assert(num_up_to(arena, in_cell) > 0);
    struct abti_extent *extent = arena->extents[num_up_to(arena, in_cell) - 1];
    size_t offset = (size_t)((const char *)in_cell - (const char *)extent->chunk.base);
    abti_assert(offset < extent->chunk.size);
    *cell = offset / extent->block * (extent->span / extent->cell) + offset % extent->block / extent->cell;
    return extent;
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

/* Whether the cell behind these is free, and directly behind them. */
static bool goes_on(const struct abti_extent *extent, size_t begin, size_t num)
{
    size_t cell = begin + num;
    return cell < extent->num_cells && extent->free[cell / WORD] >> cell % WORD & 1 &&
           cell_address(extent, cell) == cell_address(extent, begin) + num * extent->cell;
}

bool abti_arena_take(struct abti_arena *arena, unsigned most, uint32_t node, struct abti_run *run)
{
    struct abti_extent *extent = some_extent(arena, node);
    if (!extent)
        return false;
    while (extent->free[extent->first_word] == 0)
        extent->first_word++;
    unsigned first, num = take_bits(&extent->free[extent->first_word], most, &first);
    size_t begin = extent->first_word * WORD + first;
    while (num < most && (begin + num) % WORD == 0 && goes_on(extent, begin, num))
        num += take_bits(&extent->free[(begin + num) / WORD], most - num, &first);
    extent->num_free -= num;
    *run = (struct abti_run){cell_address(extent, begin), num, extent->cell, extent->chunk.origin};
    return true;
}

static void set_bits(struct abti_arena *arena, struct abti_extent *extent, size_t word, uint64_t bits, unsigned num)
{
    abti_assert((extent->free[word] & bits) == 0); /* no cell is freed twice */
    extent->free[word] |= bits;
    extent->num_free += num;
    if (word < extent->first_word)
        extent->first_word = word;
    open_extent(arena, extent);
}

char *abti_arena_return(struct abti_arena *arena, void *in_cell)
{
    size_t cell;
    struct abti_extent *extent = arena_find(arena, in_cell, &cell);
    set_bits(arena, extent, cell / WORD, UINT64_C(1) << cell % WORD, 1);
    if (!arena->spec.words || extent->free[cell / WORD] != UINT64_MAX)
        return NULL;
    extent->free[cell / WORD] = 0;
    extent->num_free -= WORD;
    return cell_address(extent, cell / WORD * WORD);
}

void abti_arena_reopen(struct abti_arena *arena, char *first, unsigned num)
{
    size_t cell;
    struct abti_extent *extent = num > 0 ? arena_find(arena, first, &cell) : NULL;
    for (unsigned some; num > 0; cell += some, num -= some) {
        some = WORD - cell % WORD < num ? WORD - cell % WORD : num;
        set_bits(arena, extent, cell / WORD, UINT64_MAX >> (WORD - some) << cell % WORD, some);
    }
}

/* --- Walks --- */

static char *word_in_extent(const struct abti_extent *extent, size_t word, uint64_t *used)
{
    for (; word < words_of(extent->num_cells); word++) {
        size_t cells = extent->num_cells - word * WORD;
        uint64_t exist = cells < WORD ? (UINT64_C(1) << cells) - 1 : UINT64_MAX;
        *used = exist & ~extent->free[word];
        if (*used)
            return cell_address(extent, word * WORD);
    }
    return NULL;
}

char *abti_arena_word_after(const struct abti_arena *arena, const char *after, uint64_t *used)
{
    size_t at = 0, cell, word = 0;
    if (after) {
        arena_find(arena, after, &cell);
        word = cell / WORD + 1;
        at = num_up_to(arena, after) - 1;
    }
    for (char *first; at < arena->num_extents; at++, word = 0) {
        if ((first = word_in_extent(arena->extents[at], word, used)))
            return first;
    }
    return NULL;
}

bool abti_arena_has(const struct abti_arena *arena, const void *cell)
{
    size_t up_to = num_up_to(arena, cell), number;
    if (up_to == 0)
        return false;
    const struct abti_extent *extent = arena->extents[up_to - 1];
    if ((uintptr_t)cell - (uintptr_t)extent->chunk.base >= extent->chunk.size)
        return false;
    arena_find(arena, cell, &number);
    return number < extent->num_cells && cell_address(extent, number) == cell;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells of equal size in chunks of memory, with a bit for each cell that is free. Runs of cells are handed out, and
 * single ones come back. Nothing is synchronised: the lock of the arena's owner guards all of it.
 */
#ifndef ABTI_MEM_ARENA_H
#define ABTI_MEM_ARENA_H

#include <stdint.h>
#include "mem/chunk.h"
#include "os/nodes.h"

enum { ABTI_ARENA_WORD = 64 }; /* that number of cells is given back together */

/* What an arena consists of. It is constant after abti_arena_init. */
struct abti_arena_spec {
    size_t cell;  /* bytes from one cell to the next */
    size_t block; /* a chunk consists of blocks of this number of bytes */
    size_t span;  /* bytes of a block that hold cells, from its start: ABTI_ARENA_WORD cells each, or just one */
    size_t chunk; /* bytes asked for at a time: at least a block */
    /*
     * Bytes of a cell without what costs address space alone, where each cell is a block; 0: there is no such thing.
     * Where that space is short, or is locked so that it is memory at once, cells have that number.
     */
    size_t lean;
    bool huge;  /* huge pages will do */
    bool words; /* the memory of ABTI_ARENA_WORD cells is to be given back when all of them are free */
    /* Obtains a chunk; false when there is no memory. */
    bool (*map)(struct abti_chunk *chunk, size_t size, bool huge);
};

struct abti_extent {
    struct abti_chunk chunk;
    uint32_t node;                 /* for the streams of which NUMA node it was made */
    struct abti_extent *next_open; /* the next extent in the list of those of its node with free cells */
    bool is_open;                  /* it is in that list, where it may be though it has no free cells any more */
    size_t cell, block, span;      /* as in the spec, or those of lean cells */
    size_t num_cells;
    size_t num_free;
    size_t first_word; /* no bit is set before this word */
    uint64_t free[];   /* a bit for each cell */
};

struct abti_arena {
    struct abti_arena_spec spec;
    struct abti_extent **extents; /* by address */
    size_t num_extents, room;     /* how many there are, and how many there may be without a larger array */
    struct abti_extent *open[ABTI_NODES_MOST]; /* by node */
};

/* Cells that are one behind the other. */
struct abti_run {
    char *cell;
    unsigned num;
    size_t size; /* bytes from one to the next */
    enum abti_chunk_origin origin;
};

void abti_arena_init(struct abti_arena *arena, const struct abti_arena_spec *spec);
/* Unmaps everything. */
void abti_arena_fini(struct abti_arena *arena);

/* Whether any cells can be mapped. */
bool abti_arena_can_grow(const struct abti_arena_spec *spec);

/*
 * Takes at most `most` cells, and at least one, for a stream of this NUMA node: of chunks which no stream of another
 * node touches first, as long as there is memory for more of those. False when there is no memory.
 */
bool abti_arena_take(struct abti_arena *arena, unsigned most, uint32_t node, struct abti_run *run) ABTI_MUST_CHECK;

/*
 * For walks over all cells, a group of cells (the bits of one word) at a time. Returns the first group behind the one
 * that `after` points into (NULL: the first of all) in which some cell is or may be in use, or NULL when there is none.
 * *used: a bit for each cell of the group that is or may be in use.
 */
char *abti_arena_word_after(const struct abti_arena *arena, const char *after, uint64_t *used);

/* A cell begins at this address. */
bool abti_arena_has(const struct abti_arena *arena, const void *cell);

/*
 * Frees a cell, which is given by any address in it. If that makes a word full whose memory is to be given back, this
 * returns the word's first cell, and withholds the word until abti_arena_reopen, so that the caller can give its memory
 * back without the lock. Otherwise it returns NULL.
 */
char *abti_arena_return(struct abti_arena *arena, void *in_cell);
/* Frees cells that are one behind the other: those of such a word, or of a run that were not used. */
void abti_arena_reopen(struct abti_arena *arena, char *first, unsigned num);

#endif

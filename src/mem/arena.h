/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots of equal size in chunks of memory, with a bit for each slot that is free. Runs of slots are handed out, and
 * single ones come back. Nothing is synchronised: the lock of the arena's owner guards all of it.
 */
#ifndef ABTI_MEM_ARENA_H
#define ABTI_MEM_ARENA_H

#include <stdint.h>
#include "mem/chunk.h"

enum { ABTI_ARENA_WORD = 64 }; /* that number of slots is given back together */

/* What an arena consists of. It is constant after abti_arena_init. */
struct abti_arena_spec {
    size_t slot;  /* bytes from one slot to the next */
    size_t block; /* a chunk consists of blocks of this number of bytes */
    size_t span;  /* bytes of a block that hold slots, from its start: ABTI_ARENA_WORD slots each, or just one */
    size_t chunk; /* bytes asked for at a time: at least a block */
    /*
     * Bytes of a slot without what costs address space alone, where each slot is a block; 0: there is no such thing.
     * Where that space is short, or is locked so that it is memory at once, slots have that number.
     */
    size_t lean;
    bool huge;  /* huge pages will do */
    bool words; /* the memory of ABTI_ARENA_WORD slots is to be given back when all of them are free */
    /* Obtains a chunk; false when there is no memory. */
    bool (*map)(struct abti_chunk *chunk, size_t size, bool huge);
};

struct abti_region {
    struct abti_chunk chunk;
    struct abti_region *next_open; /* the next region in the list of those with free slots */
    bool is_open;                  /* it is in that list, where it may be though it has no free slots any more */
    size_t slot, block, span;      /* as in the spec, or those of lean slots */
    size_t num_slots;
    size_t num_free;
    size_t first_word; /* no bit is set before this word */
    uint64_t free[];   /* a bit for each slot */
};

struct abti_arena {
    struct abti_arena_spec spec;
    struct abti_region **regions; /* by address */
    size_t num_regions, room;     /* how many there are, and how many there may be without a larger array */
    struct abti_region *open;
};

/* Slots that are one behind the other. */
struct abti_run {
    char *slot;
    unsigned num;
    size_t size; /* bytes from one to the next */
    enum abti_chunk_origin origin;
};

void abti_arena_init(struct abti_arena *arena, const struct abti_arena_spec *spec);
/* Unmaps everything. */
void abti_arena_fini(struct abti_arena *arena);

/* Whether any slots can be mapped. */
bool abti_arena_can_grow(const struct abti_arena_spec *spec);

/* Takes at most `most` slots, and at least one. False when there is no memory. */
bool abti_arena_take(struct abti_arena *arena, unsigned most, struct abti_run *run) ABTI_MUST_CHECK;

/*
 * For walks over all slots, a group of slots (the bits of one word) at a time. Returns the first group behind the one
 * that `after` points into (NULL: the first of all) in which some slot is or may be in use, or NULL when there is none.
 * *used: a bit for each slot of the group that is or may be in use.
 */
char *abti_arena_word_after(const struct abti_arena *arena, const char *after, uint64_t *used);

/* A slot begins at this address. */
bool abti_arena_has(const struct abti_arena *arena, const void *slot);

/*
 * Frees a slot, which is given by any address in it. If that makes a word full whose memory is to be given back, this
 * returns the word's first slot, and withholds the word until abti_arena_reopen, so that the caller can give its memory
 * back without the lock. Otherwise it returns NULL.
 */
char *abti_arena_return(struct abti_arena *arena, void *in_slot);
void abti_arena_reopen(struct abti_arena *arena, char *word);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests by age, in blocks, each of which is asked for by one call of the MPI library. To ask for one request that is
 * not done costs 1 to 6 nanoseconds, and most often it is the oldest ones that are done first. So a poll asks for the
 * oldest block, and rarely for all.
 */
#ifndef ABTMPI_BLOCKS_H
#define ABTMPI_BLOCKS_H

#include "progress.h"

/* A queue of blocks. All zeros: an empty one whose requests the engine completes. */
typedef struct {
    struct abtmpi_block *first, *last;
    bool is_watched;         /* what is done is only marked, and completed by its ULT */
    bool elsewhere;          /* the last request that was done was not in the oldest block, */
    struct abtmpi_block *at; /* but in this one: others are likely to be near it. NULL: nobody knows */
    unsigned polls;          /* how often the oldest block has been polled */
    unsigned misses;         /* polls since a request of the oldest block was done */
} abtmpi_blocks;

/* Adds a request as the youngest. False: out of memory. */
bool abtmpi_blocks_add(abtmpi_blocks *blocks, abtmpi_part *part, abtmpi_wait *wait);

/* Takes a request out, whether it is done or not. */
void abtmpi_blocks_drop(abtmpi_part *part);

/* Asks, and calls `done` for each part that is. Whether there was one. */
bool abtmpi_blocks_poll(abtmpi_blocks *blocks, void (*done)(abtmpi_wait *wait, abtmpi_part *part));

#endif

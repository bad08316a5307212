/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>

#include <real.h> /* made by generate.py */

#include "blocks.h"
#include "fatal.h"

enum {
    BLOCK_NUM = 16,  /* requests of a block: with 64, a poll that misses costs 4 times as much */
    BLOCK_GAPS = 2,  /* gaps between others that are left open */
    BLOCK_EVERY = 4, /* misses in a row in the oldest block, after which all are asked for */
};

typedef struct abtmpi_block {
    struct abtmpi_block *next, *prev;
    int first, end;                  /* the places in use, with those of requests that have been dropped */
    unsigned polled;                 /* the number of its last poll */
    int dropped;                     /* how many of these there are: null requests without a part */
    MPI_Request requests[BLOCK_NUM]; /* of the parts, side by side for the MPI library */
    abtmpi_part *parts[BLOCK_NUM];
    abtmpi_wait *waits[BLOCK_NUM];
} block;

/* Blocks without requests, of all queues. */
static block *block_free;

bool abtmpi_blocks_add(abtmpi_blocks *blocks, abtmpi_part *part, abtmpi_wait *wait)
{
    block *last = blocks->last;

    if (!last || last->end == BLOCK_NUM) {
        block *new = block_free ? block_free : malloc(sizeof(*new));
        if (!new)
            return false;
        if (new == block_free)
            block_free = new->next;
        *new = (block){.prev = last};
        *(last ? &last->next : &blocks->first) = new;
        blocks->last = last = new;
    }
    assert(!part->block && !part->is_done);
    part->block = last;
    part->at = last->end++;
    last->requests[part->at] = *part->request;
    last->parts[part->at] = part;
    last->waits[part->at] = wait;
    return true;
}

void abtmpi_blocks_drop(abtmpi_part *part)
{
    block *from = part->block;

    assert(from && from->parts[part->at] == part);
    from->requests[part->at] = MPI_REQUEST_NULL;
    from->parts[part->at] = NULL;
    from->dropped++;
    part->block = NULL;
}

static int block_count(const block *b)
{
    return b->end - b->first - b->dropped;
}

/* Moves what is left in `from` to the places of `to` from `end` on, which are free. It may be the same block. */
static void block_move(block *to, block *from, int end)
{
    for (int i = from->first; i < from->end; i++) {
        abtmpi_part *part = from->parts[i];
        if (!part)
            continue;
        to->requests[end] = from->requests[i];
        to->parts[end] = part;
        to->waits[end] = from->waits[i];
        part->block = to;
        part->at = end++;
    }
    to->end = end;
}

/* Closes the gaps. */
static void block_close(block *b)
{
    block_move(b, b, 0);
    b->first = b->dropped = 0;
}

static void block_destroy(abtmpi_blocks *blocks, block *old)
{
    if (blocks->at == old)
        blocks->at = old->prev;
    *(old->prev ? &old->prev->next : &blocks->first) = old->next;
    *(old->next ? &old->next->prev : &blocks->last) = old->prev;
    old->next = block_free;
    block_free = old;
}

/*
 * Keeps blocks so full that there are few. Each move writes to the frame of the ULT that waits, most often a cache
 * miss: gaps at an end are just left out. Returns the block after this one.
 */
static block *block_tidy(abtmpi_blocks *blocks, block *b)
{
    block *next = b->next;

    for (; b->first < b->end && !b->parts[b->first]; b->first++)
        b->dropped--;
    for (; b->first < b->end && !b->parts[b->end - 1]; b->end--)
        b->dropped--;
    if (b->first == b->end) {
        block_destroy(blocks, b);
    } else if (next && block_count(b) + block_count(next) <= BLOCK_NUM) {
        block_close(b);
        block_move(b, next, b->end);
        block_destroy(blocks, next);
        next = b->next;
    } else if (b->dropped > BLOCK_GAPS) {
        block_close(b);
    }
    return next;
}

/* The request at a place is done. */
static void block_mark(block *b, int at, int code)
{
    abtmpi_part *part = b->parts[at];

    part->code = code;
    part->is_done = true;
    *part->request = b->requests[at]; /* null, or inactive */
}

/* Reports it, unless the end of another part has ended the wait. */
static void block_report(block *b, int at, void (*done)(abtmpi_wait *, abtmpi_part *))
{
    abtmpi_part *part = b->parts[at];
    abtmpi_wait *wait = b->waits[at];

    if (!part)
        return;
    assert(part->is_done);
    abtmpi_blocks_drop(part);
    done(wait, part);
}

/* One by one: watched requests, a lone one, and those of a block that the MPI library does not answer for. */
static bool block_poll_singly(block *b, bool is_watched, void (*done)(abtmpi_wait *, abtmpi_part *))
{
    bool found = false;

    for (int i = b->first; i < b->end; i++) {
        int flag = 0, code;
        abtmpi_part *part = b->parts[i];
        if (!part)
            continue;
        if (is_watched)
            code = abtmpi_fatal_code(abtmpi_real.Request_get_status(b->requests[i], &flag, MPI_STATUS_IGNORE));
        else
            code = abtmpi_fatal_code(abtmpi_real.Test(&b->requests[i], &flag, &part->status));
        if (flag || code != MPI_SUCCESS) {
            block_mark(b, i, code);
            block_report(b, i, done);
            found = true;
        }
    }
    return found;
}

static bool block_is_in_status(int code)
{
    int class;

    return code == MPI_ERR_IN_STATUS || (PMPI_Error_class(code, &class) == MPI_SUCCESS && class == MPI_ERR_IN_STATUS);
}

static bool block_poll(block *b, bool is_watched, void (*done)(abtmpi_wait *, abtmpi_part *))
{
    int num = 0, first = b->first, indices[BLOCK_NUM];
    MPI_Status statuses[BLOCK_NUM];

    if (is_watched || b->end - first == 1)
        return block_poll_singly(b, is_watched, done);
    int code = abtmpi_fatal_code(abtmpi_real.Testsome(b->end - first, b->requests + first, &num, indices, statuses));
    bool has_codes = code != MPI_SUCCESS && block_is_in_status(code);
    if (code != MPI_SUCCESS && !has_codes)
        return block_poll_singly(b, is_watched, done);
    if (num == MPI_UNDEFINED)
        return false;
    /* First of all: a part that is reported may end its wait, which drops the others of it. */
    for (int i = 0; i < num; i++) {
        b->parts[first + indices[i]]->status = statuses[i];
        block_mark(b, first + indices[i], has_codes ? statuses[i].MPI_ERROR : MPI_SUCCESS);
    }
    for (int i = 0; i < num; i++)
        block_report(b, first + indices[i], done);
    return num > 0;
}

/* From one block to the end, until a request is done. */
static bool blocks_poll_from(abtmpi_blocks *blocks, block *b, void (*done)(abtmpi_wait *, abtmpi_part *))
{
    bool found = false;

    while (b && !found) {
        if (b->polled == blocks->polls) {
            b = b->next;
            continue;
        }
        b->polled = blocks->polls;
        blocks->at = b;
        found = block_poll(b, blocks->is_watched, done);
        b = block_tidy(blocks, b);
    }
    return found;
}

bool abtmpi_blocks_poll(abtmpi_blocks *blocks, void (*done)(abtmpi_wait *wait, abtmpi_part *part))
{
    block *oldest = blocks->first;

    if (!oldest)
        return false;
    oldest->polled = ++blocks->polls;
    bool found = block_poll(oldest, blocks->is_watched, done);
    block_tidy(blocks, oldest);
    if (found) {
        blocks->elsewhere = false;
        blocks->misses = 0;
        return true;
    }
    if (!blocks->elsewhere && ++blocks->misses % BLOCK_EVERY != 0)
        return false;
    /* Blocks come and go meanwhile, so that each is marked when it has been polled. */
    found = blocks_poll_from(blocks, blocks->at, done) || blocks_poll_from(blocks, blocks->first, done);
    blocks->elsewhere = found;
    return found;
}

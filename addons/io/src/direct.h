/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a channel remembers of operations that it has tried to do without a switch of its caller: with nothing else to
 * run the stream would enter the ring at once, so the caller does that himself, and goes on if the operation is done by
 * then. After some in a row the stream gets its turn, which may have other pools and events. Where the last one was
 * tried without success, the next ones of its kind are not tried.
 */
#ifndef ABTIO_DIRECT_H
#define ABTIO_DIRECT_H

#include <poll.h>
#include "op.h"

struct direct {
    unsigned in_a_row; /* after which their callers went on without a switch */
    unsigned doubt[2]; /* that number of that kind are not tried any more */
};

/* What waits for a peer rarely succeeds at once, and the rest mostly does. */
static inline unsigned *direct_doubt(struct direct *direct, const abtio_op *op)
{
    return &direct->doubt[op_ready(op) == POLLIN];
}

/* Whether to try this one. */
static inline bool direct_tries(struct direct *direct, const abtio_op *op)
{
    enum { MOST_IN_A_ROW = 16 };
    unsigned *doubt = direct_doubt(direct, op);

    abtioi_assert(direct->in_a_row <= MOST_IN_A_ROW && !op->shared);
    if (*doubt > 0) {
        --*doubt;
        return false;
    }
    if (op->code == CODE_connect || direct->in_a_row >= MOST_IN_A_ROW)
        return false;
    direct->in_a_row++;
    return true;
}

/* It failed. */
static inline void direct_fails(struct direct *direct, const abtio_op *op)
{
    enum { DOUBT = 15 };
    *direct_doubt(direct, op) = DOUBT;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens of a FIFO, which wait for its other end. A ring does not: it opens for reading at once, and refuses to open for
 * writing, unless a thread of the kernel makes the call. So a helper waits then. Meanwhile the descriptor that the
 * ring has opened is kept, since a writer that was waiting for a reader has gone on.
 */
#ifndef ABTIO_FIFO_H
#define ABTIO_FIFO_H

#include "op.h"

/* Whether a helper has to go on with an open that a ring has done, with this result. It keeps the descriptor then. */
bool abtioi_fifo_waits(abtio_op *op, ssize_t result);

/* Whether it keeps one. */
static inline bool fifo_is_kept(const abtio_op *op)
{
    return op->code == CODE_openat && op->args.fd2 >= 0;
}

/*
 * The helper's call: the descriptor or -1, with errno. It is to be interrupted again and again, since a writer may come
 * and go before it begins.
 */
int abtioi_fifo_open(struct args *args);

/* The operation ends: closes what is kept. */
void abtioi_fifo_drop(abtio_op *op);

#endif

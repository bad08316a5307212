/* SPDX-License-Identifier: BSD-3-Clause */
/* Begin and end, and which side does an operation. */
#ifndef ABTIO_BACKEND_H
#define ABTIO_BACKEND_H

#include "op.h"

/*
 * Starts an operation of a ULT if its stream can do it: else false. The caller then suspends itself until op->finished
 * is set, which it may be already.
 */
bool abtioi_start_call(abtio_op *op);

/* Starts an operation that tells its end by its eventual: 0, or -errno: it has not been started. */
int abtioi_start(abtio_op *op, bool by_ult);

/* Ends an operation whose deadline its side does not keep, if it is not done. */
void abtioi_leave(abtio_op *op, int why);

/* Nobody will see the result of an operation that is done. */
void abtioi_drop_result(const abtio_op *op);

/* Asks for the end of an operation that is under way or done; it stays the caller's to free. */
void abtioi_cancel(abtio_op *op);

/* Looks for the result of an operation, if it is the calling stream that has to, and keeps a waiter's deadline. */
void abtioi_poll(abtio_op *op);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Native threads that make blocking system calls for others: the whole backend "threads", and in the other one what
 * rings cannot do. A helper is made when an operation comes and none is idle, and ends after some idle seconds.
 */
#ifndef ABTIO_HELPERS_H
#define ABTIO_HELPERS_H

#include "op.h"

/*
 * Called once each by abtio_init and by the end. 0: the default number, and more while none of them gets on. The end
 * cancels all operations, and waits until no helper is left. The signal is that of abtio_config. Errors: -EINVAL,
 * -EAGAIN (see signals.h).
 */
int abtioi_helpers_begin(unsigned max_threads, int signal);
void abtioi_helpers_end(void);

/* Starts an operation: 0, or -EAGAIN: there is no thread for it. Any thread. */
int abtioi_helpers_start(abtio_op *op);

/*
 * Does an operation on the caller's own native thread, which would only sleep meanwhile, and returns its result. It has
 * no deadline and nobody else knows it, but it ends with libabtio.
 */
ssize_t abtioi_helpers_run(abtio_op *op);

/* Ends an operation that `ended` is set of, if it is still under way. Any thread. */
void abtioi_helpers_cancel(abtio_op *op);

/* Ends a look-up of names that a helper is at, which goes on without it. Any thread. */
void abtioi_helpers_leave(abtio_op *op, int why);

unsigned abtioi_helpers_count(void);

/* Operations under way. */
uint64_t abtioi_helpers_in_flight(void);

/* Around fork(); the child has no helpers, and those of the parent go on. */
void abtioi_helpers_before_fork(void);
void abtioi_helpers_after_fork(void);
void abtioi_helpers_forget(void);

#endif

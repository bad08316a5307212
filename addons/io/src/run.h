/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls themselves, made by the thread that calls. */
#ifndef ABTIO_RUN_H
#define ABTIO_RUN_H

#include "op.h"

/* One system call of an operation: its result or -errno. */
ssize_t abtioi_run_once(abtio_op *op);

/* 0, or why it is not to be begun: -ECANCELED or -ETIMEDOUT. */
int abtioi_run_reason(abtio_op *op);

/* getaddrinfo, with the result that the call has. */
int abtioi_run_lookup(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **list);

/*
 * A user-defined function runs as on a thread that its caller has made: with the caller's signal mask, which threads
 * and processes inherit that it makes. The first is called by the caller, the other by the thread that runs it.
 */
void abtioi_run_keep_mask(abtio_op *op);
ssize_t abtioi_run_function(abtio_op *op);

/* All of an operation, until its result is known. Does not deliver it. */
ssize_t abtioi_run(abtio_op *op);

#endif

/* How a call is told to a ring. */
#ifndef ABTIO_SUBMIT_H
#define ABTIO_SUBMIT_H

#include "op.h"
#include "ring/ring.h"

/* Whether there is a ring operation for it. */
bool abtioi_submit_knows(enum code code);

/* Fills in all but user_data. */
void abtioi_submit_call(struct io_uring_sqe *sqe, abtio_op *op);

/* Its deadline, which comes just after it in the ring. Fills in all but user_data, as do the next two. */
void abtioi_submit_deadline(struct io_uring_sqe *sqe, abtio_op *op);

/* A poll of a descriptor for POLLIN and the like. */
void abtioi_submit_poll(struct io_uring_sqe *sqe, int fd, unsigned events);

/* The end of an operation, or of all that there are with NULL. */
void abtioi_submit_cancel(struct io_uring_sqe *sqe, const abtio_op *op);

/* A receive is not tried before there is something: a plain one, that is, which would wait until then anyway. */
void abtioi_submit_poll_first(struct io_uring_sqe *sqe);

/*
 * Whether the system call is little beside what the kernel has to do: such a one is handed over at once, since a device
 * would idle until the units that are ready have had their turns. The limit is the common size of a device's request.
 */
bool abtioi_submit_is_large(const struct io_uring_sqe *sqe);

/* The place of the buffer that a completion has brought, in its group, or -1. */
int abtioi_submit_place(unsigned flags);

/* The result of the system call, made of the ring's. */
ssize_t abtioi_submit_result(const abtio_op *op, int result);

#endif

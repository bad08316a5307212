/* SPDX-License-Identifier: BSD-3-Clause */
/* How a call is submitted to a ring. */
#ifndef ABTIO_SUBMIT_H
#define ABTIO_SUBMIT_H

#include <errno.h>
#include "fifo.h"
#include "op.h"
#include "ring/ring.h"

extern void __tsan_acquire(void *address) __attribute__((weak)); /* there is one where TSan watches */

/*
 * Whether there is a ring operation for it, to which deadlines and cancels come. That of splice blocks a thread of the
 * kernel, as a helper would be: it is of no use. TSan learns of the end of a descriptor by close(2) only, and takes the
 * next one with that number for the same one: helpers close then.
 */
static inline bool submit_knows(enum code code)
{
    if (code == CODE_close && __tsan_acquire)
        return false;
    return code != CODE_splice && code != CODE_recv_one && code != CODE_ftruncate && code != CODE_mkostemp &&
           code != CODE_getaddrinfo && code != CODE_blocking;
}

/* Whether the ring leaves the rest undone. */
static inline bool submit_goes_elsewhere(abtio_op *op, ssize_t result)
{
    /* It does not tell whether it goes on by itself; a thread finds out. */
    if (op->code == CODE_connect)
        return result == -EAGAIN || result == -EINPROGRESS;
    return op->code == CODE_openat && op->report == REPORT_BY_EVENTUAL && abtioi_fifo_waits(op, result);
}

/* Fills in all but user_data. */
void abtioi_submit_call(struct io_uring_sqe *sqe, abtio_op *op);

/* Its deadline, which comes just after it in the ring. Fills in all but user_data, as do the next two. */
void abtioi_submit_deadline(struct io_uring_sqe *sqe, abtio_op *op);

/* A poll of a descriptor for POLLIN and the like. */
void abtioi_submit_poll(struct io_uring_sqe *sqe, int fd, unsigned events);

/* The end of an operation. */
void abtioi_submit_cancel(struct io_uring_sqe *sqe, const abtio_op *op);

/*
 * Whether the system call is little beside what the kernel has to do: such a one is handed over at once, since a device
 * would idle until the units that are ready have had their turns. The limit is the common size of a device's request.
 */
static inline bool submit_is_large(const struct io_uring_sqe *sqe)
{
    enum { LARGE = 128 * 1024 };
    return sqe->len >= LARGE && (sqe->opcode == IORING_OP_READ || sqe->opcode == IORING_OP_WRITE ||
                                 sqe->opcode == IORING_OP_READ_FIXED || sqe->opcode == IORING_OP_WRITE_FIXED);
}

/* Whether the thread that hands it over may have to wait for it, or is long at it. A socket that is closed may linger.
 */
static inline bool submit_may_block(const struct io_uring_sqe *sqe)
{
    return sqe->opcode == IORING_OP_CLOSE || submit_is_large(sqe);
}

/* The place of the buffer that a completion has brought, in its group, or -1. */
int abtioi_submit_place(unsigned flags);

/* The kernel's own codes for a system call that was interrupted, ERESTARTSYS to ERESTART_RESTARTBLOCK. */
enum { SUBMIT_RESTART_FIRST = 512, SUBMIT_RESTART_LAST = 516 };

/* The result of the system call, made of the ring's. */
static inline ssize_t submit_result(const abtio_op *op, int result)
{
    if (result <= -SUBMIT_RESTART_FIRST && result >= -SUBMIT_RESTART_LAST)
        return -EINTR;
    if (op->code == CODE_sleep && result == -ETIME)
        return op->args.offset <= op->deadline ? 0 : -ETIMEDOUT;
    return result;
}

#endif

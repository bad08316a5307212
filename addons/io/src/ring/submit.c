/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring/submit.h"

#include <string.h>
#include "ring/group.h"

/* What most operations consist of. */
static void submit_fill(struct io_uring_sqe *sqe, int opcode, int fd, const void *addr, size_t len, uint64_t off)
{
    abtioi_assert(opcode > IORING_OP_NOP && opcode < IORING_OP_LAST);
    memset(sqe, 0, sizeof(*sqe));
    sqe->opcode = (uint8_t)opcode;
    sqe->fd = fd;
    sqe->addr = (uintptr_t)addr;
    sqe->len = (unsigned)len;
    sqe->off = off;
}

/* Events of poll, as a submission has them: on big-endian machines with the halves of the word changed over. */
static unsigned serve_events(unsigned events)
{
    static const bool swapped = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return swapped ? events << 16 | events >> 16 : events;
}

/* Moves at most `size` bytes, as the system calls do. */
static size_t submit_clamp(size_t size)
{
    enum { MOST = 0x7ffff000 };
    return size < MOST ? size : MOST;
}

/* Until when a sleep lasts: its end, or the deadline. The kernel reads it when the submission is handed over. */
static void fill_sleep(struct io_uring_sqe *sqe, abtio_op *op)
{
    int64_t until = op->args.offset < op->deadline ? op->args.offset : op->deadline;

    abtioi_assert(op->code == CODE_sleep && until > 0);
    op->time.tv_sec = until / 1000000000;
    op->time.tv_nsec = until % 1000000000;
    submit_fill(sqe, IORING_OP_TIMEOUT, -1, &op->time, 1, 0);
    sqe->timeout_flags = IORING_TIMEOUT_ABS;
}

/*
 * Into what the group provides. Where it does not go on by itself, it is submitted again after each result: so it is
 * before Linux 6.0, which takes the length for what it is, while later 0 is the buffer's.
 */
static void fill_recv_many(struct io_uring_sqe *sqe, const struct args *a)
{
    abtioi_assert(a->fd2 >= 0 && a->fd2 <= UINT16_MAX);
    submit_fill(sqe, IORING_OP_RECV, a->fd, NULL, abtioi_group_goes_on ? 0 : a->size, 0);
    sqe->flags = IOSQE_BUFFER_SELECT;
    sqe->buf_group = (uint16_t)a->fd2;
    sqe->ioprio = abtioi_group_goes_on ? IORING_RECV_MULTISHOT : 0;
}

/* Those that move no bytes of a descriptor that is open. */
static void fill_others(struct io_uring_sqe *sqe, abtio_op *op)
{
    const struct args *a = &op->args;

    switch (op->code) {
    case CODE_openat: submit_fill(sqe, IORING_OP_OPENAT, a->fd, a->in, a->mode, 0); break;
    case CODE_close: submit_fill(sqe, IORING_OP_CLOSE, a->fd, NULL, 0, 0); return;
    case CODE_fsync: submit_fill(sqe, IORING_OP_FSYNC, a->fd, NULL, 0, 0); return;
    case CODE_fdatasync:
        submit_fill(sqe, IORING_OP_FSYNC, a->fd, NULL, 0, 0);
        sqe->fsync_flags = IORING_FSYNC_DATASYNC;
        return;
    case CODE_fallocate:
        submit_fill(sqe, IORING_OP_FALLOCATE, a->fd, NULL, a->mode, (uint64_t)a->offset);
        sqe->addr = (uint64_t)a->offset2;
        return;
    case CODE_unlinkat: submit_fill(sqe, IORING_OP_UNLINKAT, a->fd, a->in, 0, 0); break;
    case CODE_renameat: submit_fill(sqe, IORING_OP_RENAMEAT, a->fd, a->in, (unsigned)a->fd2, (uintptr_t)a->in2); break;
    case CODE_mkdirat: submit_fill(sqe, IORING_OP_MKDIRAT, a->fd, a->in, a->mode, 0); return;
    case CODE_statx: submit_fill(sqe, IORING_OP_STATX, a->fd, a->in, a->mode, (uintptr_t)a->out2); break;
    case CODE_socket: submit_fill(sqe, IORING_OP_SOCKET, a->fd, NULL, (unsigned)a->fd2, a->flags); return;
    case CODE_shutdown: submit_fill(sqe, IORING_OP_SHUTDOWN, a->fd, NULL, a->flags, 0); return;
    case CODE_poll: abtioi_submit_poll(sqe, a->fd, a->flags); return;
    default: fill_sleep(sqe, op); return;
    }
    sqe->open_flags = a->flags; /* the same word as those of the others */
}

void abtioi_submit_call(struct io_uring_sqe *sqe, abtio_op *op)
{
    const struct args *a = &op->args;
    uint64_t offset = (uint64_t)a->offset;

    abtioi_assert(submit_knows(op->code) && !op->polling);
    switch (op->code) {
    case CODE_read:
    case CODE_read_all:
    case CODE_pread:
    case CODE_pread_all: submit_fill(sqe, IORING_OP_READ, a->fd, a->in, submit_clamp(a->size), offset); return;
    case CODE_write:
    case CODE_write_all:
    case CODE_pwrite:
    case CODE_pwrite_all: submit_fill(sqe, IORING_OP_WRITE, a->fd, a->in, submit_clamp(a->size), offset); return;
    case CODE_preadv: submit_fill(sqe, IORING_OP_READV, a->fd, a->in, a->size, offset); break;
    case CODE_pwritev: submit_fill(sqe, IORING_OP_WRITEV, a->fd, a->in, a->size, offset); break;
    case CODE_send:
    case CODE_send_all: submit_fill(sqe, IORING_OP_SEND, a->fd, a->in, submit_clamp(a->size), 0); break;
    case CODE_recv:
    case CODE_recv_all: submit_fill(sqe, IORING_OP_RECV, a->fd, a->in, submit_clamp(a->size), 0); break;
    case CODE_sendmsg: submit_fill(sqe, IORING_OP_SENDMSG, a->fd, a->in, 1, 0); break;
    case CODE_recvmsg: submit_fill(sqe, IORING_OP_RECVMSG, a->fd, a->in, 1, 0); break;
    case CODE_accept: submit_fill(sqe, IORING_OP_ACCEPT, a->fd, a->in, 0, (uintptr_t)a->in2); break;
    case CODE_accept_many:
        submit_fill(sqe, IORING_OP_ACCEPT, a->fd, NULL, 0, 0);
        sqe->ioprio = IORING_ACCEPT_MULTISHOT;
        break;
    case CODE_recv_many: fill_recv_many(sqe, a); return;
    case CODE_connect: submit_fill(sqe, IORING_OP_CONNECT, a->fd, a->in, 0, a->size); return;
    default: fill_others(sqe, op); return;
    }
    sqe->msg_flags = a->flags; /* the same word as rw_flags and accept_flags */
}

/* The kernel reads the time when it takes the submission. */
void abtioi_submit_deadline(struct io_uring_sqe *sqe, abtio_op *op)
{
    abtioi_assert(op->deadline > 0 && op->deadline != ABTIO_FOREVER);
    op->time.tv_sec = op->deadline / 1000000000;
    op->time.tv_nsec = op->deadline % 1000000000;
    submit_fill(sqe, IORING_OP_LINK_TIMEOUT, -1, &op->time, 1, 0);
    sqe->timeout_flags = IORING_TIMEOUT_ABS;
}

void abtioi_submit_poll(struct io_uring_sqe *sqe, int fd, unsigned events)
{
    submit_fill(sqe, IORING_OP_POLL_ADD, fd, NULL, 0, 0);
    sqe->poll32_events = serve_events(events);
}

void abtioi_submit_cancel(struct io_uring_sqe *sqe, const abtio_op *op)
{
    abtioi_assert(op->channel && op->code != CODE_waiter && op->code != CODE_serve);
    submit_fill(sqe, IORING_OP_ASYNC_CANCEL, -1, op, 0, 0);
}

int abtioi_submit_place(unsigned flags)
{
    return flags & IORING_CQE_F_BUFFER ? (int)(flags >> IORING_CQE_BUFFER_SHIFT) : -1;
}

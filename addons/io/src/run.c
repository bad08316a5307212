/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "fifo.h"
#include "os/os.h"
#include "multishot/multishot.h"

/* Polls without end: 0 when there is one of the events, or -errno. */
static int poll_for(int fd, unsigned events, short *found)
{
    struct pollfd poll_fd = {.fd = fd, .events = (short)events};
    if (poll(&poll_fd, 1, -1) < 0)
        return -errno;
    *found = poll_fd.revents;
    return 0;
}

static int run_poll(const struct args *a)
{
    short found = 0;
    int code = poll_for(a->fd, a->flags, &found);
    if (code == 0)
        code = found & POLLNVAL ? -EBADF : found;
    return code;
}

/* One that was interrupted, or does not wait, goes on by itself, and a second call would not wait for it. */
static int run_connect(abtio_op *op)
{
    short found;
    int error = 0;
    socklen_t size = sizeof(error);

    if (!op->polling) {
        if (connect(op->args.fd, op->args.in, (socklen_t)op->args.size) == 0)
            return 0;
        if (errno != EINTR && errno != EINPROGRESS)
            return -errno;
        op->polling = true;
        if (errno == EINTR)
            return -EINTR; /* the caller looks whether this is to end */
    }
    int code = poll_for(op->args.fd, POLLOUT, &found);
    if (code == 0)
        code = getsockopt(op->args.fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? -errno : -error;
    return code;
}

/* The descriptor is gone also when the call was interrupted. */
static int run_close(int fd)
{
    return close(fd) == 0 || errno == EINTR ? 0 : -errno;
}

static int run_sleep(const struct args *a)
{
    struct timespec until = {.tv_sec = a->offset / 1000000000, .tv_nsec = a->offset % 1000000000};
    return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

int abtioi_run_lookup(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
    int code = getaddrinfo(node, service, hints, list);
    return code == EAI_SYSTEM ? -errno : -code;
}

static ssize_t run_splice(const struct args *a)
{
    off_t from = a->offset2, to = a->offset;
    return splice(a->fd2, from == -1 ? NULL : &from, a->fd, to == -1 ? NULL : &to, a->size, a->flags);
}

static ssize_t run_read(const struct args *a)
{
    return a->offset == -1 ? read(a->fd, a->out, a->size) : pread(a->fd, a->out, a->size, a->offset);
}

static ssize_t run_write(const struct args *a)
{
    return a->offset == -1 ? write(a->fd, a->in, a->size) : pwrite(a->fd, a->in, a->size, a->offset);
}

/* Those of files: the result as the C library has it, with errno. */
static ssize_t run_file(enum code code, struct args *a)
{
    int flags = (int)a->flags;

    switch (code) {
    case CODE_openat: return a->fd2 >= 0 ? abtioi_fifo_open(a) : openat(a->fd, a->in, flags, (mode_t)a->mode);
    case CODE_read:
    case CODE_pread:
    case CODE_read_all:
    case CODE_pread_all: return run_read(a);
    case CODE_write:
    case CODE_pwrite:
    case CODE_write_all:
    case CODE_pwrite_all: return run_write(a);
    case CODE_preadv: return abtioi_os_preadv2(a->fd, a->in, (int)a->size, a->offset, flags);
    case CODE_pwritev: return abtioi_os_pwritev2(a->fd, a->in, (int)a->size, a->offset, flags);
    case CODE_fsync: return fsync(a->fd);
    case CODE_fdatasync: return fdatasync(a->fd);
    case CODE_fallocate: return fallocate(a->fd, (int)a->mode, a->offset, a->offset2);
    case CODE_ftruncate: return ftruncate(a->fd, a->offset);
    case CODE_mkostemp: return mkostemp(a->out, flags);
    case CODE_unlinkat: return unlinkat(a->fd, a->in, flags);
    case CODE_renameat: return abtioi_os_renameat2(a->fd, a->in, a->fd2, a->in2, a->flags);
    case CODE_mkdirat: return mkdirat(a->fd, a->in, (mode_t)a->mode);
    case CODE_statx: return abtioi_os_statx(a->fd, a->in, flags, a->mode, a->out2);
    default: return run_splice(a);
    }
}

ssize_t abtioi_run_once(abtio_op *op)
{
    struct args *a = &op->args;
    int flags = (int)a->flags;
    ssize_t result;

    abtioi_assert(op->code < CODE_accept_many || op->code == CODE_recv_one);
    switch (op->code) {
    case CODE_close: return run_close(a->fd);
    case CODE_connect: return run_connect(op);
    case CODE_poll: return run_poll(a);
    case CODE_sleep: return run_sleep(a);
    case CODE_getaddrinfo: return abtioi_run_lookup(a->in, a->in2, a->hints, a->result);
    case CODE_blocking: return a->fn(a->out);
    case CODE_recv_one: return op->multishot->kind->run(op);
    case CODE_socket: result = socket(a->fd, flags, a->fd2); break;
    case CODE_accept: result = accept4(a->fd, a->out, a->out2, flags); break;
    case CODE_send:
    case CODE_send_all: result = send(a->fd, a->in, a->size, flags); break;
    case CODE_recv:
    case CODE_recv_all: result = recv(a->fd, a->out, a->size, flags); break;
    case CODE_sendmsg: result = sendmsg(a->fd, a->in, flags); break;
    case CODE_recvmsg: result = recvmsg(a->fd, a->out, flags); break;
    case CODE_shutdown: result = shutdown(a->fd, flags); break;
    default: result = run_file(op->code, a);
    }
    return result < 0 ? -errno : result;
}

void abtioi_run_keep_mask(abtio_op *op)
{
    sigset_t mask;
    sigemptyset(&mask); /* the system stores less */
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    memcpy(op->mask, &mask, sizeof(op->mask));
}

ssize_t abtioi_run_function(abtio_op *op)
{
    sigset_t mask, own;

    sigemptyset(&mask);
    memcpy(&mask, op->mask, sizeof(op->mask));
    pthread_sigmask(SIG_SETMASK, &mask, &own);
    ssize_t result = abtioi_run_once(op);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    return result;
}

/* Before each call: one that is to end, or late, is not begun; but for what is tried once, see abtioi_run. */
int abtioi_run_reason(abtio_op *op)
{
    /* relaxed: nothing else is handed over by it */
    int ended = atomic_load_explicit(&op->ended, memory_order_relaxed);
    abtioi_assert(ended == 0 || ended == -ECANCELED);
    if (!ended && abtioi_op_is_late(op))
        ended = -ETIMEDOUT;
    return ended;
}

/*
 * Whether a call that is late would wait. Where the descriptor does not say so it is made, and the timer of the helper,
 * which signals again and again from the deadline on, interrupts it if it waits after all: somebody else was faster, or
 * nothing can be asked.
 */
static bool run_would_wait(const abtio_op *op)
{
    struct pollfd poll_fd = {.fd = op->args.fd, .events = (short)op_ready(op)};

    if (op->code == CODE_sleep)
        return op->args.offset > op->deadline;
    if (op->code == CODE_poll)
        poll_fd.events = (short)op->args.flags;
    else if (op->args.flags & abtioi_call_kinds[op->code].nowait)
        return false;
    return poll_fd.fd >= 0 && poll_fd.events && poll(&poll_fd, 1, 0) == 0;
}

/* The first call is made even if it is late, as a ring makes it, unless it would wait. */
static int run_first_reason(abtio_op *op)
{
    int reason = abtioi_run_reason(op);
    return reason == -ETIMEDOUT && !run_would_wait(op) ? 0 : reason;
}

ssize_t abtioi_run(abtio_op *op)
{
    ssize_t result = run_first_reason(op);

    for (;; result = abtioi_run_reason(op)) {
        if (result < 0)
            return result;
        if (op->code == CODE_blocking)
            return abtioi_run_once(op); /* whatever it returns is its own */
        result = abtioi_run_once(op);
        enum next next = op_next(op, &result);
        if (next == NEXT_DELIVER)
            return result;
        short found;
        if (next == NEXT_POLL) {
            abtioi_assert(op_ready(op) != 0);
            int code = poll_for(op->args.fd, op_ready(op), &found);
            if (code < 0 && code != -EINTR)
                return code;
        }
    }
}

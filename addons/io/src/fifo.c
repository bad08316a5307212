/* SPDX-License-Identifier: BSD-3-Clause */
#include "fifo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A writer has been there: it has written, or has gone. One that is there and has not written is not seen. */
static bool has_had_writer(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) > 0;
}

bool abtioi_fifo_waits(abtio_op *op, ssize_t result)
{
    unsigned flags = op->args.flags;
    struct stat status;

    if (flags & (O_NONBLOCK | O_DIRECTORY | O_PATH))
        return false;
    if ((flags & O_ACCMODE) != O_RDONLY)
        return (flags & O_ACCMODE) == O_WRONLY && result == -ENXIO;
    if (result < 0 || fstat((int)result, &status) < 0 || !S_ISFIFO(status.st_mode) || has_had_writer((int)result))
        return false;
    op->args.fd2 = (int)result;
    return true;
}

int abtioi_fifo_open(struct args *args)
{
    char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
    int fd = args->fd2, other;

    if (!has_had_writer(fd)) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        other = open(path, O_RDONLY | O_CLOEXEC);
        if (other < 0 && errno == ENOENT) /* /proc is not there */
            other = openat(args->fd, args->in, O_RDONLY | O_CLOEXEC);
        if (other < 0)
            return -1;
        close(other);
    }
    args->fd2 = -1;
    return fd;
}

void abtioi_fifo_drop(abtio_op *op)
{
    if (!fifo_is_kept(op))
        return;
    close(op->args.fd2);
    op->args.fd2 = -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the C library: glibc. */
#include "os/os.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

ssize_t abtioi_os_preadv2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
    return preadv2(fd, iov, count, offset, flags);
}

ssize_t abtioi_os_pwritev2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
    return pwritev2(fd, iov, count, offset, flags);
}

int abtioi_os_renameat2(int olddirfd, const char *oldpath, int newdirfd, const char *newpath, unsigned flags)
{
    return renameat2(olddirfd, oldpath, newdirfd, newpath, flags);
}

int abtioi_os_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *buf)
{
    return statx(dirfd, path, flags, mask, buf);
}

int abtioi_os_timer_create(pid_t thread, int number, void *value, timer_t *timer)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    event.sigev_value.sival_ptr = value;
    event._sigev_un._tid = thread;
    return timer_create(CLOCK_MONOTONIC, &event, timer);
}

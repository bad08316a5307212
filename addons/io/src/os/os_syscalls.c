/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls themselves, where the C library has no functions for them: musl. */
#include "os/os.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel takes an offset as two words, of which the second counts only where a word is too small for it. */
static ssize_t os_move(long number, int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
    long low = (long)offset, high = (long)((uint64_t)offset >> 32);
    return syscall(number, (long)fd, iov, (long)count, low, high, (long)flags);
}

ssize_t abtioi_os_preadv2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
    return os_move(SYS_preadv2, fd, iov, count, offset, flags);
}

ssize_t abtioi_os_pwritev2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
    return os_move(SYS_pwritev2, fd, iov, count, offset, flags);
}

int abtioi_os_renameat2(int olddirfd, const char *oldpath, int newdirfd, const char *newpath, unsigned flags)
{
    return (int)syscall(SYS_renameat2, (long)olddirfd, oldpath, (long)newdirfd, newpath, (unsigned long)flags);
}

int abtioi_os_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *buf)
{
    return (int)syscall(SYS_statx, (long)dirfd, path, (long)flags, (unsigned long)mask, buf);
}

int abtioi_os_timer_create(pid_t thread, int number, void *value, timer_t *timer)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    event.sigev_value.sival_ptr = value;
    event.sigev_notify_thread_id = thread;
    return timer_create(CLOCK_MONOTONIC, &event, timer);
}

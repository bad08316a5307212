/* SPDX-License-Identifier: BSD-3-Clause */
/* What not every C library for Linux has: with errno, as the calls of these names. */
#ifndef ABTIO_OS_H
#define ABTIO_OS_H

#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

struct statx;

/* An offset of -1 is the file's own. */
ssize_t abtioi_os_preadv2(int fd, const struct iovec *iov, int count, off_t offset, int flags);
ssize_t abtioi_os_pwritev2(int fd, const struct iovec *iov, int count, off_t offset, int flags);

int abtioi_os_renameat2(int olddirfd, const char *oldpath, int newdirfd, const char *newpath, unsigned flags);
int abtioi_os_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *buf);

/* A timer of CLOCK_MONOTONIC that sends a thread this signal with this value. */
int abtioi_os_timer_create(pid_t thread, int number, void *value, timer_t *timer);

#endif

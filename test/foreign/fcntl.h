/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
enum { F_GETFL = 3, F_SETFL = 4, F_SETFD = 2, F_GETFD = 1, FD_CLOEXEC = 1, O_NONBLOCK = 4 };

int fcntl(int fd, int command, ...);

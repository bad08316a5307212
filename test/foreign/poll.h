/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
struct pollfd {
    int fd;
    short events, revents;
};

enum { POLLIN = 1 };

int poll(struct pollfd *fds, unsigned num, int timeout);

/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
#ifndef FOREIGN_UNISTD_H
#define FOREIGN_UNISTD_H

#include <stddef.h>

typedef long ssize_t;

enum { _SC_NPROCESSORS_CONF = 57, _SC_NPROCESSORS_ONLN = 58 };

long sysconf(int name);
int pipe(int fds[2]);
int close(int fd);
ssize_t read(int fd, void *to, size_t size);
ssize_t write(int fd, const void *from, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
#ifndef FOREIGN_ERRNO_H
#define FOREIGN_ERRNO_H

int *foreign_errno(void);
#define errno (*foreign_errno())

enum { EINTR = 4, ENOMEM = 12, EINVAL = 22, ENFILE = 23, EMFILE = 24, ETIMEDOUT = 60, ENOSYS = 78 };

#endif

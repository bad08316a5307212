/* See README. */
#ifndef FOREIGN_ERRNO_H
#define FOREIGN_ERRNO_H

int *foreign_errno(void);
#define errno (*foreign_errno())

enum { EINTR = 4, ENOMEM = 12, EINVAL = 22, ETIMEDOUT = 60 };

#endif

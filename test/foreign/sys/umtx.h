/* SPDX-License-Identifier: BSD-3-Clause */
/* See README. */
#ifndef FOREIGN_SYS_UMTX_H
#define FOREIGN_SYS_UMTX_H

#include <stdint.h>
#include <time.h>

struct _umtx_time {
    struct timespec _timeout;
    uint32_t _flags;
    uint32_t _clockid;
};

enum { UMTX_ABSTIME = 1, UMTX_OP_WAIT_UINT_PRIVATE = 15, UMTX_OP_WAKE_PRIVATE = 16 };

int _umtx_op(void *object, int operation, unsigned long value, void *address, void *address2);

#endif

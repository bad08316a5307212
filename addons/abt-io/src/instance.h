/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances of libabt-io, and the operations that they have started. */
#ifndef ABT_IO_INSTANCE_H_INCLUDED
#define ABT_IO_INSTANCE_H_INCLUDED

#include <abt-io.h>
#include <abtio.h>
#include <stdatomic.h>
#include <stdbool.h>

struct abt_io_instance {
    char *config;           /* JSON; does not change */
    atomic_size_t blocking; /* calls that wait now; relaxed: it is only a count */
    ABT_mutex_memory lock;
    struct abt_io_op *first; /* operations whose result has not been stored; guarded by the lock */
};

/* What functions get that a native thread runs for an operation. */
struct seek {
    int fd, whence;
    off_t offset;
};

struct abt_io_op {
    abtio_op *handle;
    _Atomic(struct abt_io_instance *) instance; /* NULL: the result is stored; written under the lock */
    struct abt_io_op **link;                    /* what points to it in the instance's list; likewise */
    struct abt_io_op *next;                     /* likewise */
    void *result;                               /* the caller's */
    bool is_wide;                               /* the result has 64 bits, not an int's */
    struct seek seek;
};

/* An operation that is to be begun; NULL: no memory. */
struct abt_io_op *abt_ioi_op_create(void *result, size_t size);

/* Enters an operation that has begun with status 0; otherwise frees it, and returns NULL. */
struct abt_io_op *abt_ioi_op_enter(struct abt_io_instance *instance, struct abt_io_op *op, int status);

#endif

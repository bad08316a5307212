/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One operation, from its start until its result is delivered. It is stored in the frame of a call that waits, or on
 * the heap for an _nb form.
 *
 * The thread that may touch it: until it is started, the caller. Then the side that does it, which is a channel
 * (channel.h: everything on the channel's stream) or the helpers (helpers.h: under their lock, and by the helper that
 * runs it). Others touch only what they say to be atomic. From the moment that `done` is ready it is the caller's
 * again, and `result` is set.
 */
#ifndef ABTIO_OP_H
#define ABTIO_OP_H

#include <linux/time_types.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "abt.h"
#include "abtio.h"
#include "calls.h"
#include "debug.h"

#define CALL(type, name, ...) CODE_##name,
/* Beside the calls: what a multishot consists of, and what a channel is asked to do (multishot/). */
enum code { ABTIO_ALL_CALLS(CALL) CODE_accept_many, CODE_recv_many, CODE_recv_one, CODE_waiter, CODE_serve, NUM_CODES };
#undef CALL

struct args {
    int fd, fd2;
    unsigned flags, mode;
    union {
        void *out;
        const void *in;
    };
    union {
        void *out2;
        const void *in2;
        ssize_t (*fn)(void *arg);
    };
    size_t size;
    union {
        int64_t offset;
        const struct addrinfo *hints;
    };
    union {
        int64_t offset2;
        struct addrinfo **result;
    };
};

struct channel;
struct helper;
struct multishot;

/* How the end of an operation is reported. */
enum report {
    REPORT_BY_EVENTUAL, /* `done` is set */
    REPORT_BY_RESUME,   /* the ULT `waiter` has suspended itself */
    REPORT_BY_FLAG,     /* its caller, which runs on the channel's stream, polls `finished` */
    REPORT_TO_MULTISHOT /* the multishot is called: it has no caller */
};

struct abtio_op {
    enum code code;
    bool finished;           /* not of REPORT_BY_EVENTUAL: the result is there */
    bool polling;            /* the descriptor is being polled, and then the call is made again */
    bool over;               /* its channel knows the result, and may not tell it yet */
    bool kept;               /* its channel could not submit it, or submits it to its next ring */
    bool drained;            /* its channel, which ends or changes its ring, has asked the kernel for its end */
    bool shared;             /* it has a handle, by which others may ask for its end */
    atomic_bool reported;    /* a call on its handle has said that it is done */
    atomic_int phase;        /* see channel.h */
    atomic_int ended;        /* -ECANCELED: somebody has asked for its end; else 0 */
    abtio_deadline deadline; /* greater than 0 */
    size_t moved;            /* bytes that a call of the _all kind has moved so far */
    struct channel *channel; /* that does it; NULL: the helpers */
    struct helper *helper;   /* that runs it; NULL: it is queued, or of a channel. Under the helpers' lock. */
    struct args args;
    /* From here on nothing is set at first: its user writes it before it is read. */
    enum report report;
    ssize_t result;
    ABT_thread waiter;
    struct abtio_op *later, **link; /* in its channel's list of all, and what leads to it there */
    struct abtio_op *next;          /* in a queue of its side */
    union {
        struct __kernel_timespec time; /* the deadline, or the end of a sleep, for the kernel */
        struct multishot *multishot;   /* of its operation and its waiters, which have no such time */
        unsigned char mask[16];        /* of a user-defined function: the first 128 signals, which are all there are */
    };
    ABT_eventual_memory done;
};

/* Calls of abtio_init without their abtio_finalize. */
extern atomic_uint abtioi_begins;

static inline bool abtioi_is_begun(void)
{
    /* relaxed: a thread that may call knows by other means that the library has begun */
    return atomic_load_explicit(&abtioi_begins, memory_order_relaxed) > 0;
}

/*
 * A deadline as the kernel takes it, which refuses times before 0 and for which 0 is none in some places. One that has
 * passed stays one.
 */
static inline abtio_deadline op_deadline(abtio_deadline deadline)
{
    return deadline > 1 ? deadline : 1;
}

/* Sets what is before the arguments. Few bytes: of more gcc makes a `rep stos`, which is slow to begin. */
static inline void op_init(abtio_op *op, enum code code, abtio_deadline deadline)
{
    abtioi_assert(code < NUM_CODES);
    memset(op, 0, offsetof(abtio_op, args));
    op->code = code;
    op->deadline = op_deadline(deadline);
}

/* What is to be done when the system has given a result. */
enum next {
    NEXT_DELIVER, /* the operation has ended */
    NEXT_CALL,    /* the system call is to be made again */
    NEXT_POLL     /* the descriptor is to be polled for op_ready first */
};

/* Of each call, see calls.h. */
struct call_kind {
    unsigned ready, nowait;
};

extern const struct call_kind abtioi_call_kinds[NUM_CODES];

/* POLLIN or POLLOUT: what the call waits for. */
static inline unsigned op_ready(const abtio_op *op)
{
    abtioi_assert(op->code < NUM_CODES);
    return abtioi_call_kinds[op->code].ready;
}

/* Whether it moves all bytes, by several calls if need be. */
static inline bool code_is_all(enum code code)
{
    return code == CODE_read_all || code == CODE_write_all || code == CODE_pread_all || code == CODE_pwrite_all ||
           code == CODE_send_all || code == CODE_recv_all;
}

static inline bool op_is_all(const abtio_op *op)
{
    return code_is_all(op->code);
}

/*
 * Whether no deadline of a ring ends the call. It does not wait for a descriptor to be ready, so that a thread of the
 * kernel's makes it as a rule, and the ring's timeout finds nothing to take back: an open of a FIFO with O_CREAT took
 * as long as its writer, measured with Linux 6.18. A close may wait for what is to be sent (SO_LINGER), in the stream's
 * own thread then.
 */
static inline bool op_is_deaf(const abtio_op *op)
{
    switch (op->code) {
    case CODE_openat:
    case CODE_close:
    case CODE_fsync:
    case CODE_fdatasync:
    case CODE_fallocate:
    case CODE_unlinkat:
    case CODE_renameat:
    case CODE_mkdirat:
    case CODE_statx: return true;
    default: return false;
    }
}

/* Looks at what the system has answered; *result becomes the operation's result when it has ended. */
enum next abtioi_op_next_slow(abtio_op *op, ssize_t *result);

/* The same, at once for what most calls end with. */
static inline enum next op_next(abtio_op *op, ssize_t *result)
{
    return *result >= 0 && !op_is_all(op) ? NEXT_DELIVER : abtioi_op_next_slow(op, result);
}

/* Whether its deadline has passed. */
bool abtioi_op_is_late(const abtio_op *op);

/* Makes it tell its end by its eventual. Before it is started. */
void abtioi_op_use_eventual(abtio_op *op);

/* Tells the result. The operation may be gone when this returns. */
void abtioi_op_deliver(abtio_op *op, ssize_t result);

static inline ABT_eventual op_eventual(abtio_op *op)
{
    abtioi_assert(op->report == REPORT_BY_EVENTUAL || op->report == REPORT_TO_MULTISHOT);
    return ABT_EVENTUAL_MEMORY_GET_HANDLE(&op->done);
}

#endif

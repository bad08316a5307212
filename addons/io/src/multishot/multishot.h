/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A multishot, in the words of io_uring: one operation that brings many results, a queue of results that nobody has
 * asked for yet, and a queue of waiters. A waiter is an operation of its own (CODE_waiter), which a result ends, or a
 * cancel, or its deadline.
 *
 * The operation is in the multishot. In a ring it is one that goes on after each result (code `many`); where there is
 * no ring for it, helpers do `one` after another, as long as somebody waits. A thread that finds it not under way,
 * `armed` being false, sets `armed` and starts it: a waiter that comes, on the ring of its stream, or the thread that
 * has reported its end. So a ring gets it, and its cancel, from the owner of the channel only; others ask by
 * abtioi_cancel, as for each operation.
 *
 * Results come from the owner of the channel, whose lock comes before that of the multishot, or on a helper, and
 * waiters on any thread. All fields but the operation are under the lock. The operation is set up under it too, before
 * `armed` can be seen, and from then on is its side's (op.h) until that tells its end, so that it may be cancelled as
 * soon as `armed` is seen. There are waiters only while there are no results: a caller takes a result first, and a
 * result goes to a waiter first, both under the lock, so that no result is there beside a waiter. Waiters are woken
 * when the lock is released, and the multishot is not touched then. One that leaves, for its deadline or by a cancel,
 * takes the lock once more: so the user frees the multishot only when all calls on it have returned.
 */
#ifndef ABTIO_MULTISHOT_H
#define ABTIO_MULTISHOT_H

#include <pthread.h>
#include "backend.h"

/* One that nobody has asked for yet. */
struct result {
    struct result *next;
    int value;
    void *buf; /* that has come with it, or NULL */
};

struct multishot;

/* What kind of results they are. All but the last two functions are called with the lock held. */
struct multishot_kind {
    enum code many, one;
    /*
     * Before the operation is begun, on a channel or with NULL by helpers, to which this may change it. False: it is
     * put off, until abtioi_multishot_try_again. It is asked again when the operation has ended with -ENOBUFS. May be
     * NULL.
     */
    bool (*prepare)(struct multishot *multishot, struct channel **channel);
    /* One that was put off need not be tried again. May be NULL if prepare is. */
    void (*forget)(struct multishot *multishot);
    /* The buffer that a channel's operation has taken for this value, or NULL: there is no result in it. */
    void *(*take)(struct multishot *multishot, unsigned place, int value);
    /* A place for a result until somebody asks, with value and buffer in it. NULL: it is not kept. */
    struct result *(*keep)(struct multishot *multishot, int value, void *buf);
    /* Somebody has got it, and the place is free again. May be NULL. */
    void (*release)(struct result *result);
    /* Nobody asks for it any more. */
    void (*discard)(struct multishot *multishot, struct result *result);
    /* Does `one` on a helper, where that is no call of the system alone. */
    ssize_t (*run)(abtio_op *op);
};

struct multishot {
    const struct multishot_kind *kind;
    void (*end)(abtio_op *op, ssize_t result); /* the operation has ended. By the thread that has done it */
    pthread_mutex_t *lock;
    struct args args;        /* of the operation */
    bool armed;              /* the operation is under way */
    bool put_off;            /* it is to be begun when it is tried again */
    bool stopping;           /* it is being cancelled, since enough results are kept */
    bool freeing;            /* it is being cancelled, and its eventual tells the end */
    abtio_op *first, **last; /* waiters */
    struct result *first_result, **last_result;
    struct multishot *later; /* among those that are put off */
    unsigned num, enough;    /* results that are kept, and with how many the operation is stopped until somebody asks */
    abtio_op op;
};

/* Sets all but args. */
void abtioi_multishot_init(struct multishot *multishot, const struct multishot_kind *kind, pthread_mutex_t *lock,
                           unsigned enough);

/* From now on nothing is begun. -EBUSY: there are waiters; 1: something is under way, whose end is to be awaited. */
int abtioi_multishot_close(struct multishot *multishot);

/* Discards results. Nothing is under way any more. */
void abtioi_multishot_discard(struct multishot *multishot);

/* Ends what is under way and discards results: 0, or -EBUSY: there are waiters. */
static inline int multishot_fini(struct multishot *multishot)
{
    int code = abtioi_multishot_close(multishot);

    if (code < 0)
        return code;
    if (code > 0) {
        abtioi_cancel(&multishot->op);
        abtio_op_wait(&multishot->op);
    }
    abtioi_multishot_discard(multishot);
    return 0;
}

/* Whether there is a result, or an error, *result. Else the waiter is queued. */
bool abtioi_multishot_ask(struct multishot *multishot, abtio_op *waiter, void **buf, abtio_deadline deadline,
                          ssize_t *result);

/* A result for a caller that waits until the deadline. *buf gets the buffer; NULL where there are none. */
static inline ssize_t multishot_get(struct multishot *multishot, void **buf, abtio_deadline deadline)
{
    abtio_op waiter;
    ssize_t result;

    return abtioi_multishot_ask(multishot, &waiter, buf, deadline, &result) ? result : abtio_op_wait(&waiter);
}

/* The same with a handle: 0, or -errno. */
int abtioi_multishot_get_nb(struct multishot *multishot, void **buf, abtio_deadline deadline, abtio_op **op);

/*
 * The operation has brought a result, in a buffer unless its place is negative, and goes on; but it ends where the
 * result is not greater than 0 and there is a buffer, which is of no use then. By the channel that does it.
 */
void abtioi_multishot_bring(abtio_op *op, int result, int place);

/* Tries a list of those again that were put off, on the caller's channel or elsewhere. Their lock is held, and
 * released.
 */
void abtioi_multishot_try_again(pthread_mutex_t *lock, struct multishot *list, struct channel *channel);

/* Ends a waiter, if it still waits. Any thread. */
void abtioi_multishot_leave(abtio_op *waiter, int why);

/* What a waiter has got, and nobody will see, is for another waiter, or the next caller. An error is dropped. Any
 * thread. */
void abtioi_multishot_put_back(const abtio_op *waiter);

#endif

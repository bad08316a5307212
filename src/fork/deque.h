/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deques: where a ULT's forked tasks are, for itself and for thieves. Each ULT that forks owns one.
 *
 * A deque is a row of entries, each with the address of a task in a frame of the owner. The tasks [split, top) are
 * private: only the owner touches them, by the inline functions of abt_fork.h, which are plain stores and one compare
 * of the position with `limit`. The tasks [tail, split) are public: the owner takes back the newer half of them when it
 * joins its way down to the split, and thieves take the oldest, both by a compare-and-swap of the word {tail, split}.
 * The entries below tail have been stolen. An entry is NULL again when its task is joined, so that the first entry that
 * is NULL, from the split on, is the top.
 *
 * Thieves ask: `request` and then `limit` are set, so that the owner's next fork or join takes its slow path and
 * publishes half of what is private. No request is lost: see set_limit (fork/deque.c).
 *
 * A stolen task's `state` is 0 until it has ended or its forker waits; then it is DONE, or the forker: its deque, or,
 * in a blocking region, the place where its native thread sleeps, with NATIVE. Both are set by one exchange, so that
 * each of the two knows whether it was first.
 */
#ifndef ABTI_FORK_DEQUE_H
#define ABTI_FORK_DEQUE_H

#include <abt_fork.h>
#include <stdbool.h>
#include "base/assert.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "rt/types.h"

struct abti_deque {
    struct abtx_task *volatile full;
    _Atomic(uintptr_t) limit;
    const volatile int *idle; /* constant: the request */

    /* The thieves'. */
    _Atomic(uint64_t) public_part ABTI_ALIGNED(ABTI_CACHE_LINE); /* tail in the lower half, split in the upper one */
    _Atomic(int) request;                                        /* a thief has found nothing, here or elsewhere */
    _Atomic(uint64_t) spared_ns; /* until then it is asked only by a thief that is about to sleep */

    /* The owner's. */
    uint32_t split ABTI_ALIGNED(ABTI_CACHE_LINE); /* as in public_part */
    bool is_closed;          /* the owner cannot wait: a request that a thief has left here late is refused */
    abti_unit *waiter;       /* the owner, while it waits for a stolen task */
    abti_pool *home;         /* where the library has put the owner; NULL: it did not, or the pool is user-defined */
    uint32_t number;         /* constant: see fork/workers.c */
    struct abti_deque *next; /* workers.lock: among the free ones */
    struct abtx_task *volatile entries[];
};

enum { ABTI_DEQUE_ENTRIES = (ABTX_DEQUE_BYTES - sizeof(struct abti_deque)) / sizeof(struct abtx_task *) };

_Static_assert(offsetof(struct abti_deque, limit) == offsetof(struct abtx_deque, limit) &&
                   offsetof(struct abti_deque, idle) == offsetof(struct abtx_deque, idle),
               "what abt_fork.h knows of a deque");

/* The states of a task that was stolen, beside its forker's deque; the last is a tag of a sleeper's address. */
#define ABTI_TASK_RUNS ((uintptr_t)0)
#define ABTI_TASK_DONE ((uintptr_t)1)
#define ABTI_TASK_NATIVE ((uintptr_t)2)

ABTI_INLINE _Atomic(uintptr_t) *abti_task_state(struct abtx_task *task)
{
    return (_Atomic(uintptr_t) *)&task->state;
}

ABTI_INLINE uint64_t abti_deque_pack(uint32_t tail, uint32_t split)
{
    return split * (UINT64_C(1) << 32) + tail;
}

ABTI_INLINE uint32_t abti_deque_tail(uint64_t part)
{
    return (uint32_t)part;
}

ABTI_INLINE uint32_t abti_deque_split(uint64_t part)
{
    return (uint32_t)(part >> 32);
}

ABTI_INLINE struct abti_deque *abti_deque_of(abtx_at here)
{
    return (struct abti_deque *)abtx_deque_of(here);
}

/* --- The owner's --- */

/* Makes it that of a new owner. */
void abti_deque_begin(struct abti_deque *deque, bool is_closed);

/* Publishes the older half of the private tasks, which end before `top`. False: there is none. */
bool abti_deque_publish(struct abti_deque *deque, uint32_t top);

/* Publishes all private tasks, since the owner blocks. False: there is none. */
bool abti_deque_publish_all(struct abti_deque *deque);

/*
 * Joins the task at `index`, the newest one. True: nobody has taken it, nor will. False: it is stolen, and
 * abti_deque_forget follows when it has ended.
 */
bool abti_deque_take_back(struct abti_deque *deque, uint32_t index);
void abti_deque_forget(struct abti_deque *deque, uint32_t index);

/* How many tasks there are. */
uint32_t abti_deque_top(struct abti_deque *deque);

/* --- A thief's --- */

/* Takes the oldest public task. NULL: there is none. */
struct abtx_task *abti_deque_steal(struct abti_deque *deque);

ABTI_INLINE bool abti_deque_has_public(struct abti_deque *deque)
{
    uint64_t part = abti_load_relaxed(&deque->public_part); /* relaxed: a racy read */
    return abti_deque_tail(part) < abti_deque_split(part);
}

/* Asks the owner to publish. */
void abti_deque_ask(struct abti_deque *deque);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One io_uring: two queues that are shared with the kernel, and the system call that moves them. All by one thread, or
 * under a lock of its user's. The kernel's interface is small and never changes, and these are the few calls of it that
 * a channel needs; so there is no library between, which would have to be found when the program runs.
 */
#ifndef ABTIO_RING_H
#define ABTIO_RING_H

#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "debug.h"
#include "ring/fixed.h"

struct ring {
    /* Submissions: the kernel takes from the head, we put at the tail. */
    struct io_uring_sqe *sqes;
    _Atomic(unsigned) *sq_head, *sq_tail, *sq_flags;
    unsigned sq_mask, sq_entries;
    unsigned tail;      /* behind the last submission that was filled in */
    unsigned submitted; /* behind the last that the kernel has taken */
    /* Completions: the kernel puts at the tail, we take from the head. */
    struct io_uring_cqe *cqes;
    _Atomic(unsigned) *cq_head, *cq_tail;
    unsigned cq_mask;
    unsigned setup; /* IORING_SETUP_ flags that the kernel has accepted */
    unsigned enter_flags;
    int fd, enter_fd; /* the latter is an index of the thread's registered rings if there is one */
    bool waits_apart; /* see abtioi_ring_enter */
    void *map;
    size_t map_size, sqes_size;
    _Atomic(uint64_t) enters; /* system calls; others read it */
    struct fixed_table fixed;
    struct buffer_set *sets; /* its groups of provided buffers */
};

/*
 * Makes the ring of the calling thread: 0 or -errno. `shared`: others may enter it, too, one at a time, and the kernel
 * does its part also while the thread does not enter.
 */
int abtioi_ring_create(struct ring *ring, unsigned entries, bool shared);

/* By the same thread. */
void abtioi_ring_destroy(struct ring *ring);

/* In a child of fork(): releases the parent's ring, and looks like one in which nothing ever happens. fd is -1. */
void abtioi_ring_forget(struct ring *ring);

/* Tries to make a ring, and asks what it can do: 0, or -errno and the reason in words. Says whether it has one issuer.
 */
int abtioi_ring_try(unsigned entries, int *single_issuer, char *reason, size_t size);

/* The same for one whose operations end with it. By the thread that has made it. */
void abtioi_ring_abandon(struct ring *ring);

/*
 * Hands over all submissions, waits for a number of completions, but only until a time from now (negative: for ever),
 * and lets the kernel do what it has put off for this thread: 0, also if it has not done all of that for the moment, or
 * -errno: the ring may not be entered any more.
 */
int abtioi_ring_enter(struct ring *ring, unsigned completions, int64_t nanoseconds);

/* The same without a wait, by another thread: of a shared ring. */
int abtioi_ring_enter_for(struct ring *ring);

/* Submissions that the kernel has not been informed of. */
static inline unsigned ring_unsubmitted(const struct ring *ring)
{
    return ring->tail - ring->submitted;
}

/* Places for submissions that are left. */
static inline unsigned ring_room(const struct ring *ring)
{
    abtioi_assert(ring_unsubmitted(ring) <= ring->sq_entries);
    return ring->sq_entries - ring_unsubmitted(ring);
}

/* A submission to fill in; there is room. */
static inline struct io_uring_sqe *ring_next(struct ring *ring)
{
    abtioi_assert(ring_room(ring) > 0);
    return &ring->sqes[ring->tail++ & ring->sq_mask];
}

/* Whether the kernel waits for us to enter: it has put off work, or completions did not fit. */
static inline bool ring_wants_enter(const struct ring *ring)
{
    /* relaxed: a hint; the work itself is done in abtioi_ring_enter */
    return atomic_load_explicit(ring->sq_flags, memory_order_relaxed) & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW);
}

/* The oldest completion, or NULL. */
static inline struct io_uring_cqe *ring_first(const struct ring *ring)
{
    unsigned head = atomic_load_explicit(ring->cq_head, memory_order_relaxed); /* relaxed: only we write it */
    /* acquire: pairs with the kernel's release of its tail, after it has written the completion */
    unsigned tail = atomic_load_explicit(ring->cq_tail, memory_order_acquire);
    return head == tail ? NULL : &ring->cqes[head & ring->cq_mask];
}

/* The oldest completion has been read. */
static inline void ring_pop(struct ring *ring)
{
    unsigned head = atomic_load_explicit(ring->cq_head, memory_order_relaxed); /* relaxed: only we write it */
    /* release: pairs with the kernel's acquire of the head, before it writes there again */
    atomic_store_explicit(ring->cq_head, head + 1, memory_order_release);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of every pool, the operations that a kind of pool fills in, and the one kind that is served without a call:
 * a private FIFO.
 */
#ifndef ABTI_POOL_POOL_H
#define ABTI_POOL_POOL_H

#include <stddef.h>
#include "base/assert.h"
#include "pool/lookout.h"
#include "pool/parking.h"
#include "pool/queue.h"
#include "pool/ring.h"
#include "pool/thief_policy.h"
#include "rt/handle.h"

/* Operations that a pool may lack; whether it does is not known before it is asked (abti_pool_can). */
enum abti_pool_option { ABTI_POOL_POP_WAIT, ABTI_POOL_POP_TIMEDWAIT, ABTI_POOL_PRINT_ALL };

/*
 * One implementation of pools. An operation that a user-defined pool does not offer is NULL, except where a comment
 * says otherwise. The operations of enum abti_pool_option are called only after abti_pool_can.
 */
struct abti_pool_ops {
    /* In a private FIFO push and pop are for others than its host, see abti_pool_push. */
    void (*push)(abti_pool *pool, abti_unit *unit, ABT_pool_context context);
    /* Pushes for a caller that holds the pool's lock and sees to its sleepers. NULL in a user-defined pool. */
    void (*push_locked)(abti_pool *pool, abti_unit *unit, ABT_pool_context context);
    abti_unit *(*pop)(abti_pool *pool, ABT_pool_context context);
    bool (*is_empty)(abti_pool *pool);
    size_t (*size)(abti_pool *pool);
    /* Push and pop several units at once. pop_many returns how many it got. */
    void (*push_many)(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context);
    size_t (*pop_many)(abti_pool *pool, abti_unit **units, size_t len, ABT_pool_context context);
    /*
     * Wait for a unit: for a number of seconds, or until a time on the scale of ABT_get_wtime. They block the native
     * thread. In built-in pools both are NULL, see stream/park.h.
     */
    abti_unit *(*pop_wait)(abti_pool *pool, double secs, ABT_pool_context context);
    abti_unit *(*pop_timedwait)(abti_pool *pool, double wtime);
    /* Takes a given unit out. Returns ABT_ERR_POOL when it is not there or the pool cannot do it. Never NULL. */
    int (*remove)(abti_pool *pool, abti_unit *unit);
    /*
     * Sets *in_pool to whether the unit is stored in the pool. Returns ABT_ERR_POOL when the pool cannot tell. NULL: a
     * remove tells.
     */
    int (*is_in_pool)(abti_pool *pool, abti_unit *unit, bool *in_pool);
    void (*print_all)(abti_pool *pool, void *arg, void (*print)(void *arg, abti_unit *unit));
    void (*fini)(abti_pool *pool);
    /* A user-defined pool makes and frees handles of units. create_unit returns NULL when it could not. */
    ABT_unit (*create_unit)(abti_pool *pool, abti_unit *unit);
    void (*free_unit)(abti_pool *pool, ABT_unit handle);
    /* Whether the pool cannot do the operation though it is not NULL. NULL: it can. */
    bool (*lacks)(abti_pool *pool, enum abti_pool_option option);
};

/*
 * Counts of the ULTs that belong to this pool and are blocked. Both counts only grow; entered - left ULTs are blocked
 * now. The keeper, the first ES that counts of those whose main scheduler uses the pool, adds to its own pair with
 * plain stores. Everybody else adds to the shared pair by read-modify-write. When the ES ends, or gets another
 * scheduler, its counts are moved to the shared pair.
 *
 * A ULT of a private pool that joins the next unit in it takes that unit out and is blocked itself, and a limited
 * number may do so before an event check is due. All this is one subtraction: the number of such joins is `granted` -
 * `remain`. They count as entered, and the queue's size still counts the units that they took out.
 *
 * All counts are taken modulo 2^32, which is more than there can be units.
 */
struct abti_blocked {
    _Atomic(abti_es *) keeper;
    _Atomic(uint64_t) own_entered, own_left; /* stores: keeper */
    union {                                  /* stores: keeper */
        struct {
            ABTI_LOW_FIRST_2(_Atomic(int32_t) remain, _Atomic(uint32_t) granted)
        };
        _Atomic(uint64_t) in_place; /* both, for one load or store */
    };
    _Atomic(uint64_t) shared_entered, shared_left; /* anybody */
    _Atomic(uint32_t) moves;                       /* odd while counts move from one pair to the other */
    _Atomic(uint32_t) wakers;                      /* of a user-defined pool: threads that wake units of it */
};

/* How a pool is served, and what guards its units. */
enum abti_pool_form {
    ABTI_POOL_RANDWS,       /* a ring under the lock; each push and pop calls abti_pool_answer_locked */
    ABTI_POOL_SHARED_FIFO,  /* a list under the lock: the inbox */
    ABTI_POOL_PRIVATE_FIFO, /* a list of its own, from which its host pushes and pops inline, without the lock */
    ABTI_POOL_USER,         /* the user's functions; the lock guards no units. They may appear without a push of ours */
};

/* Boxes with what thieves have taken in bulk, see pool/stolen.h. */
enum { ABTI_STOLEN_BOXES = 64, ABTI_STOLEN_UNITS = 12 };

/*
 * Lines of 64 bytes, by the threads that write them while streams work; a blank line begins the next. Thieves and
 * creators read what is constant, and would else wait for the line each time that a request is left there, or a stream
 * goes to sleep. A push or a pop by the lock writes one line, that of the lock, and reads others that nobody writes
 * while all are busy.
 */
struct ABT_pool_opaque {
    struct abti_queue queue;    /* of a private FIFO: its host uses it; without one it is guarded by lock */
    _Atomic(uintptr_t) request; /* a steal request for a unit of the ring, or the hand-off of one, see pool/request.h */
    size_t num_coming;          /* lock: how many of the sleepers were woken and are still to take a unit */
    const abti_sched *host_sched; /* lock: the scheduler for which the host has become that */

    _Atomic(abti_es *) host ABTI_ALIGNED(ABTI_CACHE_LINE); /* lock: of a private FIFO, the ES that alone uses the queue;
                                                              ABTI_NO_HOST: none does, or the pool is of another kind.
                                                              Others read it without the lock */
    _Atomic(abti_es *) quick_host; /* lock: the same while units are created quickly, else ABTI_NO_HOST. Creators
                                      read it without the lock */
    /* Of built-in RANDWS: a bit for each of `boxes` that has units, see pool/stolen.h. It is far from the size of the
     * ring: a thief that has found that 0 reads this next, and would fetch the line again that the owner has just
     * written. */
    _Atomic(uint64_t) filled;
    ABT_pool_user_pop_fn user_pop; /* the pop of a user-defined pool of the new kind, if it is to be called as it is;
                                      else NULL */
    void *impl;                    /* belongs to the implementation; constant */

    struct abti_parking_list parked /* lock: streams that sleep until a unit comes */
        ABTI_ALIGNED(ABTI_CACHE_LINE);
    struct abti_lookout lookout; /* which stream polls timers of the pool's ULTs that their own stream does not poll */

    /* rt->lock: the list of all pools. They are written when a neighbour comes or goes */
    abti_pool *next ABTI_ALIGNED(ABTI_CACHE_LINE), *prev;
    bool is_orphan;          /* automatic, and its last scheduler has left units in it, which stores that */
    struct abti_truce truce; /* of RANDWS: what its thieves know of its units. Only they read and write it */

    void *data /* what ABT_pool_set_data stores. Programs made with the header of 2.0.0 read it here */
        ABTI_ALIGNED(ABTI_CACHE_LINE);
    const struct abti_pool_ops *ops; /* constant from here to the end of the line, unless said otherwise */
    uint8_t form;                    /* enum abti_pool_form */
    bool plain_create;               /* rt->lock: what set_quick has found, of a private FIFO */
    _Atomic(bool) quick_shared;      /* rt->lock: another built-in kind, where units are created quickly. Creators
                                        read it without the lock */
    bool automatic;                  /* freed with the last scheduler that uses it */
    _Atomic(bool) has_other_handles; /* of a user-defined one: a handle was not the unit itself */
    _Atomic(bool) is_reported;       /* others than the host have used it, which has been reported. Anybody */
    _Atomic(uint8_t) node;           /* the NUMA node of the stream whose own pool it is, plus one, as a hint; 0: that
                                        is not known */
    ABT_pool_access access;
    ABT_pool_kind kind; /* what its creator asked for, for those that print it; -1: user-defined */
    int id;
    _Atomic(int32_t) num_scheds;         /* schedulers that use it */
    _Atomic(struct abti_stolen *) boxes; /* of built-in RANDWS: units that thieves have taken and have still to run;
                                          NULL: there was no need yet. Constant from then on */
    struct abti_bias lock; /* guards inbox, ring, parked and queue, see abti_pool_lock. Its spin lock begins the next
                              line */

    struct abti_queue inbox; /* lock: the units of a shared FIFO; those of RANDWS for which the ring has no room; in a
                                private FIFO with a host, the units pushed by others, until the host collects them. The
                                head is read without the lock */
    struct abti_ring ring;   /* of built-in RANDWS, guarded by lock. Its size, which thieves look at, begins the next
                                line */

    struct abti_blocked blocked;
};

_Static_assert(offsetof(struct ABT_pool_opaque, lock.spin) % ABTI_CACHE_LINE == 0 &&
                   offsetof(struct ABT_pool_opaque, ring.size) ==
                       offsetof(struct ABT_pool_opaque, lock.spin) + ABTI_CACHE_LINE,
               "lines begin there");

/*
 * A private FIFO has a host while the main scheduler of a stream serves it: that stream uses the queue without a lock,
 * and alone. Any thread may push a unit, and need not know that: the units go through the inbox, which the
 * host empties into the queue by abti_pool_collect when the queue is empty and when it checks events. Nobody else
 * takes a unit out: one that the host runs may be pushed while it is still about to leave its stack. A pool that nobody
 * serves yet, or any more, has no host, and the lock guards its queue like that of any other pool.
 *
 *   host   NO_HOST -> an ES   under the lock, by the ES, before its scheduler runs (abti_pool_enter_host)
 *          an ES -> NO_HOST   under the lock, by the ES, when its scheduler has run (abti_pool_leave_host)
 *
 * So an ES that finds itself there is the host as long as it does not change that, and for all others the lock orders
 * what they do. This is no ES, nor NULL, which threads have that are none.
 */
#define ABTI_NO_HOST ((abti_es *)1)

/* Whether the caller's ES is the pool's host. `es` may be NULL. relaxed: it has stored that itself. */
ABTI_INLINE bool abti_pool_is_host(const abti_es *es, const abti_pool *pool)
{
    return abti_load_relaxed(&pool->host) == es;
}

/* A pool that is always empty and belongs to nobody, see es->fast. */
extern abti_pool abti_no_pool ABTI_HIDDEN;

ABTI_INLINE bool abti_pool_is_private(const abti_pool *pool)
{
    return pool->form == ABTI_POOL_PRIVATE_FIFO;
}

ABTI_INLINE bool abti_pool_is_shared_fifo(const abti_pool *pool)
{
    return pool->form == ABTI_POOL_SHARED_FIFO;
}

/* Whether its units are under its lock, and nowhere else. */
ABTI_INLINE bool abti_pool_is_shared(const abti_pool *pool)
{
    return pool->form == ABTI_POOL_SHARED_FIFO || pool->form == ABTI_POOL_RANDWS;
}

ABTI_INLINE bool abti_pool_is_fifo(const abti_pool *pool)
{
    return pool->form == ABTI_POOL_SHARED_FIFO || pool->form == ABTI_POOL_PRIVATE_FIFO;
}

ABTI_INLINE bool abti_pool_is_user(const abti_pool *pool)
{
    return pool->form == ABTI_POOL_USER;
}

/* Whether it answers requests, see pool/request.h. */
ABTI_INLINE bool abti_pool_answers(const abti_pool *pool)
{
    return pool->form == ABTI_POOL_RANDWS;
}

/*
 * Whether somebody sleeps on the pool. relaxed: it is a hint, or the caller holds the lock, or has made a fence
 * (wake_one).
 */
ABTI_INLINE bool abti_pool_has_parked(abti_pool *pool)
{
    return ABTI_UNLIKELY(abti_load_relaxed(&pool->parked.first) != NULL);
}

/*
 * Whether somebody sleeps until a unit comes, asks for one or offers one. relaxed: the caller holds the lock; a request
 * that it misses is answered later.
 */
ABTI_INLINE bool abti_pool_is_awaited(abti_pool *pool)
{
    uintptr_t parked = (uintptr_t)abti_load_relaxed(&pool->parked.first);
    return ABTI_UNLIKELY((parked | abti_load_relaxed(&pool->request)) != 0);
}

/* Whether somebody asks for a unit or offers one. relaxed: it is a hint. */
ABTI_INLINE bool abti_pool_is_asked(abti_pool *pool)
{
    return ABTI_UNLIKELY(abti_load_relaxed(&pool->request) != 0);
}

/* For assertions: the caller holds the pool's lock, by the bias, or it is held by spin. */
ABTI_INLINE bool abti_pool_is_locked(abti_pool *pool)
{
    abti_es *es = abti_es_self;
    return (es && abti_load_relaxed(&es->bias->inside) == &pool->lock) || abti_load_relaxed(&pool->lock.spin.word) != 0;
}

/* Picks one that sleeps on the pool and has not been woken yet, if more are needed. NULL: none. */
ABTI_INLINE abti_wakeup abti_parking_claim_locked(abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool));
    return abti_pool_has_parked(pool) ? abti_parking_claim_surplus(pool) : NULL;
}

/* The host of a private FIFO empties the inbox into the queue. The second one is for a caller with the lock. */
void abti_pool_collect(abti_pool *pool);
void abti_pool_collect_locked(abti_pool *pool);

ABTI_INLINE void abti_pool_push(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    abti_assert(unit && pool != &abti_no_pool);
    if (ABTI_LIKELY(abti_pool_is_private(pool) && abti_pool_is_host(abti_es_self, pool)))
        abti_queue_push(&pool->queue, unit);
    else
        pool->ops->push(pool, unit, context);
}

ABTI_INLINE abti_unit *abti_pool_pop(abti_pool *pool, ABT_pool_context context)
{
    if (ABTI_LIKELY(abti_pool_is_private(pool) && abti_pool_is_host(abti_es_self, pool))) {
        abti_unit *unit = abti_queue_pop(&pool->queue);
        if (ABTI_LIKELY(unit != NULL) || abti_queue_is_empty(&pool->inbox))
            return unit;
        abti_pool_collect(pool);
        return abti_queue_pop(&pool->queue);
    }
    return pool->ops->pop(pool, context);
}

/*
 * Pops from a private pool of the caller with a unit in its queue, which needs no call, nor a frame. NULL: it takes
 * more than that, or the handle is to be looked at. relaxed: the host alone writes the queue.
 */
ABTI_INLINE abti_unit *abti_pool_pop_quick(ABT_pool pool)
{
    if (abti_handle_is_to_check(pool) || ABTI_UNLIKELY(!abti_pool_is_host(abti_es_self, pool)))
        return NULL;
    abti_unit *head = abti_load_relaxed(&pool->queue.head);
    if (ABTI_LIKELY(head != NULL))
        abti_queue_pop_head(&pool->queue, head);
    return head;
}

/*
 * Pops from a user-defined pool. A pop that returns threads is called as it is: it may return any null handle.
 */
ABTI_INLINE ABT_thread abti_pool_pop_user(abti_pool *pool, ABT_pool_context context)
{
    abti_assert(abti_pool_is_user(pool));
    return pool->user_pop ? pool->user_pop(pool, context) : pool->ops->pop(pool, context);
}

/* The operations that are called as they are. struct abti_pool_ops says more. */
ABTI_INLINE bool abti_pool_is_empty(abti_pool *pool)
{
    return pool->ops->is_empty(pool);
}

/* Whether the pool tells its size, which abti_pool_size needs. */
ABTI_INLINE bool abti_pool_tells_size(const abti_pool *pool)
{
    return pool->ops->size != NULL;
}

ABTI_INLINE size_t abti_pool_size(abti_pool *pool)
{
    abti_assert(abti_pool_tells_size(pool));
    return pool->ops->size(pool);
}

ABTI_INLINE void abti_pool_push_many(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context)
{
    pool->ops->push_many(pool, units, num, context);
}

ABTI_INLINE size_t abti_pool_pop_many(abti_pool *pool, abti_unit **units, size_t len, ABT_pool_context context)
{
    return pool->ops->pop_many(pool, units, len, context);
}

/* Whether the pool has these two. */
ABTI_INLINE bool abti_pool_pushes_many(const abti_pool *pool)
{
    return pool->ops->push_many != NULL;
}

ABTI_INLINE bool abti_pool_pops_many(const abti_pool *pool)
{
    return pool->ops->pop_many != NULL;
}

ABTI_INLINE int abti_pool_remove(abti_pool *pool, abti_unit *unit)
{
    return pool->ops->remove(pool, unit);
}

/* After abti_pool_can. Built-in pools always can. */
ABTI_INLINE void abti_pool_print_all(abti_pool *pool, void *arg, void (*print)(void *arg, abti_unit *unit))
{
    pool->ops->print_all(pool, arg, print);
}

/* Whether the pool has the operation. */
bool abti_pool_can(abti_pool *pool, enum abti_pool_option option);

/* Sets what creators of units read without the lock. The caller holds rt.lock. */
void abti_pool_set_quick(abti_pool *pool);

/*
 * The ES becomes the host of a private FIFO that has none, for one of its schedulers, and is that no more. Without an
 * effect if another one is the host, and the second if it has become that for another scheduler. The caller runs on the
 * ES.
 */
void abti_pool_enter_host(abti_es *es, abti_pool *pool, const abti_sched *sched);
void abti_pool_leave_host(abti_es *es, abti_pool *pool, const abti_sched *sched);

/* The rank of the stream that is the pool's host, or -1: none is, or the caller's ES `es`. */
int abti_pool_foreign_rank(abti_es *es, abti_pool *pool);

/* Makes the common part and links the pool into rt. Returns NULL when there is no memory. */
abti_pool *abti_pool_alloc(enum abti_pool_form form, const struct abti_pool_ops *ops) ABTI_MUST_CHECK;
void abti_pool_destroy(abti_pool *pool);

/* The pool at this address, or NULL: there is none any more. The caller holds rt.lock, which keeps it there. */
abti_pool *abti_pool_find(const abti_pool *address);

/*
 * A scheduler takes its pools and drops them. The last drop destroys an automatic pool. If units are left, queued or
 * blocked, they name the pool: it stays, an orphan, until another scheduler has taken and dropped it, its user frees
 * it, or abti_pool_destroy_orphans, for ABT_finalize.
 */
void abti_pool_retain(abti_pool *pool);
void abti_pool_drop(abti_pool *pool);
void abti_pool_destroy_orphans(void);

/*
 * Locks a pool. The lock is biased to an ES that comes alone for long. Nobody takes another lock while holding it. A
 * caller that calls the user's functions under it takes it by abti_pool_lock_long, and those functions may take others.
 * `es` is the caller's ES, or NULL.
 */
ABTI_INLINE void abti_pool_lock(abti_es *es, abti_pool *pool)
{
    abti_bias_lock(&pool->lock, es ? es->bias : NULL);
}

ABTI_INLINE void abti_pool_lock_long(abti_es *es, abti_pool *pool)
{
    abti_bias_lock_long(&pool->lock, es ? es->bias : NULL);
}

ABTI_INLINE void abti_pool_unlock(abti_es *es, abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool));
    abti_bias_unlock(&pool->lock, es ? es->bias : NULL);
}

#endif

/*
 * Pools as the core sees them: the part every pool has, the operations a kind of pool fills in, and the one kind that
 * is served without a call: a private FIFO.
 */
#ifndef ABTI_POOL_POOL_H
#define ABTI_POOL_POOL_H

#include "base/assert.h"
#include "pool/parking.h"
#include "pool/queue.h"
#include "pool/ring.h"

/* What a pool may not be able to do, and what is not known before it is asked for. */
enum abti_pool_option { ABTI_POOL_POP_WAIT, ABTI_POOL_POP_TIMEDWAIT, ABTI_POOL_PRINT_ALL };

/*
 * One implementation of pools. What a user-defined pool does not offer is NULL, except where said otherwise; the
 * operations of enum abti_pool_option are called only after abti_pool_can.
 */
struct abti_pool_ops {
    /* NULL in a private FIFO only, like pop: see abti_pool_push. */
    void (*push)(abti_pool *pool, abti_unit *unit, ABT_pool_context context);
    /* The same for a caller that holds the pool's lock and sees to its sleepers; NULL: that lock does not guard it. */
    void (*push_locked)(abti_pool *pool, abti_unit *unit, ABT_pool_context context);
    abti_unit *(*pop)(abti_pool *pool, ABT_pool_context context);
    bool (*is_empty)(abti_pool *pool);
    size_t (*size)(abti_pool *pool);
    /* Several at once; pop_many returns how many it got. */
    void (*push_many)(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context);
    size_t (*pop_many)(abti_pool *pool, abti_unit **units, size_t len, ABT_pool_context context);
    /* Wait for a unit: so many seconds, or until a time on the scale of ABT_get_wtime. Block the native thread. Of
     * built-in pools both are NULL: see stream/park.h. */
    abti_unit *(*pop_wait)(abti_pool *pool, double secs, ABT_pool_context context);
    abti_unit *(*pop_timedwait)(abti_pool *pool, double wtime);
    /* Takes a given unit out; ABT_ERR_POOL when it is not there or the pool cannot. Never NULL. */
    int (*remove)(abti_pool *pool, abti_unit *unit);
    /* *in_pool: the unit is stored in the pool; ABT_ERR_POOL when it cannot tell. NULL: a remove tells. */
    int (*is_in_pool)(abti_pool *pool, abti_unit *unit, bool *in_pool);
    void (*print_all)(abti_pool *pool, void *arg, void (*print)(void *arg, abti_unit *unit));
    void (*fini)(abti_pool *pool);
    /* User-defined pools: a unit is associated with the pool, and no longer. NULL handle: it could not be made. */
    ABT_unit (*create_unit)(abti_pool *pool, abti_unit *unit);
    void (*free_unit)(abti_pool *pool, ABT_unit handle);
    /* Though the operation is not NULL, the pool cannot do it. NULL: it can. */
    bool (*lacks)(abti_pool *pool, enum abti_pool_option option);
    /* Each push and pop calls abti_pool_answer_locked. */
    bool answers;
};

/*
 * Counts of ULTs that are blocked with this pool as theirs. Both only grow; entered - left are blocked now. The owner,
 * the first ES that counts, adds with plain stores to its own pair; everybody else to the shared pair by
 * read-modify-write. The counts of an ES that goes are moved to the shared pair.
 *
 * A ULT of a private pool that joins the next unit in it takes that out, is blocked itself, and uses up one of so many
 * that may do so before a look at events is due. All this is one subtraction: there have been as many such joins as
 * were `granted` and do not `remain`. They count as entered, and the queue's size counts their units though it has not
 * got them.
 *
 * All counts are good modulo 2^32, more than there can be units.
 */
struct abti_blocked {
    _Atomic(abti_es *) owner;
    _Atomic(uint64_t) own_entered, own_left; /* stores: owner */
    union {                                  /* the same */
        struct {
            _Atomic(int32_t) remain;
            _Atomic(uint32_t) granted;
        };
        _Atomic(uint64_t) in_place; /* both, for one load or store (little endians) */
    };
    _Atomic(uint64_t) shared_entered, shared_left; /* anybody */
    _Atomic(uint32_t) moves;                       /* odd while counts move from one pair to the other */
};

struct ABT_pool_opaque {
    struct abti_queue queue;         /* built-in FIFO kinds. PRIV: of its one native thread; else guarded by lock */
    bool priv_fifo;                  /* a private FIFO: push and pop are inline. Constant */
    bool shared_fifo;                /* a FIFO under the lock. Constant */
    _Atomic(bool) quick_create;      /* rt->lock: the same, and new units inherit no slots. Glanced at by creators */
    _Atomic(bool) quick_shared;      /* rt->lock: another built-in kind, and new units inherit no slots. The same */
    struct abti_parking_list parked; /* lock: streams that sleep until a unit comes */
    _Atomic(uintptr_t) wish;         /* of who asks for a unit of the ring, or offers one. See pool/wish.h */
    const struct abti_pool_ops *ops; /* constant */
    struct abti_bias lock;           /* queue, ring, parked. See abti_pool_lock */
    struct abti_ring ring;           /* built-in RANDWS: guarded by lock; the queue has what there is no room for */

    struct abti_blocked blocked;
    _Atomic(struct abti_bias_user *) server; /* of those that answer: of an ES that runs units out of it, a hint */
    struct abti_queue inbox; /* lock: private FIFO: units woken by other native threads, until its own collects
                                them. The head is glanced at */
    size_t num_coming;       /* lock: of those who slept, how many were woken and are still to take a unit */
    ABT_pool_access access;  /* constant from here on, unless said otherwise */
    ABT_pool_kind kind;
    bool automatic;    /* freed with the last scheduler that uses it */
    bool user_defined; /* units may appear in it without a push of ours */
    int id;
    _Atomic(int32_t) num_scheds; /* schedulers that use it */
    void *data;                  /* what ABT_pool_set_data stores */
    void *impl;                  /* of the implementation */
    abti_pool *next, *prev;      /* rt->lock: all pools */
};

/* Empty, and nobody's: see es->fast. */
extern abti_pool abti_no_pool;

/* First in, first out, and nobody else's code. */
ABTI_INLINE bool abti_pool_is_fifo(const abti_pool *pool)
{
    return pool->priv_fifo || pool->shared_fifo;
}

/* relaxed: a hint, or the caller holds the lock, or has made a fence */
ABTI_INLINE bool abti_pool_has_parked(abti_pool *pool)
{
    return ABTI_UNLIKELY(abti_load_relaxed(&pool->parked.first) != NULL);
}

/* Somebody sleeps until a unit comes, asks for one or offers one. relaxed: the same */
ABTI_INLINE bool abti_pool_is_awaited(abti_pool *pool)
{
    uintptr_t parked = (uintptr_t)abti_load_relaxed(&pool->parked.first);
    return ABTI_UNLIKELY((parked | abti_load_relaxed(&pool->wish)) != 0);
}

/* Somebody asks or offers. relaxed: a hint */
ABTI_INLINE bool abti_pool_is_asked(abti_pool *pool)
{
    return ABTI_UNLIKELY(abti_load_relaxed(&pool->wish) != 0);
}

/* For assertions: the caller holds the pool's lock, by the bias, or it is held by spin. */
ABTI_INLINE bool abti_pool_is_locked(abti_pool *pool)
{
    abti_es *es = abti_es_self;
    /* relaxed: what the caller has stored itself */
    return (es && abti_load_relaxed(&es->bias->inside) == &pool->lock) || abti_load_relaxed(&pool->lock.spin.word) != 0;
}

ABTI_INLINE abti_wakeup abti_parking_claim_locked(abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool));
    return abti_pool_has_parked(pool) ? abti_parking_claim_slow(pool) : NULL;
}

/*
 * A private pool is pushed to and popped from by one native thread only. But who wakes a unit of it may be any thread,
 * and cannot know: such a unit goes through the inbox, which the pool's own thread empties when the queue is empty and
 * when it looks at events.
 */
void abti_pool_collect(abti_pool *pool);

ABTI_INLINE void abti_pool_push(abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    abti_assert(unit && pool != &abti_no_pool);
    if (ABTI_LIKELY(pool->priv_fifo))
        abti_queue_push(&pool->queue, unit);
    else
        pool->ops->push(pool, unit, context);
}

ABTI_INLINE abti_unit *abti_pool_pop(abti_pool *pool, ABT_pool_context context)
{
    if (ABTI_LIKELY(pool->priv_fifo)) {
        abti_unit *unit = abti_queue_pop(&pool->queue);
        if (ABTI_LIKELY(unit != NULL) || abti_queue_is_empty(&pool->inbox))
            return unit;
        abti_pool_collect(pool);
        return abti_queue_pop(&pool->queue);
    }
    return pool->ops->pop(pool, context);
}

/* An ES runs units out of the pool, which it has in front. */
ABTI_INLINE void abti_pool_note_server(abti_pool *pool, struct abti_bias_user *server)
{
    /* relaxed: a hint. Not stored without need, to others that look at it */
    if (pool->ops->answers && abti_load_relaxed(&pool->server) != server)
        abti_store_relaxed(&pool->server, server);
}

/* The pool has the operation. */
bool abti_pool_can(abti_pool *pool, enum abti_pool_option option);

/* What creators of units glance at is set for that many inherited slots; under rt.lock. */
void abti_pool_set_quick(abti_pool *pool, unsigned inherited_slots);

/* Makes the common part and links the pool into rt; NULL when there is no memory. */
abti_pool *abti_pool_alloc(const struct abti_pool_ops *ops) ABTI_MUST_CHECK;
void abti_pool_destroy(abti_pool *pool);

/* Schedulers take and drop their pools; the last drop destroys an automatic pool. */
void abti_pool_retain(abti_pool *pool);
void abti_pool_drop(abti_pool *pool);

/*
 * The lock of a pool, which is biased to an ES that comes alone for long. Nobody takes a second one meanwhile; who
 * calls the user's functions under it takes it by abti_pool_lock_long, and they may. `es` is the caller's, NULL: none.
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

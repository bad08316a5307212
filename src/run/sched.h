/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedulers, as seen by the functions that switch between units. */
#ifndef ABTI_RUN_SCHED_H
#define ABTI_RUN_SCHED_H

#include "base/assert.h"
#include "run/budget.h"
#include "run/observe.h"
#include "pool/pool.h"
#include "pool/thief.h"
#include "rt/rt.h"

/* Requests to a scheduler. They say when abti_sched_has_to_stop becomes true. Of an ES the first two are asked, too. */
enum { ABTI_SCHED_REQ_FINISH = ABTI_ES_REQ_JOIN, ABTI_SCHED_REQ_EXIT = ABTI_ES_REQ_CANCEL, ABTI_SCHED_REQ_REPLACE = 4 };

enum abti_sched_use { ABTI_SCHED_UNUSED, ABTI_SCHED_MAIN, ABTI_SCHED_STACKED };

struct abti_sched_ops {
    void (*run)(abti_sched *sched);
    /*
     * Returns the next unit to run, or NULL when there is none. `self`, if not NULL, is a unit that yields: it counts
     * as queued at the tail of its pool, and is returned when its turn comes. This may be called on the stack of any
     * ULT that the scheduler runs. It is NULL for user-defined schedulers.
     */
    abti_unit *(*pick)(abti_sched *sched, abti_unit *self);
};

/*
 * The kind of user-defined schedulers: the next unit is not known, and they always get control back. The kinds of
 * predefined ones are not negative.
 */
enum { ABTI_SCHED_LOOPS = -1 };

struct ABT_sched_opaque {
    void *data;       /* the user's. It stays the first member, where programs made with 2.0.0 read it */
    abti_pool *fast;  /* the first pool in order of choice if it is a private FIFO whose host runs the scheduler, and no
                         tool must be informed of every switch, else NULL. Only its own ES uses it */
    abti_pool *front; /* that pool if it is of another built-in kind, else NULL. Constant */
    const struct abti_sched_ops *ops;
    bool direct;               /* ULTs may call pick(): it is predefined, without user-defined pools. Constant */
    bool automatic;            /* the runtime frees it */
    bool has_private;          /* some pool is a private FIFO. Constant */
    bool finds;                /* the last pick from `front` that was not by the bias found a unit. Only its own ES uses
                                  it */
    bool has_ring;             /* thieves may have taken units of its pools in bulk: some pool is RANDWS. Constant */
    _Atomic(uint8_t) requests; /* set by anybody */
    _Atomic(uint8_t) use;      /* enum abti_sched_use */
    _Atomic(abti_es *) es;     /* MAIN: the ES it runs on, which is woken when something is asked of it */
    uint32_t event_freq;       /* units between two event checks; INT_MAX at most */
    int kind;                  /* a predefined one's of enum ABT_sched_predef, else ABTI_SCHED_LOOPS. Constant */
    int num_pools;
    abti_pool **pools;             /* as given by the user */
    abti_pool **order;             /* in order of choice */
    struct abti_parking *parkings; /* one for each pool of `pools` */
    struct abti_robber robber;     /* of RANDWS; only its own ES uses it */
    unsigned turn;                 /* counts the pools that were looked at when out of memory (run_another); only its
                                      own ES uses it */
    int id;
    /* of a user-defined scheduler */
    ABT_sched_def def;
};

/* Whether the library knows which unit the scheduler runs next. */
ABTI_INLINE bool abti_sched_is_predefined(const abti_sched *sched)
{
    return sched->kind >= 0;
}

/* Picks the next unit, from the shared pool in front if that has one. */
abti_unit *abti_sched_pick_shared(abti_sched *sched, abti_unit *self);

/* Picks the next unit. A private FIFO in front needs no call. */
ABTI_INLINE abti_unit *abti_sched_pick(abti_sched *sched, abti_unit *self)
{
    if (ABTI_LIKELY(sched->fast != NULL)) {
        abti_unit *unit = abti_queue_pop(&sched->fast->queue);
        if (ABTI_LIKELY(unit != NULL))
            return unit;
    } else if (sched->front) {
        return abti_sched_pick_shared(sched, self);
    }
    return sched->ops->pick(sched, self);
}

bool abti_sched_uses(abti_sched *sched, abti_pool *pool);

/* Stores which pools abti_es_serves finds. The caller is the ES, or its main scheduler does not run. */
ABTI_INLINE void abti_es_set_served(abti_es *es, const abti_sched *main_sched)
{
    es->served = main_sched->pools;
    es->num_served = main_sched->num_pools;
}

/*
 * The ES becomes the host of those of the scheduler's pools that are private and have none, and is that no more. The
 * caller runs on the ES, where the scheduler is to run, or has run.
 */
void abti_sched_enter_pools(abti_es *es, abti_sched *sched);
void abti_sched_leave_pools(abti_es *es, abti_sched *sched);

/*
 * Wakes others in place of the ES, which was woken and is now going to do something, or to leave the scheduler. It may
 * have been woken for something else: so one that sleeps on a pool of the scheduler is woken if that pool is not empty.
 */
void abti_sched_pass_wake(abti_sched *sched);

/*
 * Sets a request, and wakes the ES that runs the scheduler, if any does. Both are there until this returns: the caller
 * is the ES, waits for its end, or holds rt.lock or es->replace.lock.
 */
void abti_sched_request(abti_sched *sched, unsigned request);

/* The same for any caller. The scheduler and its ES may end, and be freed, as soon as the request is seen. */
void abti_sched_request_from_outside(abti_sched *sched, unsigned request);

/* Makes the common part. It retains the pools, and `order` starts equal to `pools`. Returns an ABT code. */
int abti_sched_alloc(int kind, const struct abti_sched_ops *ops, int num_pools, abti_pool **pools,
                     abti_sched **sched) ABTI_MUST_CHECK;
/* Undoes abti_sched_alloc. The pools stay, even automatic ones that nobody else uses. */
void abti_sched_unmake(abti_sched *sched);
/* Calls the user's free, drops the pools, and frees the scheduler. */
void abti_sched_destroy(abti_sched *sched);
/* Releases a scheduler, on behalf of the runtime: it is destroyed if it is automatic, else unused again. */
void abti_sched_release(abti_sched *sched);
/* Changes its use from UNUSED to `use`. False when it was in use. */
bool abti_sched_claim(abti_sched *sched, enum abti_sched_use use);

/* The function of the ULT in which a scheduler stacked in a pool runs. */
void abti_sched_stacked_main(void *sched);

/*
 * Whether the scheduler, a main one of a predefined kind, would find nothing to do at an event check and would not
 * have to stop.
 */
bool abti_es_has_no_events(abti_es *es, abti_sched *sched);

/*
 * Checks events for a child, when the budget is used up and a check is due. If there is nothing to do, the child has a
 * new budget without the way to its parent and back.
 */
ABTI_INLINE bool abti_renew_budget(abti_es *es, abti_sched *sched)
{
    abti_assert(sched && es == abti_es_self);
    if (!abti_es_has_no_events(es, sched))
        return false;
    abti_budget_fill(es, sched->event_freq);
    return true;
}

/* Whether a child that leaves may pick the next unit itself. If so, that unit is counted. */
ABTI_INLINE bool abti_may_pick(abti_es *es)
{
    return ABTI_LIKELY(es->dsched != NULL) && (ABTI_LIKELY(abti_budget_take(es)) || abti_renew_budget(es, es->dsched));
}

/* Picks the next unit for a child that leaves. NULL: the parent goes on. `self` is as in abti_sched_ops.pick. */
ABTI_INLINE abti_unit *abti_pick_next(abti_es *es, abti_unit *self)
{
    return abti_may_pick(es) ? abti_sched_pick(es->dsched, self) : NULL;
}

/* Which scheduler may be asked for the next unit from now on. None, on an ES that reports events: see run/observe.h.
 */
ABTI_INLINE void abti_es_set_dsched(abti_es *es, abti_sched *dsched)
{
    if (ABTI_UNLIKELY(abti_es_is_observed(es)))
        dsched = NULL;
    es->dsched = dsched;
    es->fast = dsched && dsched->fast && !abti_rt.config.watch_waits ? dsched->fast : &abti_no_pool;
}

/* Passes on the wake by which the ES was woken, if it was. The ES takes a unit, or leaves its scheduler. */
ABTI_INLINE void abti_es_pass_wake(abti_es *es, abti_sched *sched)
{
    if (ABTI_UNLIKELY(es->woken)) {
        es->woken = false;
        abti_sched_pass_wake(sched);
    }
}

/* Returns the scheduler that runs in the ULT, or NULL if none does. */
abti_sched *abti_sched_in(abti_unit *unit);

/*
 * Whether a scheduler that uses the pool runs on the ES: in `parent`, the ULT that runs units there, or as the main
 * one. A unit that runs is counted nowhere. So a unit that was blocked goes on at once only above a scheduler of its
 * pool, which cannot end before the unit is queued or blocked again. Elsewhere the last scheduler of the pool would
 * find no work meanwhile, and end, and an automatic pool would go with it.
 */
bool abti_is_served_below(abti_es *es, abti_unit *parent, abti_pool *pool);

/*
 * Whether the units of the pool are the next ones to run on this ES, each in its turn: the pool is a FIFO, a predefined
 * scheduler runs here, and there is nothing in the pools that it looks at before. No for any other kind of pool: nobody
 * but its user knows the order in a user-defined one.
 */
bool abti_serves_only(abti_es *es, abti_pool *pool);

#endif

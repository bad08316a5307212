/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing from a pool that another ES is busy with. It costs thief and owner a system call, which takes
 * the lock's bias away, or misses of the cache for the lock's line. So a thief asks first. The stream that
 * next holds the pool's lock, for a push, a join or a pick, hands a unit out. Only if none does for a while, the thief
 * takes a unit itself.
 *
 * The steal request is on its thief's stack, until it is granted or taken back. The holder is the thread that holds the
 * pool's lock.
 *
 *   pool->request   NULL -> a request   by its thief
 *                   a request -> NULL   by its thief, which takes it back, or by the holder, which then grants it
 *   request->unit   NULL -> a unit      by the same holder; a thief that cannot take its request back waits for it
 *
 * A unit that was handed out is out of the pool, as if the thief had popped it. Others that the thief wants beside it
 * are put into its box meanwhile.
 *
 * Likewise a thread that wakes a unit of such a pool offers it first, and the stream that next holds the lock pushes
 * it:
 *
 *   pool->request   NULL -> a hand-off         by its giver
 *                   a hand-off -> NULL         by its giver, which has withdrawn it, or by the holder
 *   handoff->state     OFFERED -> ACCEPTED    by the holder that has taken it off the pool
 *                   OFFERED -> WITHDRAWN   by its giver, after a while
 *                   ACCEPTED -> DONE       by the same holder, when it has pushed the unit
 *                   WITHDRAWN -> DONE      by the holder that has taken it off the pool meanwhile: the unit is its
 *                                          giver's
 *
 * The pool may be freed as soon as its last unit has ended. So a giver looks at its hand-off alone until it has
 * withdrawn that: the unit is blocked then, and the pool is there. It leaves its frame when it has taken the hand-off
 * off the pool itself, or sees DONE.
 *
 * A pool has one request or hand-off at a time. Bit 0 of the word says which.
 */
#ifndef ABTI_POOL_REQUEST_H
#define ABTI_POOL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "rt/types.h"

struct abti_steal_request {
    _Atomic(abti_unit *) unit;
    struct abti_stolen *box; /* the thief's, which is locked and gets `more` units, see pool/stolen.h; NULL: none */
    unsigned more;
};

struct abti_handoff {
    abti_unit *unit;
    ABT_pool_context context; /* the context of its push */
    _Atomic(uint32_t) state;  /* see above */
};

enum { ABTI_HANDOFF_OFFERED, ABTI_HANDOFF_ACCEPTED, ABTI_HANDOFF_WITHDRAWN, ABTI_HANDOFF_DONE };

enum { ABTI_REQUEST_HANDOFF = 1 };

/*
 * Hands out a unit if somebody asks for one and another one is left, or pushes one that is offered. The caller holds
 * the lock and is done with the ring.
 */
void abti_pool_answer_locked(abti_pool *pool);

/*
 * Offers a unit that was blocked to the stream that is busy with its pool. True: the unit has been pushed, and counts
 * as left. False: it still belongs to the caller. This takes a microsecond at most, or as long as the other stream has
 * no CPU.
 */
bool abti_pool_give(abti_es *es, abti_pool *pool, abti_unit *unit, ABT_pool_context context) ABTI_MUST_CHECK;

/*
 * Asks for a unit, and for `more` in the box, which is the thief's and locked, or NULL (pool/stolen.h). *unit is NULL
 * when nobody has granted one. False: the caller must not take one either, since somebody else asks, or the pool was
 * empty meanwhile.
 */
bool abti_pool_ask(abti_pool *pool, abti_unit **unit, struct abti_stolen *box, unsigned more) ABTI_MUST_CHECK;

/* Whether somebody could answer. None could where only one native thread runs at a time. */
bool abti_pool_may_ask(abti_pool *pool);

#endif

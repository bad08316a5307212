/*
 * Stealing from a pool that another ES is busy with. To take a unit from under its hands costs both dear: the lock's
 * bias is taken away by a system call, or the lock's cache line goes to and fro. So a thief asks first, and whoever
 * next has the pool's lock, for a push, a join or a pick, hands a unit out. Only if nobody does for a while is it
 * taken.
 *
 * The wish lies on its thief's stack, until it is granted or taken back:
 *
 *   pool->wish   NULL -> a wish   by its thief
 *                a wish -> NULL   by its thief, who takes it back; or by who has the pool's lock, and then grants it
 *   wish->unit   NULL -> a unit   by that one; a thief that cannot take its wish back waits for it
 *
 * A unit that was handed out is out of the pool, as if the thief had popped it.
 *
 * Likewise, who wakes a unit of such a pool offers it first, and whoever next has the lock pushes it:
 *
 *   pool->wish   NULL -> a gift    by its giver
 *                a gift -> NULL    by its giver, who takes it back; or by who has the pool's lock, and then accepts it
 *   gift->taken  false -> true     by that one, when it has pushed the unit; a giver that cannot take it back waits for
 * it
 *
 * A pool has one wish or gift at a time. Bit 0 of the word says which.
 */
#ifndef ABTI_POOL_WISH_H
#define ABTI_POOL_WISH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "rt/types.h"

struct abti_wish {
    _Atomic(abti_unit *) unit;
};

struct abti_gift {
    abti_unit *unit;
    ABT_pool_context context; /* of its push */
    _Atomic(bool) taken;
};

enum { ABTI_WISH_GIFT = 1 };

/*
 * By who has the lock and is done with the ring: hands out a unit if somebody asks for one, and there is one left, or
 * pushes one that is offered.
 */
void abti_pool_answer_locked(abti_pool *pool);

/*
 * Offers a unit that was blocked to the stream that is busy with its pool. True: it has been pushed, and counts as
 * left; false: it is still the caller's. Takes a microsecond at most, or as long as the other has no CPU.
 */
bool abti_pool_give(abti_es *es, abti_pool *pool, abti_unit *unit, ABT_pool_context context) ABTI_MUST_CHECK;

/*
 * Asks for a unit. *unit is NULL when nobody has granted one. False: nor is one to be taken, since somebody else
 * asks, or the pool was empty meanwhile.
 */
bool abti_pool_ask(abti_pool *pool, abti_unit **unit) ABTI_MUST_CHECK;

/* Somebody could answer: not where one native thread runs at a time. */
bool abti_pool_may_ask(abti_pool *pool);

#endif

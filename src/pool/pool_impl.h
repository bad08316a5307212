/* SPDX-License-Identifier: BSD-3-Clause */
/* The implementations of pools, for those functions that make them. */
#ifndef ABTI_POOL_POOL_IMPL_H
#define ABTI_POOL_POOL_IMPL_H

#include "pool/builtin.h"

/* Makes a built-in pool. Returns an ABT code. */
int abti_pool_create_basic(ABT_pool_kind kind, ABT_pool_access access, bool automatic,
                           abti_pool **pool) ABTI_MUST_CHECK;

/*
 * Makes a user-defined pool from either kind of definition; `conf` may be NULL. Returns the code of the pool's init, or
 * ABT_ERR_MEM.
 */
int abti_pool_create_user(ABT_pool_user_def def, ABT_pool_config config, abti_pool **pool) ABTI_MUST_CHECK;

extern const struct abti_pool_ops abti_pool_fifo_priv_ops ABTI_HIDDEN;
extern const struct abti_pool_ops abti_pool_fifo_ops ABTI_HIDDEN;
extern const struct abti_pool_ops abti_pool_randws_ops ABTI_HIDDEN;

/*
 * Pops what a thief takes of a RANDWS pool: the unit at the tail, and `more` into the box, which is the caller's and
 * locked, or NULL. Returns NULL when there is nothing, or another thread holds the lock.
 */
abti_unit *abti_randws_steal(abti_pool *pool, struct abti_stolen *box, unsigned more);

/* The push of a shared pool, with the kind as in abti_pool_push_shared. */
ABTI_INLINE void abti_pool_push_shared_form(abti_pool *pool, abti_unit *unit, ABT_pool_context context, bool fifo)
{
    abti_es *es = abti_es_self;
    if (ABTI_UNLIKELY(!es))
        abti_pool_lock_and_push(es, pool, unit, context);
    else
        abti_pool_push_shared(es, pool, unit, context, fifo);
}

/* A push_many for pools that have push_locked; it takes the pool's lock once. */
void abti_pool_push_at_once(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context);

/* A push_many and a pop_many that push and pop each unit by itself. */
void abti_pool_push_each(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context);
size_t abti_pool_pop_each(abti_pool *pool, abti_unit **units, size_t len, ABT_pool_context context);

#endif

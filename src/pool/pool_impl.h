/* The implementations of pools, for those who make them. */
#ifndef ABTI_POOL_POOL_IMPL_H
#define ABTI_POOL_POOL_IMPL_H

#include "pool/builtin.h"

/* A built-in pool. ABT code. */
int abti_pool_create_basic(ABT_pool_kind kind, ABT_pool_access access, bool automatic,
                           abti_pool **pool) ABTI_MUST_CHECK;

/* A user-defined pool from either kind of definition; conf may be NULL. The code of its init, or ABT_ERR_MEM. */
int abti_pool_create_user(ABT_pool_user_def def, ABT_pool_config config, abti_pool **pool) ABTI_MUST_CHECK;

extern const struct abti_pool_ops abti_pool_fifo_priv_ops;
extern const struct abti_pool_ops abti_pool_fifo_ops;
extern const struct abti_pool_ops abti_pool_randws_ops;

/* push_many under the pool's lock, taken once, for those with push_locked. */
void abti_pool_push_at_once(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context);

/* push_many and pop_many by a push and a pop for each. */
void abti_pool_push_each(abti_pool *pool, abti_unit *const *units, size_t num, ABT_pool_context context);
size_t abti_pool_pop_each(abti_pool *pool, abti_unit **units, size_t len, ABT_pool_context context);

#endif

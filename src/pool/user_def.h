/* SPDX-License-Identifier: BSD-3-Clause */
/* The definition of a user's pool, as ABT_pool_user_def_create makes it. */
#ifndef ABTI_POOL_USER_DEF_H
#define ABTI_POOL_USER_DEF_H

#include <stddef.h>
#include "abt.h"
#include "base/compiler.h"

/* The callbacks. The first five are required; the others are NULL where absent. */
struct abti_pool_callbacks {
    ABT_pool_user_create_unit_fn create_unit;
    ABT_pool_user_free_unit_fn free_unit;
    ABT_pool_user_is_empty_fn is_empty;
    ABT_pool_user_pop_fn pop;
    ABT_pool_user_push_fn push;
    ABT_pool_user_init_fn init;
    ABT_pool_user_free_fn free;
    ABT_pool_user_get_size_fn get_size;
    ABT_pool_user_pop_wait_fn pop_wait;
    ABT_pool_user_pop_many_fn pop_many;
    ABT_pool_user_push_many_fn push_many;
    ABT_pool_user_print_all_fn print_all;
};

/*
 * The handle points either to one of these or to a client's struct ABT_pool_def. Clients fill the required member
 * u_create_from_thread; here it stays NULL, and that is how the two are distinguished.
 */
struct abti_pool_user_def {
    struct ABT_pool_def discriminator; /* all zero for ever */
    struct abti_pool_callbacks callbacks;
};

/*
 * Returns the new-style definition behind a handle that is not null, or NULL when it is a client's struct ABT_pool_def.
 */
ABTI_INLINE struct abti_pool_user_def *abti_pool_user_def_of(ABT_pool_user_def def)
{
    if (def->u_create_from_thread)
        return NULL;
    return ABTI_CONTAINER_OF(def, struct abti_pool_user_def, discriminator);
}

/*
 * Returns the waiting pop of a client's struct ABT_pool_def, or NULL if it has none. The member exists in the 2.0 API
 * only.
 */
#ifdef ABT_ENABLE_VER_20_API
ABTI_INLINE ABT_pool_pop_wait_fn abti_pool_def_pop_wait(const struct ABT_pool_def *def)
{
    return def->p_pop_wait;
}
#else
ABTI_INLINE ABT_pool_pop_wait_fn abti_pool_def_pop_wait(const struct ABT_pool_def *def)
{
    (void)def;
    return NULL;
}
#endif

#endif

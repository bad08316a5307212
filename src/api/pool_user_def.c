/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "api/misuse.h"
#include "pool/user_def.h"

/*
 * Returns the object to set a callback in, or NULL for a wrong handle and for a struct ABT_pool_def, which has its own
 * members.
 */
static struct abti_pool_user_def *get_user_def(ABT_pool_user_def def, const char *function)
{
    bool is_bad = ABTI_IS_BAD_IN(def, ABT_POOL_USER_DEF_NULL, ABTI_HANDLE_POOL_DEF, function);
    return is_bad ? NULL : abti_pool_user_def_of(def);
}

int ABT_pool_user_def_create(ABT_pool_user_create_unit_fn p_create_unit, ABT_pool_user_free_unit_fn p_free_unit,
                             ABT_pool_user_is_empty_fn p_is_empty, ABT_pool_user_pop_fn p_pop,
                             ABT_pool_user_push_fn p_push, ABT_pool_user_def *newdef)
{
    struct abti_pool_user_def *def = calloc(1, sizeof(*def));

    ABTI_FAIL_IF(!def, ABT_ERR_MEM);
    def->callbacks.create_unit = p_create_unit;
    def->callbacks.free_unit = p_free_unit;
    def->callbacks.is_empty = p_is_empty;
    def->callbacks.pop = p_pop;
    def->callbacks.push = p_push;
    abti_ledger_made(&def->discriminator, ABTI_HANDLE_POOL_DEF);
    *newdef = &def->discriminator;
    return ABT_SUCCESS;
}

int ABT_pool_user_def_free(ABT_pool_user_def *def)
{
    struct abti_pool_user_def *user_def = get_user_def(*def, __func__);

    ABTI_REFUSE_IF(!user_def, ABT_ERR_INV_POOL_USER_DEF);
    abti_ledger_free(user_def);
    *def = ABT_POOL_USER_DEF_NULL;
    return ABT_SUCCESS;
}

int ABT_pool_user_def_set_init(ABT_pool_user_def def, ABT_pool_user_init_fn p_init)
{
    struct abti_pool_user_def *user_def = get_user_def(def, __func__);

    ABTI_REFUSE_IF(!user_def, ABT_ERR_INV_POOL_USER_DEF);
    user_def->callbacks.init = p_init;
    return ABT_SUCCESS;
}

int ABT_pool_user_def_set_free(ABT_pool_user_def def, ABT_pool_user_free_fn p_free)
{
    struct abti_pool_user_def *user_def = get_user_def(def, __func__);

    ABTI_REFUSE_IF(!user_def, ABT_ERR_INV_POOL_USER_DEF);
    user_def->callbacks.free = p_free;
    return ABT_SUCCESS;
}

int ABT_pool_user_def_set_get_size(ABT_pool_user_def def, ABT_pool_user_get_size_fn p_get_size)
{
    struct abti_pool_user_def *user_def = get_user_def(def, __func__);

    ABTI_REFUSE_IF(!user_def, ABT_ERR_INV_POOL_USER_DEF);
    user_def->callbacks.get_size = p_get_size;
    return ABT_SUCCESS;
}

int ABT_pool_user_def_set_pop_wait(ABT_pool_user_def def, ABT_pool_user_pop_wait_fn p_pop_wait)
{
    struct abti_pool_user_def *user_def = get_user_def(def, __func__);

    ABTI_REFUSE_IF(!user_def, ABT_ERR_INV_POOL_USER_DEF);
    user_def->callbacks.pop_wait = p_pop_wait;
    return ABT_SUCCESS;
}

int ABT_pool_user_def_set_pop_many(ABT_pool_user_def def, ABT_pool_user_pop_many_fn p_pop_many)
{
    struct abti_pool_user_def *user_def = get_user_def(def, __func__);

    ABTI_REFUSE_IF(!user_def, ABT_ERR_INV_POOL_USER_DEF);
    user_def->callbacks.pop_many = p_pop_many;
    return ABT_SUCCESS;
}

int ABT_pool_user_def_set_push_many(ABT_pool_user_def def, ABT_pool_user_push_many_fn p_push_many)
{
    struct abti_pool_user_def *user_def = get_user_def(def, __func__);

    ABTI_REFUSE_IF(!user_def, ABT_ERR_INV_POOL_USER_DEF);
    user_def->callbacks.push_many = p_push_many;
    return ABT_SUCCESS;
}

int ABT_pool_user_def_set_print_all(ABT_pool_user_def def, ABT_pool_user_print_all_fn p_print_all)
{
    struct abti_pool_user_def *user_def = get_user_def(def, __func__);

    ABTI_REFUSE_IF(!user_def, ABT_ERR_INV_POOL_USER_DEF);
    user_def->callbacks.print_all = p_print_all;
    return ABT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "abt.h"
#include "tap.h"

static ABT_unit create_unit(ABT_pool pool, ABT_thread thread)
{
    return (ABT_unit)thread;
}

static void free_unit(ABT_pool pool, ABT_unit unit)
{
}

static ABT_bool is_empty(ABT_pool pool)
{
    return ABT_TRUE;
}

static ABT_thread pop(ABT_pool pool, ABT_pool_context context)
{
    return ABT_THREAD_NULL;
}

static void push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
}

static ABT_unit old_create(ABT_thread thread)
{
    return (ABT_unit)thread;
}

int main(void)
{
    ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;

    ok_abt(ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def));
    ok(def && def != ABT_POOL_USER_DEF_NULL, "a definition");
    ok(!def->u_create_from_thread, "which does not look like an old one");
    ok_abt(ABT_pool_user_def_set_init(def, NULL));
    ok_abt(ABT_pool_user_def_set_free(def, NULL));
    ok_abt(ABT_pool_user_def_set_get_size(def, NULL));
    ok_abt(ABT_pool_user_def_set_pop_wait(def, NULL));
    ok_abt(ABT_pool_user_def_set_pop_many(def, NULL));
    ok_abt(ABT_pool_user_def_set_push_many(def, NULL));
    ok_abt(ABT_pool_user_def_set_print_all(def, NULL));
    ok_abt(ABT_pool_user_def_free(&def));
    ok(def == ABT_POOL_USER_DEF_NULL, "null after free");
    if (!ABT_NULL) {
        ABT_pool_def old = {.u_create_from_thread = old_create};
        ok_err(ABT_pool_user_def_set_init(&old, NULL), ABT_ERR_INV_POOL_USER_DEF);
        ok_err(ABT_pool_user_def_free(&(ABT_pool_user_def){&old}), ABT_ERR_INV_POOL_USER_DEF);
    }
    return done_testing();
}

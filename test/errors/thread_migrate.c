/* SPDX-License-Identifier: BSD-3-Clause */
/* Migration, where units can migrate, where they cannot, and where there is nowhere to go. */
#include "errors.h"

static void called_back(ABT_thread thread, void *arg)
{
}

/* --- To a stream --- */

RETURNS(ABT_thread_migrate_to_xstream, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_THREAD_NULL,
        ABT_XSTREAM_NULL);
NULLS(ABT_thread_migrate_to_xstream, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, ABT_XSTREAM_NULL);
NULLS(ABT_thread_migrate_to_xstream, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, world.pinned, h);
RETURNS(ABT_thread_migrate_to_xstream, ABT_ERR_INV_THREAD, INITED | IF_MIGRATE, "not migratable", world.pinned,
        world.worker);
RETURNS(ABT_thread_migrate_to_xstream, ABT_ERR_INV_THREAD, INITED | IF_MIGRATE, "the primary ULT, to where it is",
        world.primary_ult, world.primary);
RETURNS(ABT_thread_migrate_to_xstream, ABT_ERR_INV_THREAD, INITED | IF_MIGRATE, "a main scheduler", world.main_ult,
        world.worker);
RETURNS(ABT_thread_migrate_to_xstream, ABT_ERR_MIGRATION_TARGET, INITED | IF_MIGRATE | ALWAYS, "to where it is",
        world.blocked, world.worker);
RETURNS(ABT_thread_migrate_to_xstream, ABT_ERR_MIGRATION_TARGET, INITED | IF_MIGRATE | ALWAYS,
        "the scheduler offers no pool", world.blocked, world.sched_es);
RETURNS(ABT_thread_migrate_to_xstream, ABT_ERR_MIGRATION_NA, INITED | IF_NO_MIGRATE | ALWAYS, "no migration",
        world.ready, world.second);

/* --- To a scheduler --- */

RETURNS(ABT_thread_migrate_to_sched, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_THREAD_NULL,
        ABT_SCHED_NULL);
NULLS(ABT_thread_migrate_to_sched, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, ABT_SCHED_NULL);
NULLS(ABT_thread_migrate_to_sched, ABT_ERR_INV_SCHED, INITED, ABT_SCHED_NULL, world.pinned, h);
RETURNS(ABT_thread_migrate_to_sched, ABT_ERR_INV_THREAD, INITED | IF_MIGRATE, "not migratable", world.pinned,
        world.used);
RETURNS(ABT_thread_migrate_to_sched, ABT_ERR_INV_THREAD, INITED | IF_MIGRATE, "not migratable, to where it is",
        world.pinned, world.unused);
RETURNS(ABT_thread_migrate_to_sched, ABT_ERR_INV_THREAD, INITED | IF_MIGRATE, "a main scheduler", world.main_ult,
        world.used);
RETURNS(ABT_thread_migrate_to_sched, ABT_ERR_MIGRATION_TARGET, INITED | IF_MIGRATE | ALWAYS, "to where it is",
        world.blocked, world.used);
RETURNS(ABT_thread_migrate_to_sched, ABT_ERR_MIGRATION_TARGET, INITED | IF_MIGRATE | ALWAYS,
        "the scheduler offers no pool", world.blocked, world.unused);
RETURNS(ABT_thread_migrate_to_sched, ABT_ERR_MIGRATION_NA, INITED | IF_NO_MIGRATE | ALWAYS, "no migration", world.ready,
        world.used);

/* --- To a pool --- */

RETURNS(ABT_thread_migrate_to_pool, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_THREAD_NULL, ABT_POOL_NULL);
NULLS(ABT_thread_migrate_to_pool, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, ABT_POOL_NULL);
NULLS(ABT_thread_migrate_to_pool, ABT_ERR_INV_POOL, INITED, ABT_POOL_NULL, world.pinned, h);
RETURNS(ABT_thread_migrate_to_pool, ABT_ERR_INV_THREAD, INITED | IF_MIGRATE, "not migratable, to where it is",
        world.pinned, world.idle);
RETURNS(ABT_thread_migrate_to_pool, ABT_ERR_INV_THREAD, INITED | IF_MIGRATE, "a main scheduler", world.main_ult,
        world.idle);
RETURNS(ABT_thread_migrate_to_pool, ABT_ERR_MIGRATION_TARGET, INITED | IF_MIGRATE | ALWAYS, "to where it is",
        world.ready, world.idle);
RETURNS(ABT_thread_migrate_to_pool, ABT_ERR_MIGRATION_NA, INITED | IF_NO_MIGRATE | ALWAYS, "no migration", world.ready,
        world.worker_pool);

/* --- To anywhere --- */

RETURNS(ABT_thread_migrate, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_THREAD_NULL);
NULLS(ABT_thread_migrate, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h);
RETURNS(ABT_thread_migrate, ABT_ERR_MIGRATION_NA, BY_PRIMARY | BY_ULT | BY_TASKLET | BY_EXTERNAL | IF_ALONE | ALWAYS,
        "there is no other ES", world.blocked);
RETURNS(ABT_thread_migrate, ABT_ERR_MIGRATION_NA, INITED | IF_NO_MIGRATE | ALWAYS, "no migration", world.ready);

/* --- What a unit says about it --- */

RETURNS(ABT_thread_set_callback, ABT_ERR_UNINITIALIZED, UNINITED, "not initialised", ABT_THREAD_NULL, called_back,
        NULL);
NULLS(ABT_thread_set_callback, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, called_back, NULL);
RETURNS(ABT_thread_set_callback, ABT_ERR_FEATURE_NA, INITED | IF_NO_MIGRATE | ALWAYS, "no migration", world.ready,
        called_back, NULL);

NULLS(ABT_thread_set_migratable, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, ABT_FALSE);
RETURNS(ABT_thread_set_migratable, ABT_ERR_FEATURE_NA, INITED | IF_NO_MIGRATE | ALWAYS, "no migration", world.ready,
        ABT_FALSE);
RETURNS(ABT_thread_set_migratable, ABT_SUCCESS, INITED | API1 | IF_MIGRATE, "ignored for the primary ULT",
        world.primary_ult, ABT_TRUE);
RETURNS(ABT_thread_set_migratable, ABT_SUCCESS, INITED | API1 | IF_MIGRATE, "ignored for a main scheduler",
        world.main_ult, ABT_TRUE);
RETURNS(ABT_thread_set_migratable, ABT_ERR_INV_THREAD, INITED | API2 | IF_MIGRATE, "the primary ULT", world.primary_ult,
        ABT_TRUE);
RETURNS(ABT_thread_set_migratable, ABT_ERR_INV_THREAD, INITED | API2 | IF_MIGRATE, "a main scheduler", world.main_ult,
        ABT_TRUE);

NULLS(ABT_thread_is_migratable, ABT_ERR_INV_THREAD, INITED, ABT_THREAD_NULL, h, OUT(ABT_bool));
RETURNS(ABT_thread_is_migratable, ABT_ERR_FEATURE_NA, INITED | IF_NO_MIGRATE | ALWAYS, "no migration", world.ready,
        OUT(ABT_bool));

int main(void)
{
    try_uninited();
    try_inited(true, nothing_to_set_up, nothing_to_set_up);
    return try_all(nothing_to_set_up, nothing_to_set_up);
}

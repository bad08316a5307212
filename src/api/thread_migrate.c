/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_thread_migrate*, and which units may be migrated. A request is recorded here and carried out by run/migrate.c. */
#include "api/handles.h"
#include "run/sched.h"
#include "run/migrate.h"

static bool sched_has_pool(abti_sched *sched, abti_pool *pool)
{
    for (int i = 0; i < sched->num_pools; i++) {
        if (sched->pools[i] == pool)
            return true;
    }
    return false;
}

/* Returns the pool where a scheduler takes migrated units, or NULL when it offers none. */
static abti_pool *migration_pool(abti_sched *sched)
{
    if (sched->def.get_migr_pool) {
        abti_pool *pool = sched->def.get_migr_pool(sched);
        return ABTI_POOL_IS_NULL(pool) ? NULL : pool;
    }
    return sched->num_pools > 0 ? sched->pools[0] : NULL;
}

static int request_migration(abti_unit *unit, abti_pool *pool)
{
    ABTI_FAIL_IF(!ABTI_BUILD_MIGRATION, ABT_ERR_MIGRATION_NA);
    abti_migrate_request(unit, pool);
    return ABT_SUCCESS;
}

static int migrate_to_sched(abti_unit *unit, abti_sched *sched)
{
    ABTI_REFUSE_IF(abti_unit_is_pinned(unit), ABT_ERR_INV_THREAD);
    ABTI_FAIL_IF(sched_has_pool(sched, abti_unit_last_pool(unit)), ABT_ERR_MIGRATION_TARGET);
    abti_pool *pool = migration_pool(sched);
    ABTI_FAIL_IF(!pool, ABT_ERR_MIGRATION_TARGET);
    return request_migration(unit, pool);
}

int ABT_thread_migrate_to_xstream(ABT_thread thread, ABT_xstream xstream)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    /*
     * acquire: pairs with the store in install_replacement (stream/main.c). The scheduler is complete before it is
     * found
     */
    return migrate_to_sched(thread, abti_load_acquire(&xstream->main_sched));
}

int ABT_thread_migrate_to_sched(ABT_thread thread, ABT_sched sched)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    ABTI_REFUSE_IF(ABTI_SCHED_IS_BAD(sched), ABT_ERR_INV_SCHED);
    return migrate_to_sched(thread, sched);
}

int ABT_thread_migrate_to_pool(ABT_thread thread, ABT_pool pool)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    ABTI_REFUSE_IF(ABTI_POOL_IS_BAD(pool), ABT_ERR_INV_POOL);
    ABTI_REFUSE_IF(abti_unit_is_pinned(thread), ABT_ERR_INV_THREAD);
    ABTI_FAIL_IF(abti_unit_last_pool(thread) == pool, ABT_ERR_MIGRATION_TARGET);
    ABTI_USES_POOL(pool);
    return request_migration(thread, pool);
}

/* Returns a pool of a running ES whose scheduler does not have the unit's pool; NULL: there is none. */
static abti_pool *pool_elsewhere(abti_unit *unit)
{
    abti_pool *found = NULL;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && !found; es = es->next) {
        abti_spin_lock(&es->replace.lock); /* its scheduler stays */
        /*
         * acquire: pairs with the store of the scheduler in install_replacement (stream/main.c), and with that of
         * TERMINATED in es_thread
         */
        abti_sched *sched = abti_load_acquire(&es->main_sched);
        if (abti_load_acquire(&es->state) == ABT_XSTREAM_STATE_RUNNING &&
            !sched_has_pool(sched, abti_unit_last_pool(unit)))
            found = migration_pool(sched);
        abti_spin_unlock(&es->replace.lock);
    }
    abti_spin_unlock(&abti_rt.lock);
    return found;
}

int ABT_thread_migrate(ABT_thread thread)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread) || abti_unit_is_pinned(thread), ABT_ERR_INV_THREAD);
    abti_pool *pool = pool_elsewhere(thread);
    ABTI_FAIL_IF(!pool, ABT_ERR_MIGRATION_NA);
    return request_migration(thread, pool);
}

int ABT_thread_set_callback(ABT_thread thread, void (*cb_func)(ABT_thread thread, void *cb_arg), void *cb_arg)
{
    ABTI_REFUSE_IF(!abti_rt_is_up(), ABT_ERR_UNINITIALIZED);
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    ABTI_FAIL_IF(!ABTI_BUILD_MIGRATION, ABT_ERR_FEATURE_NA);
    if (thread->flags & (ABTI_UNIT_SCHED | ABTI_UNIT_MAIN_SCHED))
        return ABT_SUCCESS; /* it never migrates */
    return abti_error(abti_unit_set_migrated(thread, cb_func, cb_arg));
}

int ABT_thread_set_migratable(ABT_thread thread, ABT_bool migratable)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    ABTI_FAIL_IF(!ABTI_BUILD_MIGRATION, ABT_ERR_FEATURE_NA);
    if (thread->flags & (ABTI_UNIT_PRIMARY | ABTI_UNIT_MAIN_SCHED))
        return ABTI_BUILD_VER20 ? abti_error(ABT_ERR_INV_THREAD) : ABT_SUCCESS;
    abti_unit_set_pinned(thread, migratable == ABT_FALSE);
    return ABT_SUCCESS;
}

int ABT_thread_is_migratable(ABT_thread thread, ABT_bool *is_migratable)
{
    ABTI_REFUSE_IF(ABTI_THREAD_IS_BAD(thread), ABT_ERR_INV_THREAD);
    ABTI_FAIL_IF(!ABTI_BUILD_MIGRATION, ABT_ERR_FEATURE_NA);
    *is_migratable = abti_unit_is_pinned(thread) ? ABT_FALSE : ABT_TRUE;
    return ABT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/migrate.h"

#include "pool/blocked.h"
#include "pool/member.h"

void abti_migrate_request(abti_unit *unit, abti_pool *pool)
{
    abti_assert(pool && !(unit->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED)));
    struct abti_unit_cold *cold = abti_unit_cold_get(unit);
    abti_annotate_release(unit);
    abti_store_release(&cold->migrate_to, pool); /* release: pairs with the exchange in abti_migrate_serve */
    /* release: pairs with the acquire in abti_migrate_serve, so that it sees the target */
    abti_fetch_or_acq_rel(&unit->requests, ABTI_REQ_MIGRATE);
}

bool abti_migrate_serve(abti_unit *unit)
{
    struct abti_unit_cold *cold = abti_unit_cold_get(unit);
    /* acquire: both pair with abti_migrate_request. A request that comes after the first finds its target by the next
     */
    abti_fetch_and_acq_rel(&unit->requests, (uint8_t)~ABTI_REQ_MIGRATE);
    abti_pool *pool = abti_exchange_acq_rel(&cold->migrate_to, NULL);
    if (!pool || pool == unit->pool || abti_unit_associate(unit, pool) != ABT_SUCCESS)
        return false;
    struct abti_migrated migrated = abti_unit_migrated(unit);
    if (migrated.func)
        migrated.func(unit, migrated.arg);
    return true;
}

/* It counts as blocked in one of the pools at each moment, and for a moment in both. */
void abti_migrate_blocked(abti_es *es, abti_unit *unit, abti_pool *pool)
{
    abti_pool *old = unit->pool;
    abti_assert(es == abti_es_self && abti_unit_is_blocked(unit));
    abti_assert(!abti_pool_is_user(old) && !abti_pool_is_user(pool));
    abti_unit_set_pool(unit, pool);
    abti_pool_count_entered(es, pool);
    abti_pool_count_left(es, old, 1);
}

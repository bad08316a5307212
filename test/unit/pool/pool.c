/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of blocked units: keepers come and go, and nobody who is blocked is ever missing from the sum. */
#include <abt.h>
#include <pthread.h>
#include <sched.h>

#include "pool/blocked.h"
#include "tap.h"

enum { STAYING = 10, TURNS = 200000 };

static abti_pool *pool;
static abti_es keepers[2];
static atomic_bool stop;
static atomic_long too_few;

static void *change_keepers(void *arg)
{
    for (int i = 0; i < TURNS; i++) {
        abti_es *es = &keepers[i & 1];
        abti_es_self = es;
        abti_pool_count_entered(es, pool);
        abti_pool_count_left(es, pool, 1);
        abti_pool_drop_keeper(pool, es);
    }
    abti_es_self = NULL;
    atomic_store(&stop, true);
    return arg;
}

static void *count_as_others(void *arg)
{
    while (!atomic_load(&stop)) {
        abti_pool_count_entered(NULL, pool);
        sched_yield();
        abti_pool_count_left(NULL, pool, 1);
    }
    return arg;
}

static void *watch(void *arg)
{
    while (!atomic_load(&stop)) {
        size_t blocked = abti_pool_num_blocked(pool), total = abti_pool_total_size(pool);
        if (blocked < STAYING || total < STAYING)
            atomic_fetch_add(&too_few, 1);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    if (ABT_init(0, NULL) != ABT_SUCCESS ||
        ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool) != ABT_SUCCESS)
        bail_out("ABT_init");
    is_int(abti_pool_num_blocked(pool), 0, "nobody is blocked at first");
    abti_es *self = abti_es_self, *const all[] = {self, &keepers[0], &keepers[1]};
    abti_pool *const *served = self->served;
    int num_served = self->num_served;
    for (int i = 0; i < 3; i++) { /* as if the main scheduler of each used the pool */
        all[i]->served = &pool;
        all[i]->num_served = 1;
    }
    abti_pool_count_entered(self, pool);
    ok(abti_pool_is_keeper(self, pool), "the first ES that counts owns the counts");
    ok(!abti_pool_is_keeper(&keepers[0], pool), "another one does not");
    abti_es_self = &keepers[0];
    abti_pool_count_left(&keepers[0], pool, 1);
    abti_es_self = self;
    is_int(abti_pool_num_blocked(pool), 0, "entered here, left there");
    abti_pool_drop_keeper(pool, &keepers[0]);
    ok(abti_pool_is_keeper(self, pool), "only the keeper gives up");
    for (int i = 0; i < STAYING; i++)
        abti_pool_count_entered(self, pool);
    abti_pool_drop_keeper(pool, self);
    ok(!abti_pool_is_keeper(self, pool), "it does");
    is_int(abti_pool_num_blocked(pool), STAYING, "the counts stay");

    pthread_create(&threads[0], NULL, change_keepers, NULL);
    pthread_create(&threads[1], NULL, count_as_others, NULL);
    pthread_create(&threads[2], NULL, watch, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    is_int(atomic_load(&too_few), 0, "never too few while keepers change");
    is_int(abti_pool_num_blocked(pool), STAYING, "and exact in the end");
    for (int i = 0; i < STAYING; i++)
        abti_pool_count_left(self, pool, 1);
    is_int(abti_pool_total_size(pool), 0, "nobody is left");
    self->served = served;
    self->num_served = num_served;
    ABT_pool_free(&pool);
    ABT_finalize();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Gangs: which schedulers are in one, and whom of its sleepers a push wakes. One thread plays all streams. */
#include <abt.h>

#include "pick/sched.h"
#include "pool/gang.h"
#include "run/child.h"
#include "tap.h"

enum { POOLS = 4, THIEVES = 4, MANY = 12 };

static abti_pool *pools[POOLS];
static abti_sched *scheds[MANY];
static struct abti_sleeper sleepers[MANY];

static abti_sched *make_sched(int first, int num)
{
    ABT_pool list[POOLS];
    ABT_sched sched = ABT_SCHED_NULL;
    for (int i = 0; i < num; i++)
        list[i] = pools[(first + i) % POOLS];
    ABT_sched_create_basic(ABT_SCHED_RANDWS, num, list, ABT_SCHED_CONFIG_NULL, &sched);
    return sched;
}

/* What abti_es_park_on does before the sleep. */
static bool sleep_in_gang(int i)
{
    bool all_empty = true;
    abti_sleeper_prepare(&sleepers[i]);
    abti_gang_enter(scheds[i]->gang, scheds[i]->in_gang, &sleepers[i]);
    for (int k = 0; k < POOLS && all_empty; k++)
        all_empty = abti_gang_finds_empty(scheds[i]->pools[k]);
    return all_empty;
}

/* And after it. */
static bool wake_in_gang(int i)
{
    bool woken = abti_sleeper_cancel(&sleepers[i]);
    abti_gang_leave(scheds[i]->gang, scheds[i]->in_gang);
    return woken;
}

static bool is_woken(int i)
{
    return abti_sleeper_is_woken(&sleepers[i]);
}

static int num_woken(int num)
{
    int woken = 0;
    for (int i = 0; i < num; i++)
        woken += is_woken(i);
    return woken;
}

static void push(int pool)
{
    ABT_task task;
    ABT_task_create(pools[pool], NULL, NULL, &task);
}

static void pop_all(void)
{
    abti_unit *unit;
    for (int i = 0; i < POOLS; i++) {
        while ((unit = abti_pool_pop(pools[i], 0)) != NULL) {
            abti_discard(abti_es_self, unit);
            ABT_task_free(&unit);
        }
    }
}

static void test_join(void)
{
    abti_sched *few = make_sched(0, 3), *two = make_sched(0, 2), *same[2] = {make_sched(0, POOLS), NULL};
    ABT_pool twice[POOLS] = {pools[0], pools[1], pools[2], pools[2]};
    ABT_sched odd;
    ok(few->gang && few->gang->num_pools == 3, "a scheduler of three pools has a gang");
    ok(!two->gang, "one of two has none");
    ok(!same[0]->gang, "nor one that has these three and another one");
    ABT_sched_free(&same[0]);
    ABT_sched_free(&few);
    for (int i = 0; i < 2; i++)
        same[i] = make_sched(i, POOLS);
    ok(same[0]->gang && same[0]->gang == same[1]->gang, "the same pools in another order are one gang");
    ABT_sched_create_basic(ABT_SCHED_RANDWS, POOLS, twice, ABT_SCHED_CONFIG_NULL, &odd);
    ok(!odd->gang, "a pool twice in the list is not two");
    ABT_sched_free(&odd);
    ABT_sched_create_basic(ABT_SCHED_PRIO, POOLS, pools, ABT_SCHED_CONFIG_NULL, &odd);
    ok(!odd->gang, "a scheduler of another kind has none");
    ABT_sched_free(&odd);
    ABT_sched_free(&two);
    ABT_sched_free(&same[0]);
    ok(pools[0]->deputy, "the gang is there as long as one scheduler is");
    ABT_sched_free(&same[1]);
    ok(!pools[0]->deputy && !abti_pool_has_parked(pools[0]), "and then it is gone");
}

/* The schedulers of four streams, each with a pool of its own. */
static void test_wakes(void)
{
    for (int i = 0; i < THIEVES; i++)
        ok(sleep_in_gang(i), "number %d may sleep", i);
    push(2);
    ok(num_woken(THIEVES) == 1 && is_woken(2), "a push wakes the stream whose own pool it is");
    push(2);
    ok(num_woken(THIEVES) == 2 && is_woken(0), "a second one the stream that has slept longest");
    push(3);
    ok(num_woken(THIEVES) == 3 && is_woken(3), "an own pool's stream is woken though others are coming");
    push(0);
    ok(!is_woken(1), "but no other is");
    ok(wake_in_gang(2), "one has come");
    abti_gang_settle(scheds[2]->gang, scheds[2]->in_gang);
    abti_parking_pass(pools[0]);
    ok(!is_woken(1), "two are still coming");
    ok(wake_in_gang(0) && wake_in_gang(3), "and they come");
    abti_gang_settle(scheds[0]->gang, scheds[0]->in_gang);
    abti_gang_settle(scheds[3]->gang, scheds[3]->in_gang);
    abti_parking_pass(pools[0]);
    ok(is_woken(1), "who finds a unit and sees more wakes another one");
    ok(!abti_pool_has_parked(pools[0]), "the last one takes the deputy along");
    ok(abti_pool_has_parked(pools[1]), "of this pool");
    wake_in_gang(1);
    abti_gang_settle(scheds[1]->gang, scheds[1]->in_gang);
    push(1);
    ok(!abti_pool_has_parked(pools[1]), "a push to another one finds nobody, and takes its deputy out");
    ok(!sleep_in_gang(1), "nobody sleeps while there are units");
    ok(!wake_in_gang(1), "it was not woken");
    pop_all();
    ok(sleep_in_gang(1), "it sleeps when they are gone");
    ok(abti_pool_has_parked(pools[0]) && abti_pool_has_parked(pools[1]), "and the deputies are there again");
    abti_parking_offer(pools[3]);
    ok(is_woken(1), "an offer wakes");
    wake_in_gang(1);
    is_int((int)abti_load_relaxed(&scheds[1]->gang->num_coming), 1, "it is coming");
    ok(sleep_in_gang(1), "until it sleeps again");
    is_int((int)abti_load_relaxed(&scheds[1]->gang->num_coming), 0, "nobody comes");
    wake_in_gang(1);
}

/* Many sleep, none of which has the last pool for its own. */
static void test_enough(void)
{
    for (int i = 0; i < MANY; i++)
        sleep_in_gang(i);
    for (int i = 0; i < MANY; i++)
        push(3);
    is_int(num_woken(MANY), 8, "some are woken by who makes many units, and the others by these");
    for (int i = 0; i < MANY; i++) {
        if (!wake_in_gang(i))
            continue;
        abti_gang_settle(scheds[i]->gang, scheds[i]->in_gang);
        abti_parking_pass(pools[3]);
    }
    is_int((int)abti_load_relaxed(&scheds[0]->gang->num_coming), 0, "all come");
    pop_all();
}

int main(void)
{
    if (ABT_init(0, NULL) != ABT_SUCCESS)
        bail_out("ABT_init");
    for (int i = 0; i < POOLS; i++)
        ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pools[i]);
    test_join();
    for (int i = 0; i < THIEVES; i++)
        scheds[i] = make_sched(i, POOLS);
    test_wakes();
    for (int i = 0; i < THIEVES; i++)
        ABT_sched_free(&scheds[i]);
    for (int i = 0; i < MANY; i++)
        scheds[i] = make_sched(i % 3, POOLS);
    test_enough();
    for (int i = 0; i < MANY; i++)
        ABT_sched_free(&scheds[i]);
    for (int i = 0; i < POOLS; i++)
        ABT_pool_free(&pools[i]);
    ABT_finalize();
    return done_testing();
}

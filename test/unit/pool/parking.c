/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping on pools: which sleepers a push wakes, and that no wake is lost. */
#include <abt.h>
#include <pthread.h>
#include <sched.h>

#include "os/clock.h"
#include "pool/member.h"
#include "run/child.h"
#include "stream/park.h"
#include "tap.h"

static uint64_t in_ms(unsigned ms)
{
    return abti_clock_mono_ns() + (uint64_t)ms * 1000000;
}

/* --- One thread --- */

enum { SLEEPERS = 4 };

static int num_woken(struct abti_sleeper *sleepers)
{
    int woken = 0;
    for (int i = 0; i < SLEEPERS; i++)
        woken += abti_sleeper_is_woken(&sleepers[i]);
    return woken;
}

static void test_parking(void)
{
    struct abti_sleeper sleepers[SLEEPERS] = {{.word = ABTI_AWAKE}};
    struct abti_parking parkings[SLEEPERS] = {{.seeks = true}, {.seeks = true}, {.seeks = true}, {.seeks = true}};
    abti_pool *pool;
    ABT_thread unit, more;
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool);
    for (int i = 0; i < SLEEPERS; i++) {
        abti_sleeper_prepare(&sleepers[i]);
        ok(abti_parking_enter(&parkings[i], pool, &sleepers[i]), "number %d may sleep", i);
    }
    abti_parking_pass(pool);
    is_int(num_woken(sleepers), 0, "an empty pool wakes nobody");
    ABT_task_create(pool, NULL, NULL, &unit);
    is_int(num_woken(sleepers), 1, "a push wakes one");
    ok(parkings[0].coming, "the one that has slept longest");
    abti_parking_pass(pool);
    is_int(num_woken(sleepers), 1, "no other is needed for that unit");
    ABT_task_create(pool, NULL, NULL, &more);
    is_int(num_woken(sleepers), 2, "another unit wakes another one");
    abti_parking_leave(&parkings[0], pool, true);
    abti_parking_pass(pool);
    is_int(num_woken(sleepers), 2, "one that is awake is still coming");
    abti_parking_settle(&parkings[0], pool);
    abti_parking_settle(&parkings[0], pool);
    abti_parking_pass(pool);
    is_int(num_woken(sleepers), 3, "until it says otherwise; then another one is woken, once");
    abti_parking_leave(&parkings[1], pool, true);
    ok(abti_park_pop(pool, 0, 0) == unit && abti_park_pop(pool, 0, 0) == more, "the units are taken");
    abti_sleeper_cancel(&sleepers[1]);
    abti_sleeper_prepare(&sleepers[1]);
    ok(abti_parking_enter(&parkings[1], pool, &sleepers[1]) && !parkings[1].coming,
       "one that sleeps again does not come");
    abti_parking_leave(&parkings[2], pool, true);
    abti_parking_settle(&parkings[2], pool);
    is_int((int)pool->num_coming, 0, "nobody comes any more");
    ABT_pool_push(pool, abti_unit_handle(more));
    is_int(num_woken(sleepers), 3, "and a push wakes one again");
    ok(abti_park_pop(pool, 0, 0) == more, "whose unit is taken");
    abti_parking_leave(&parkings[1], pool, true);
    abti_parking_leave(&parkings[3], pool, true);
    abti_parking_leave(&parkings[3], pool, true);
    abti_parking_settle(&parkings[3], pool);

    parkings[0].seeks = false;
    for (int i = 0; i < SLEEPERS; i++) {
        abti_sleeper_cancel(&sleepers[i]);
        abti_sleeper_prepare(&sleepers[i]);
        ok(abti_parking_enter(&parkings[i], pool, &sleepers[i]), "number %d sleeps again", i);
    }
    ABT_pool_push(pool, abti_unit_handle(more));
    ok(num_woken(sleepers) == 1 && !parkings[0].coming, "one that does not seek is woken, but not expected");
    abti_parking_pass(pool);
    ok(num_woken(sleepers) == 2 && parkings[1].coming, "so another one may be");
    abti_parking_pass(pool);
    is_int(num_woken(sleepers), 2, "who is");
    abti_parking_offer(pool);
    ok(num_woken(sleepers) == 3 && parkings[2].coming, "an offer wakes the next one all the same");
    for (int i = 0; i < SLEEPERS; i++) {
        abti_parking_leave(&parkings[i], pool, true);
        abti_parking_settle(&parkings[i], pool);
        abti_sleeper_cancel(&sleepers[i]);
    }
    is_int((int)pool->num_coming, 0, "all is settled");
    ok(abti_park_pop(pool, 0, 0) == more, "and the unit taken");
    abti_discard(abti_es_self, more);
    ABT_task_free(&more);
    ABT_pool_push(pool, abti_unit_handle(unit));
    ok(!abti_pool_has_parked(pool), "all have left");
    ok(!abti_parking_enter(&parkings[0], pool, &sleepers[0]), "nobody sleeps on a pool with a unit");
    abti_parking_leave(&parkings[0], pool, true);
    ok(!abti_pool_has_parked(pool), "and it leaves again");
    is_ptr(abti_park_pop(pool, ABTI_CLOCK_NEVER, 0), unit, "pop of what is there");
    ok(!abti_park_pop(pool, in_ms(5), 0), "pop of nothing, until the deadline");
    ABT_pool_push(pool, abti_unit_handle(unit));
    unit = abti_park_pop(pool, 0, 0);
    ok(unit, "a deadline that is over does not matter when there is a unit");
    abti_discard(abti_es_self, unit);
    ABT_task_free(&unit);
    ABT_pool_free(&pool);
}

/* A stream that polls its pools next pushes, by a driver or a timer. */
static void test_own_push(void)
{
    struct abti_sleeper sleeper = {.word = ABTI_AWAKE};
    struct abti_parking other = {.seeks = true}, own = {.seeks = true};
    abti_pool *pool;
    ABT_thread units[2];
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool);
    struct abti_park_set set = {1, &pool, &own};
    abti_es *es = abti_es_self;
    abti_sleeper_prepare(&sleeper);
    ok(abti_parking_enter(&other, pool, &sleeper), "another stream sleeps");
    es->woken = false;
    es->seeking = &set;
    ABT_task_create(pool, NULL, NULL, &units[0]);
    ok(own.coming && es->woken && !abti_sleeper_is_woken(&sleeper), "the stream comes itself for the first unit");
    ABT_task_create(pool, NULL, NULL, &units[1]);
    ok(abti_sleeper_is_woken(&sleeper), "the other one is woken for the second");
    es->seeking = NULL;
    abti_parking_leave(&other, pool, true);
    abti_parking_settle(&other, pool);
    abti_parking_settle(&own, pool);
    is_int((int)pool->num_coming, 0, "nobody comes any more");
    abti_sleeper_cancel(&sleeper);
    es->woken = false;
    for (int i = 0; i < 2; i++) {
        abti_discard(es, abti_park_pop(pool, 0, 0));
        ABT_task_free(&units[i]);
    }
    ABT_pool_free(&pool);
}

/* --- Several threads --- */

enum { POPPERS = 3, PUSHERS = 2, PUSHES = 10000 };

static abti_pool *shared;
static atomic_int popped;

/* Until a unit with an argument comes. Sleeps for ever when a wake is lost. */
static void *pop_all(void *arg)
{
    for (bool last = false; !last;) {
        abti_unit *unit = abti_park_pop(shared, ABTI_CLOCK_NEVER, 0);
        last = unit->arg != NULL;
        atomic_fetch_add(&popped, !last);
        abti_unit_release_external(unit);
    }
    return arg;
}

static void push_one(void *arg)
{
    abti_unit *unit = abti_unit_alloc_external();
    abti_unit_init(unit, NULL, arg, shared, ABTI_UNIT_NAMED);
    abti_pool_push(shared, unit, 0);
}

static void *push_all(void *arg)
{
    unsigned random = (unsigned)(uintptr_t)arg;
    for (int i = 0; i < PUSHES; i++) {
        push_one(NULL);
        random = random * 1103515245 + 12345;
        if ((random >> 16 & 15) == 0)
            sched_yield();
    }
    return NULL;
}

static void test_pop_wait(ABT_pool_kind kind)
{
    pthread_t threads[POPPERS + PUSHERS];
    ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &shared);
    atomic_store(&popped, 0);
    for (int i = 0; i < POPPERS; i++)
        pthread_create(&threads[i], NULL, pop_all, NULL);
    for (int i = 0; i < PUSHERS; i++)
        pthread_create(&threads[POPPERS + i], NULL, push_all, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < PUSHERS; i++)
        pthread_join(threads[POPPERS + i], NULL);
    for (int i = 0; i < POPPERS; i++)
        push_one(shared);
    for (int i = 0; i < POPPERS; i++)
        pthread_join(threads[i], NULL);
    is_int(atomic_load(&popped), PUSHERS * PUSHES, "all units are popped, the poppers sleep in between");
    ABT_pool_free(&shared);
}

int main(void)
{
    if (ABT_init(0, NULL) != ABT_SUCCESS)
        bail_out("ABT_init");
    test_parking();
    test_own_push();
    test_pop_wait(ABT_POOL_FIFO);
    test_pop_wait(ABT_POOL_RANDWS);
    ABT_finalize();
    return done_testing();
}

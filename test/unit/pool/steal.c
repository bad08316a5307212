/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asking for a unit of a pool that somebody is busy with: granted, not granted, taken back, and who may not ask.
 * Offering one: accepted, not accepted, taken back.
 */
#include <abt.h>
#include <pthread.h>
#include <string.h>

#include "os/clock.h"
#include "pool/blocked.h"
#include "pool/builtin.h"
#include "pool/stolen.h"
#include "pool/thief.h"
#include "pool/request.h"
#include "tap.h"
#include "wait/cpus.h"

enum { UNITS = 3, ROUNDS = 2000 };

static abti_pool *pool;
static abti_unit *units[UNITS];

static void nothing(void *arg)
{
}

static abti_unit *pop(void)
{
    return abti_pool_pop(pool, ABT_POOL_CONTEXT_OWNER_PRIMARY);
}

static void push(abti_unit *unit)
{
    abti_pool_push_shared(abti_es_self, pool, unit, ABT_POOL_CONTEXT_OP_THREAD_CREATE, abti_pool_is_shared_fifo(pool));
}

/* By the bias, as the pool's owner does all the time. */
static void answer(void)
{
    abti_pool_lock(abti_es_self, pool);
    abti_pool_answer_locked(pool);
    abti_pool_unlock(abti_es_self, pool);
}

static abti_unit *ask(void)
{
    abti_unit *unit = NULL;
    ok(abti_pool_ask(pool, &unit, NULL, 0), "nobody else asks");
    ok(!abti_load_relaxed(&pool->request), "the request does not stay");
    return unit;
}

/* Nobody is there to grant anything. */
static void test_alone(void)
{
    ok(!ask(), "nothing from a pool without a bias, which is open to be taken from");
    struct abti_bias_user somebody = {NULL};
    abti_store_relaxed(&pool->lock.owner, &somebody);
    ok(!ask(), "nothing if nobody answers");
    abti_store_relaxed(&pool->lock.owner, NULL);
    is_int(pool->ops->size(pool), UNITS, "all units are still there");

    struct abti_steal_request other = {.unit = NULL};
    abti_store_relaxed(&pool->request, (uintptr_t)&other);
    abti_unit *unit = units[0];
    ok(!abti_pool_ask(pool, &unit, NULL, 0) && !unit, "who finds another request there goes without");
    ok(abti_load_relaxed(&pool->request) == (uintptr_t)&other, "and leaves it");
    answer();
    ok(abti_load_relaxed(&other.unit) == units[0], "granted is what stands at the tail");
    is_int(pool->ops->size(pool), UNITS - 1, "and is in the pool no longer");

    abti_unit *head = pop();
    ok(head == units[UNITS - 1], "the newest is at the head");
    abti_store_relaxed(&other.unit, NULL);
    abti_store_relaxed(&pool->request, (uintptr_t)&other);
    answer();
    ok(!abti_load_relaxed(&other.unit), "the last one is not granted");
    push(head);
    ok(abti_load_relaxed(&other.unit) == units[1], "a push grants the one that was there before");
    ok(!abti_load_relaxed(&pool->request), "and its request is over");
    push(units[0]);
    push(units[1]);

    abti_store_relaxed(&other.unit, NULL);
    abti_store_relaxed(&pool->request, (uintptr_t)&other);
    head = pop();
    ok(abti_load_relaxed(&other.unit) == units[2], "a pop grants, too");
    push(units[2]);
    push(head);
    is_int(pool->ops->size(pool), UNITS, "all are there again");

    while (pop())
        ;
    unit = units[0];
    abti_store_relaxed(&pool->lock.owner, &somebody);
    ok(!abti_pool_ask(pool, &unit, NULL, 0) && !unit,
       "when the pool has become empty, there is nothing to take either");
    abti_store_relaxed(&pool->lock.owner, NULL);
    for (int i = 0; i < UNITS; i++)
        push(units[i]);
}

/* --- When a thief rests --- */

enum { MANY = 12 };

/* Steals so many, puts each back at once, and returns how many it got. The ES `last` has held the lock so often before
 * each. */
static int steal_some(struct abti_robber *thief, struct abti_bias_user *last, uint16_t times)
{
    int num = 0;
    for (int i = 0; i < MANY; i++) {
        abti_store_relaxed(&pool->lock.last, last);
        abti_store_relaxed(&pool->lock.streak, times);
        abti_unit *unit = abti_steal(thief, pool);
        if (!unit)
            continue;
        num++;
        push(unit);
    }
    return num;
}

static void test_rests(void)
{
    struct abti_bias_user server = {NULL}, other = {NULL};
    struct abti_robber thief = {.random = 1};
    if (!abti_runs_at_once(2)) {
        skip(8, "nobody else runs at the same time");
        return;
    }
    is_int(steal_some(&thief, &other, 1), MANY,
           "small units are stolen one after the other, if others come once, such as thieves");
    is_int(steal_some(&thief, abti_es_self->bias, 2), MANY, "those that only the thief has come for, too");
    ok(!abti_pool_is_spared(pool), "it does not rest");
    bool rested = false;
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 1000 && !rested; i++) { /* a unit may take long by chance */
        uint64_t begin = abti_clock_mono_ns();
        rested = steal_some(&thief, &server, 2) < MANY;
        uint64_t time = abti_clock_mono_ns() - begin;
        shortest = time < shortest ? time : shortest;
    }
    if (!rested && shortest > MANY * ABTI_THIEF_SMALL_NS / 2)
        skip(1, "there is no small unit here: %d steals take %d ns", MANY, (int)shortest);
    else
        ok(rested, "of those that their own stream is busy with not all: the thief rests");
    while (abti_pool_is_spared(pool))
        ;
    is_int(steal_some(&thief, &other, 1), MANY, "and then steals again");

    /* Another thief asks. */
    struct abti_steal_request request = {.unit = NULL};
    abti_store_relaxed(&pool->request, (uintptr_t)&request);
    abti_store_relaxed(&pool->lock.owner, &other);
    ok(!abti_steal(&thief, pool), "a thief leaves a pool alone where another one asks");
    ok(!abti_load_relaxed(&request.unit), "and grants nothing");
    abti_store_relaxed(&pool->request, 0);
    abti_store_relaxed(&pool->lock.owner, NULL);
}

/* Steals one that `server` is busy with, which takes so long, and says whether the thief may take no other one then. */
static bool rests_after(struct abti_robber *thief, struct abti_bias_user *server, uint64_t ns)
{
    abti_store_relaxed(&pool->lock.last, server);
    abti_store_relaxed(&pool->lock.streak, 2);
    abti_unit *unit = abti_steal(thief, pool);
    if (!unit)
        return false;
    for (uint64_t end = abti_clock_mono_ns() + ns; abti_clock_mono_ns() < end;)
        ;
    push(unit);
    unit = abti_steal(thief, pool); /* the other one is judged before */
    if (unit)
        push(unit);
    return !unit;
}

/* What is small depends on the time until the thief comes back. */
static void test_sizes(void)
{
    enum { LONG_NS = 100000, OFTEN = 3 }; /* with one more, the thief rests */
    struct abti_bias_user server = {NULL};
    struct abti_robber thief = {.random = 1, .thief.is_warm = true};

    if (!abti_runs_at_once(2)) {
        skip(2, "nobody else runs at the same time");
        return;
    }
    abti_store_relaxed(&pool->truce.word, OFTEN * ABTI_TRUCE_SMALL);
    ok(!rests_after(&thief, &server, LONG_NS), "no rest after what takes 100 us");
    is_int(abti_load_relaxed(&pool->truce.word) / ABTI_TRUCE_SMALL, OFTEN / 2, "which is not small");
}

/* --- Bulk --- */

enum { BULK = 2, LEFT_OF = 7 };

static void test_bulk(void)
{
    abti_unit *all[LEFT_OF];
    abti_unit extra[LEFT_OF - UNITS];
    struct abti_robber thief = {.random = 1, .thief.more = BULK};
    if (!abti_runs_at_once(2)) {
        skip(13, "nobody else runs at the same time");
        return;
    }
    memset(extra, 0, sizeof(extra));
    while (pop())
        ;
    for (int i = 0; i < UNITS; i++)
        push(units[i]);
    for (int i = 0; i < LEFT_OF - UNITS; i++)
        push(&extra[i]);
    for (int i = 0; i < LEFT_OF; i++)
        all[i] = i < UNITS ? units[i] : &extra[i - UNITS];
    ok(!abti_steal_left(&thief), "nothing is left before");
    ok(abti_steal(&thief, pool) == all[0], "a thief gets the oldest");
    is_int(abti_ring_size(&pool->ring), LEFT_OF - 1 - BULK, "and others beside it");
    is_int(pool->ops->size(pool), LEFT_OF - 1, "which are in the pool still");
    is_int(pool->ops->remove(pool, all[1]), ABT_SUCCESS, "where one can be removed");
    is_int(pool->ops->remove(pool, all[1]), ABT_ERR_POOL, "once");
    ok(abti_steal_left(&thief) == all[2], "the next one is run next");
    ok(!abti_steal_left(&thief), "and then none is left");

    thief.thief = (struct abti_thief){.more = ABTI_THIEF_BULK}; /* whatever time the last units took */
    ok(abti_steal(&thief, pool) == all[3], "it steals again");
    is_int(abti_ring_size(&pool->ring), 2, "more, but no more than half");
    while (abti_ring_size(&pool->ring) > 0)
        (void)pop();
    ok(!abti_pool_is_empty(pool) && pop() == all[4] && abti_pool_is_empty(pool),
       "others find what is left when the ring is empty");
    for (int i = 0; i < UNITS; i++)
        push(units[i]);
    thief.thief = (struct abti_thief){.more = BULK};
    (void)abti_steal(&thief, pool);
    while (!abti_stolen_is_empty(pool))
        abti_stolen_recall(pool);
    pass("what stands still is recalled");
    is_int(abti_ring_size(&pool->ring), UNITS - 1, "to the ring");
    push(units[0]);
    while (pop())
        ;
    for (int i = 0; i < UNITS; i++)
        push(units[i]);
}

/* --- Offering --- */

/* The pool as one that somebody else is busy with, who does not come to look at the hand-off. */
static bool give(abti_unit *unit)
{
    static struct abti_bias_user somebody;
    abti_store_relaxed(&pool->lock.owner, &somebody);
    bool given = abti_pool_give(abti_es_self, pool, unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
    abti_store_relaxed(&pool->lock.owner, NULL);
    ok(!abti_load_relaxed(&pool->request), "the hand-off does not stay");
    return given;
}

/* As if its giver waited. */
static void offer(struct abti_handoff *handoff, abti_unit *unit)
{
    *handoff = (struct abti_handoff){.unit = unit, .context = ABT_POOL_CONTEXT_OP_THREAD_RESUME};
    abti_store_relaxed(&pool->request, (uintptr_t)handoff | ABTI_REQUEST_HANDOFF);
}

static void test_handoffs(void)
{
    struct abti_handoff handoff;
    abti_unit *unit = pop();
    ok(!give(unit), "nobody accepts it");
    ok(!abti_pool_give(abti_es_self, pool, unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME), "nobody is busy with the pool");
    is_int(pool->ops->size(pool), UNITS - 1, "the unit is still the giver's");
    struct abti_steal_request request = {.unit = NULL};
    abti_store_relaxed(&pool->request, (uintptr_t)&request);
    abti_store_relaxed(&pool->lock.owner, (struct abti_bias_user *)&handoff);
    ok(!abti_pool_give(abti_es_self, pool, unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME), "somebody asks");
    abti_store_relaxed(&pool->lock.owner, NULL);
    ok(abti_load_relaxed(&pool->request) == (uintptr_t)&request, "and goes on asking");
    abti_store_relaxed(&pool->request, 0);

    abti_pool_count_entered(abti_es_self, pool);
    offer(&handoff, unit);
    struct abti_parking sleeper = {.linked = false};
    abti_store_relaxed(&pool->parked.first, &sleeper);
    answer();
    abti_store_relaxed(&pool->parked.first, NULL);
    ok(abti_load_relaxed(&handoff.state) == ABTI_HANDOFF_OFFERED,
       "not accepted while somebody sleeps, who is to be woken");
    is_int(abti_pool_total_size(pool), UNITS, "in the total size it is");
    answer();
    ok(abti_load_relaxed(&handoff.state) == ABTI_HANDOFF_DONE && !abti_load_relaxed(&pool->request), "accepted");
    is_int(pool->ops->size(pool), UNITS, "it is in the pool");
    is_int(abti_pool_num_blocked(pool), 0, "and blocked no longer");
    ok(abti_steal(&(struct abti_robber){.random = 1}, pool) == unit, "at the tail");

    for (abti_unit *other; (other = pop()) != NULL;)
        ;
    ok(pool->ops->is_empty(pool), "an empty pool");
    abti_pool_count_entered(abti_es_self, pool);
    offer(&handoff, unit);
    ok(!pool->ops->is_empty(pool), "to which a unit is offered is not empty");
    ok(pop() == unit && abti_load_relaxed(&handoff.state) == ABTI_HANDOFF_DONE, "who pops gets it");
    ok(!pop() && pool->ops->is_empty(pool), "once");
    is_int(abti_pool_total_size(pool), 0, "and then the pool is empty");
    offer(&handoff, unit);
    abti_store_relaxed(&handoff.state, ABTI_HANDOFF_WITHDRAWN);
    ok(!pop() && abti_load_relaxed(&handoff.state) == ABTI_HANDOFF_DONE, "one that is withdrawn is left to its giver");
    for (int i = 0; i < UNITS; i++)
        push(units[i]);
}

static _Atomic(abti_unit *) handed;
static _Atomic(int) ready;
static _Atomic(bool) enough;
static atomic_long num_given, num_refused;

/* Wakes what it is handed. */
static void *giver(void *arg)
{
    atomic_fetch_add(&ready, 1);
    while (!atomic_load(&enough)) {
        abti_unit *unit = atomic_exchange(&handed, NULL);
        if (!unit)
            continue;
        if (abti_pool_give(NULL, pool, unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME)) {
            atomic_fetch_add(&num_given, 1);
        } else {
            atomic_fetch_add(&num_refused, 1);
            abti_pool_push_unblocked(pool, unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
        }
    }
    return arg;
}

static void test_with_givers(void)
{
    enum { GIVERS = 2 };
    pthread_t threads[GIVERS];
    bool wrong = false;
    for (int i = 0; i < GIVERS; i++)
        pthread_create(&threads[i], NULL, giver, NULL);
    while (atomic_load(&ready) < GIVERS)
        ;
    uint64_t end = abti_clock_mono_ns() + 2 * ABTI_NS_PER_SEC;
    for (long i = 0; i < ROUNDS || (atomic_load(&num_given) < ROUNDS && abti_clock_mono_ns() < end); i++) {
        abti_unit *unit = pop();
        if (unit && i % 500 == 0 && !atomic_load(&handed)) {
            abti_pool_count_entered(abti_es_self, pool);
            atomic_store(&handed, unit);
            /* Until about when the giver loses its patience. */
            for (uint64_t later = abti_clock_mono_ns() + (uint64_t)(i / 500 % 100 * 20); abti_clock_mono_ns() < later;)
                ;
        } else if (unit) {
            push(unit);
        }
        wrong |= abti_pool_total_size(pool) != UNITS;
    }
    while (abti_pool_num_blocked(pool) > 0)
        answer();
    atomic_store(&enough, true);
    for (int i = 0; i < GIVERS; i++)
        pthread_join(threads[i], NULL);
    diag("%ld times accepted, %ld times not", atomic_load(&num_given), atomic_load(&num_refused));
    ok(!wrong, "the total size is what it is all the time");
    int found = 0, num = 0;
    for (abti_unit *unit; (unit = pop()) != NULL; num++)
        for (int i = 0; i < UNITS; i++)
            found |= (unit == units[i]) << i;
    is_int(found, (1 << UNITS) - 1, "all units are there");
    is_int(num, UNITS, "once each");
    for (int i = 0; i < UNITS; i++)
        push(units[i]);
}

/* --- Asking and granting at the same time --- */

static _Atomic(int) started;
static _Atomic(bool) stop;
static atomic_long num_granted, num_denied;

/* Puts back what it gets, so that there is always something. */
static void *thief(void *arg)
{
    atomic_fetch_add(&started, 1);
    while (!atomic_load(&stop)) {
        abti_unit *unit;
        if (!abti_pool_ask(pool, &unit, NULL, 0))
            continue;
        if (unit) {
            atomic_fetch_add(&num_granted, 1);
            pool->ops->push(pool, unit, ABT_POOL_CONTEXT_OP_POOL_OTHER);
        } else {
            atomic_fetch_add(&num_denied, 1);
        }
    }
    return arg;
}

static void test_with_thief(void)
{
    pthread_t thread;
    bool lost = false;
    pthread_create(&thread, NULL, thief, NULL);
    while (!atomic_load(&started))
        ;
    uint64_t end = abti_clock_mono_ns() + 2 * ABTI_NS_PER_SEC;
    for (int i = 0; i < ROUNDS || (atomic_load(&num_granted) < ROUNDS && abti_clock_mono_ns() < end); i++) {
        abti_unit *mine = pop();
        /* It may be that the thief has the others just now. */
        if (mine)
            push(mine);
        lost |= pool->ops->size(pool) > UNITS;
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    diag("%ld times granted, %ld times not", atomic_load(&num_granted), atomic_load(&num_denied));
    ok(!lost, "never too many");
    is_int(pool->ops->size(pool), UNITS, "none is lost");
    int found = 0;
    for (abti_unit *unit; (unit = pop()) != NULL;)
        for (int i = 0; i < UNITS; i++)
            found |= (unit == units[i]) << i;
    is_int(found, (1 << UNITS) - 1, "and each is there once");
}

int main(void)
{
    if (ABT_init(0, NULL) != ABT_SUCCESS ||
        ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool) != ABT_SUCCESS)
        bail_out("ABT_init");
    for (int i = 0; i < UNITS; i++)
        if (ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &units[i]) != ABT_SUCCESS)
            bail_out("ABT_thread_create");
    test_alone();
    test_rests();
    test_sizes();
    test_bulk();
    test_handoffs();
    test_with_givers();
    test_with_thief();
    for (int i = 0; i < UNITS; i++)
        push(units[i]);
    ABT_xstream xstream;
    ABT_xstream_self(&xstream);
    ABT_pool pools[2];
    if (ABT_xstream_get_main_pools(xstream, 1, pools) != ABT_SUCCESS)
        bail_out("ABT_xstream_get_main_pools");
    for (int i = 0; i < UNITS; i++) {
        abti_unit *unit = pop();
        ABT_pool_push_thread(pools[0], unit);
        ABT_thread_free(&unit);
    }
    ABT_pool_free(&pool);
    ABT_finalize();
    return done_testing();
}

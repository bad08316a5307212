/* SPDX-License-Identifier: BSD-3-Clause */
/* When a thief rests, for how long, and what counts as small. */
#include "pool/thief_policy.h"
#include "tap.h"

enum { START = 1000000, LARGE_NS = 100000 };

/* One that has run a unit. */
static const struct abti_thief warm = {.is_warm = true};

/* The thief gets a unit from a busy ES, runs it for so long, and comes back. The time then. */
static uint64_t run_stolen(struct abti_thief *thief, struct abti_truce *truce, uint64_t now, uint64_t ns)
{
    abti_thief_learn_steal(thief, now, true);
    abti_thief_learn_return(thief, truce, now + ns);
    return now + ns;
}

/* For how long the truce holds from now on. */
static uint64_t rest_of(struct abti_truce *truce, uint64_t now)
{
    return abti_truce_until(truce) > now ? abti_truce_until(truce) - now : 0;
}

static void test_truces(void)
{
    struct abti_thief thief = {0};
    struct abti_truce truce = {0};
    uint64_t now = START, expected = ABTI_THIEF_REST_MIN_NS, rest;
    bool held = false, doubles = true;
    ok(!abti_thief_needs_time(&thief, &truce), "a new thief has no need of the time");
    ok(abti_truce_try(&truce, now) && abti_truce_try(&truce, now), "and may steal, and others at the same time");
    now = run_stolen(&thief, &truce, now, 0);
    is_int(truce.word / ABTI_TRUCE_SMALL, 0, "the first unit of a thief tells nothing");
    for (int i = 1; i < ABTI_THIEF_ENOUGH_SMALLS; i++) {
        now = run_stolen(&thief, &truce, now, 0);
        held |= !abti_truce_try(&truce, now);
    }
    ok(!held, "a few small units are no reason for a truce");
    for (int i = 0; i < ABTI_THIEF_REST_DOUBLINGS; i++, expected *= 2) {
        now = run_stolen(&thief, &truce, now, 0);
        ok(abti_thief_needs_time(&thief, &truce), "the time matters during a truce");
        rest = rest_of(&truce, now);
        doubles &= rest == expected && !abti_truce_try(&truce, now + rest - 1);
        now += rest;
    }
    ok(doubles, "the next one is, and each further one for one twice as long");
    for (int i = 0; i < 3; i++) {
        now = run_stolen(&thief, &truce, now, 0);
        rest = rest_of(&truce, now);
        is_int(rest, expected, "up to 16 us");
        now += rest;
    }
    ok(abti_truce_try(&truce, now), "then a thief tries");
    ok(!abti_truce_try(&truce, now + ABTI_THIEF_SMALL_NS - 1), "and no other one until its unit is not small");
    ok(abti_truce_try(&truce, now + ABTI_THIEF_SMALL_NS), "which may try, too");
    now = run_stolen(&thief, &truce, now, LARGE_NS);
    ok(abti_truce_try(&truce, now) && abti_truce_try(&truce, now), "a large unit ends it");
    const uint64_t half = (ABTI_THIEF_ENOUGH_SMALLS + ABTI_THIEF_REST_DOUBLINGS) / 2;
    is_int(truce.word / ABTI_TRUCE_SMALL, half, "and halves the count");
    now = run_stolen(&thief, &truce, now, 0);
    abti_thief_learn_steal(&thief, now, false);
    abti_thief_learn_return(&thief, &truce, now);
    is_int(truce.word / ABTI_TRUCE_SMALL, half + 1, "a small unit that nobody was busy with is not counted");
    abti_thief_learn_return(&thief, &truce, now);
    is_int(truce.word / ABTI_TRUCE_SMALL, half + 1, "a return without a unit tells nothing");
}

/* What one thief has learnt the others need not learn. */
static void test_group(void)
{
    struct abti_thief thieves[ABTI_THIEF_ENOUGH_SMALLS];
    struct abti_truce truce = {0};
    for (int i = 0; i < ABTI_THIEF_ENOUGH_SMALLS; i++)
        thieves[i] = warm;
    for (int i = 0; i < ABTI_THIEF_ENOUGH_SMALLS; i++)
        (void)run_stolen(&thieves[i], &truce, START, 0);
    is_int(rest_of(&truce, START), ABTI_THIEF_REST_MIN_NS, "small units of several thieves count together");
}

/* Gets so many units at once and runs them. */
static void run_bulk(struct abti_thief *thief, int num, uint64_t unit_ns)
{
    struct abti_truce truce = {0};
    abti_thief_learn_steal(thief, START, false);
    for (int i = 1; i < num; i++)
        abti_thief_learn_more(thief);
    abti_thief_learn_return(thief, &truce, START + (uint64_t)num * unit_ns);
}

static void test_bulk(void)
{
    struct abti_thief thief = warm;
    is_int(thief.more, 0, "at first a thief wants one");
    run_bulk(&thief, 1, 2000);
    is_int(thief.more, 1, "of units of 2 us two");
    run_bulk(&thief, 2, 2000);
    is_int(thief.more, 3, "then twice as many");
    run_bulk(&thief, 4, ABTI_THIEF_SMALL_NS / 2);
    is_int(thief.more, 3, "of very small ones no more than before");
    for (int i = 0; i < 5; i++)
        run_bulk(&thief, 1, 2000);
    is_int(thief.more, ABTI_THIEF_BULK, "up to a bound");
    run_bulk(&thief, 1, ABTI_THIEF_BULK_NS + 1);
    is_int(thief.more, 0, "of large ones one");
}

static void test_sizes(void)
{
    struct abti_thief thief = warm;
    struct abti_truce truce = {0};
    run_stolen(&thief, &truce, START, ABTI_THIEF_SMALL_NS - 1);
    is_int(truce.word / ABTI_TRUCE_SMALL, 1, "699 ns are small");
    run_stolen(&thief, &truce, START, ABTI_THIEF_SMALL_NS);
    is_int(truce.word / ABTI_TRUCE_SMALL, 0, "700 ns are not");
}

int main(void)
{
    test_truces();
    test_sizes();
    test_group();
    test_bulk();
    return done_testing();
}

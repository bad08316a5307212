/* SPDX-License-Identifier: BSD-3-Clause */
/* When a thief rests, for how long, and what counts as small. */
#include "pool/thief_policy.h"
#include "tap.h"

enum { START = 1000000, LARGE_NS = 100000 };

/* The thief gets a unit from a busy ES, runs it for so long, and comes back. The time then. */
static uint64_t run_booty(struct abti_thief *thief, uint64_t now, uint64_t ns)
{
    abti_thief_learn_booty(thief, now);
    abti_thief_learn_return(thief, now + ns);
    return now + ns;
}

/* For how long it rests from now on. */
static uint64_t rest_of(struct abti_thief *thief, uint64_t now)
{
    uint64_t ns = 0;
    while (!abti_thief_may_steal(thief, now + ns))
        ns++;
    return ns;
}

static void test_rests(void)
{
    struct abti_thief thief = {0};
    uint64_t now = START, expected = ABTI_THIEF_REST_MIN_NS, rest;
    bool rested = false, doubles = true;

    ok(!abti_thief_needs_time(&thief), "a new thief has no need of the time");
    ok(abti_thief_may_steal(&thief, now), "and may steal");
    for (int i = 1; i < ABTI_THIEF_ENOUGH_SMALLS; i++) {
        now = run_booty(&thief, now, 0);
        rested |= !abti_thief_may_steal(&thief, now);
    }
    ok(!rested, "a few small units are no reason to rest");
    for (int i = 0; i < ABTI_THIEF_REST_DOUBLINGS; i++, expected *= 2) {
        now = run_booty(&thief, now, 0);
        ok(abti_thief_needs_time(&thief), "the time matters during a rest");
        rest = rest_of(&thief, now);
        doubles &= rest == expected;
        now += rest;
    }
    ok(doubles, "the next one is, and each further one for a rest twice as long");
    for (int i = 0; i < 3; i++) {
        now = run_booty(&thief, now, 0);
        rest = rest_of(&thief, now);
        is_int(rest, expected, "up to 16 us");
        now += rest;
    }
    ok(!abti_thief_needs_time(&thief), "the time does not matter after a rest");
    now = run_booty(&thief, now, LARGE_NS);
    ok(abti_thief_may_steal(&thief, now), "a large unit ends it");
    is_int(thief.smalls, 0, "and the count begins anew");
    now = run_booty(&thief, now, 0);
    abti_thief_learn_other(&thief, now);
    abti_thief_learn_return(&thief, now);
    is_int(thief.smalls, 1, "a small unit that nobody was busy with is not counted");
    abti_thief_learn_return(&thief, now);
    is_int(thief.smalls, 1, "a return without a unit tells nothing");
}

/* One of many thieves spares the others more. */
static void test_group(void)
{
    struct abti_thief thief = {.rivals = 5};

    uint64_t now = run_booty(&thief, START, 0);
    is_int(rest_of(&thief, now), ABTI_THIEF_REST_MIN_NS << 5, "one of 64 rests after the first small unit, for longer");
}

/* Gets so many units at once and runs them. */
static void run_bulk(struct abti_thief *thief, int num, uint64_t unit_ns)
{
    abti_thief_learn_other(thief, START);
    for (int i = 1; i < num; i++)
        abti_thief_learn_more(thief);
    abti_thief_learn_return(thief, START + (uint64_t)num * unit_ns);
}

static void test_bulk(void)
{
    struct abti_thief thief = {0};

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
    struct abti_thief thief = {0};

    run_booty(&thief, START, ABTI_THIEF_SMALL_NS - 1);
    is_int(thief.smalls, 1, "699 ns are small");
    run_booty(&thief, START, ABTI_THIEF_SMALL_NS);
    is_int(thief.smalls, 0, "700 ns are not");
}

int main(void)
{
    test_rests();
    test_sizes();
    test_group();
    test_bulk();
    return done_testing();
}

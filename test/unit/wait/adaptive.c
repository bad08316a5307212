/* SPDX-License-Identifier: BSD-3-Clause */
/* How often a group may look or give way before it sleeps, after waits that went well and waits that did not. */
#include "tap.h"
#include "wait/adaptive.h"

enum { GROUP = 8, CPUS = 2, SOME_WAKE = 1, NONE_LEFT = 0 };

static const uint64_t limit_ns = ABTI_ADAPTIVE_YIELD_NS + (uint64_t)ABTI_ADAPTIVE_YIELD_EACH_NS * GROUP / CPUS;

static uint32_t look(struct abti_adaptive *adaptive, bool woken)
{
    struct abti_adaptive_leave leave = abti_adaptive_allow_spins(adaptive, SOME_WAKE);
    if (woken)
        abti_adaptive_learn_spins(adaptive, leave.level, CPUS, true);
    else
        abti_adaptive_learn_sleep(adaptive, leave.level, ABTI_ADAPTIVE_SHORT_NS);
    return leave.times;
}

static uint32_t yield(struct abti_adaptive *adaptive, bool woken, uint64_t took_ns)
{
    struct abti_adaptive_leave leave = abti_adaptive_allow_yields(adaptive, SOME_WAKE, GROUP, CPUS);
    if (leave.times > 0)
        abti_adaptive_learn_yields(adaptive, leave, GROUP, woken, took_ns);
    return leave.times;
}

/* How many waits in a row begin with sleep. */
static uint32_t sleeps(struct abti_adaptive *adaptive)
{
    uint32_t num = 0;
    while (abti_adaptive_allow_yields(adaptive, SOME_WAKE, GROUP, CPUS).times == 0)
        num++;
    return num;
}

static void test_looks(void)
{
    struct abti_adaptive adaptive = {0};
    bool halves = true;
    uint32_t expected = ABTI_ADAPTIVE_SPINS;
    for (int i = 0; i < ABTI_ADAPTIVE_MOST; i++, expected /= 2)
        halves &= look(&adaptive, false) == expected;
    ok(halves, "each long sleep halves the looks");
    look(&adaptive, false);
    is_int(look(&adaptive, false), expected, "down to a few");
    is_int(abti_adaptive_allow_spins(&adaptive, ABTI_ADAPTIVE_AGAIN).times, ABTI_ADAPTIVE_SPINS,
           "now and then as many as first");
    look(&adaptive, true);
    is_int(look(&adaptive, true), ABTI_ADAPTIVE_SPINS, "one wait that goes well gives all of them back");

    struct abti_adaptive_leave early = abti_adaptive_allow_spins(&adaptive, SOME_WAKE);
    look(&adaptive, false);
    look(&adaptive, false);
    abti_adaptive_learn_sleep(&adaptive, early.level, ABTI_ADAPTIVE_SHORT_NS);
    is_int(abti_load_relaxed(&adaptive.level), 2, "what another thread has learnt meanwhile stays");
    abti_adaptive_learn_sleep(&adaptive, 2, ABTI_ADAPTIVE_SHORT_NS - 1);
    is_int(look(&adaptive, true), ABTI_ADAPTIVE_SPINS, "so does a sleep that was short");
    abti_adaptive_learn_spins(&adaptive, 0, CPUS, false);
    uint32_t asleep = 0;
    while (abti_adaptive_allow_spins(&adaptive, SOME_WAKE).times == 0)
        asleep++;
    is_int(asleep, ABTI_ADAPTIVE_LEAST_MEETINGS * CPUS, "after looks that lost the CPU for long some waits are asleep");
    look(&adaptive, true);
    is_int(look(&adaptive, true), ABTI_ADAPTIVE_SPINS, "then the group looks again");
}

static void test_yields(void)
{
    struct abti_adaptive adaptive = {0};
    is_int(abti_adaptive_allow_yields(&adaptive, SOME_WAKE, GROUP, CPUS).limit_ns, limit_ns,
           "the limit grows with the group");
    ok(abti_adaptive_allow_yields(&adaptive, SOME_WAKE, GROUP, 0).limit_ns > limit_ns,
       "without a number of CPUs one is assumed");
    is_int(yield(&adaptive, false, 0), ABTI_ADAPTIVE_YIELDS, "four yields at first");
    is_int(yield(&adaptive, false, 0), ABTI_ADAPTIVE_YIELDS / 2, "half as many after a wait in vain");
    for (int i = 0; i < 2 * ABTI_ADAPTIVE_MOST; i++)
        yield(&adaptive, false, 0);
    is_int(yield(&adaptive, true, limit_ns), 1, "one in any case");
    is_int(yield(&adaptive, true, limit_ns), ABTI_ADAPTIVE_YIELDS, "all of them after a wait that went well");
}

static void test_time_of_yields(void)
{
    struct abti_adaptive adaptive = {0};
    is_int(abti_adaptive_allow_yields(&adaptive, SOME_WAKE, GROUP, CPUS).least_ns, ABTI_ADAPTIVE_YIELD_LEAST_NS,
           "yields that return at once are made for as long as a wake takes");
    yield(&adaptive, false, 0);
    is_int(abti_adaptive_allow_yields(&adaptive, SOME_WAKE, GROUP, CPUS).least_ns, ABTI_ADAPTIVE_YIELD_LEAST_NS / 2,
           "half as long after a wait in vain");
    is_int(abti_adaptive_allow_yields(&adaptive, ABTI_ADAPTIVE_AGAIN, GROUP, CPUS).least_ns,
           ABTI_ADAPTIVE_YIELD_LEAST_NS, "now and then as long as first");
}

static void test_patience(void)
{
    enum { LEAST = ABTI_ADAPTIVE_LEAST_MEETINGS * GROUP, MOST = ABTI_ADAPTIVE_MOST_MEETINGS * GROUP };
    struct abti_adaptive adaptive = {0};
    uint32_t expected = LEAST;
    bool doubles = true;
    yield(&adaptive, true, limit_ns + 1);
    is_int(sleeps(&adaptive), expected, "when yields take too long the next meetings begin with sleep");
    for (expected *= 2; expected < MOST; expected *= 2) {
        yield(&adaptive, false, limit_ns + 1);
        doubles &= sleeps(&adaptive) == expected;
    }
    ok(doubles, "twice as many each time");
    for (int i = 0; i < 3; i++) {
        yield(&adaptive, false, limit_ns + 1);
        is_int(sleeps(&adaptive), MOST, "4096 meetings at most");
    }
    uint32_t good = 0;
    for (; abti_load_relaxed(&adaptive.waits_asleep) > 0 && good < 2 * MOST; good++)
        yield(&adaptive, true, 0);
    is_int(good, MOST, "after as many that went well");
    yield(&adaptive, false, limit_ns + 1);
    is_int(sleeps(&adaptive), LEAST, "it begins anew");

    yield(&adaptive, false, limit_ns + 1);
    is_int(abti_adaptive_allow_spins(&adaptive, SOME_WAKE).times, 0,
           "smaller groups of the same word do not look, either");

    adaptive = (struct abti_adaptive){0};
    struct abti_adaptive_leave leave = abti_adaptive_allow_yields(&adaptive, SOME_WAKE, UINT32_MAX, 1);
    for (int i = 0; i < 20; i++) {
        abti_store_relaxed(&adaptive.level, 0);
        abti_adaptive_learn_yields(&adaptive, leave, UINT32_MAX, false, UINT64_MAX);
    }
    is_int(abti_load_relaxed(&adaptive.waits_asleep), ABTI_ADAPTIVE_MOST_MEETINGS * ABTI_ADAPTIVE_MOST_THREADS,
           "a huge group does not overflow");
}

int main(void)
{
    test_looks();
    test_yields();
    test_time_of_yields();
    test_patience();
    return done_testing();
}

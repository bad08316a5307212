/* SPDX-License-Identifier: BSD-3-Clause */
/* How often a crowd may look or give way before it sleeps, after waits that went well and waits that did not. */
#include "tap.h"
#include "wait/thrift.h"

enum { CROWD = 8, CPUS = 2, SOME_WAKE = 1, NONE_LEFT = 0 };

static const uint64_t limit_ns = ABTI_THRIFT_YIELD_NS + (uint64_t)ABTI_THRIFT_YIELD_EACH_NS * CROWD / CPUS;

static uint32_t look(struct abti_thrift *thrift, bool woken)
{
    struct abti_thrift_leave leave = abti_thrift_allow_looks(thrift, SOME_WAKE);
    if (woken)
        abti_thrift_learn_looks(thrift, leave.level, CPUS, true);
    else
        abti_thrift_learn_sleep(thrift, leave.level, ABTI_THRIFT_SHORT_NS);
    return leave.times;
}

static uint32_t yield(struct abti_thrift *thrift, bool woken, uint64_t took_ns)
{
    struct abti_thrift_leave leave = abti_thrift_allow_yields(thrift, SOME_WAKE, CROWD, CPUS);
    if (leave.times > 0)
        abti_thrift_learn_yields(thrift, leave, CROWD, woken, took_ns);
    return leave.times;
}

/* How many waits in a row begin with sleep. */
static uint32_t sleeps(struct abti_thrift *thrift)
{
    uint32_t num = 0;
    while (abti_thrift_allow_yields(thrift, SOME_WAKE, CROWD, CPUS).times == 0)
        num++;
    return num;
}

static void test_looks(void)
{
    struct abti_thrift thrift = {0};
    bool halves = true;
    uint32_t expected = ABTI_THRIFT_LOOKS;

    for (int i = 0; i < ABTI_THRIFT_MOST; i++, expected /= 2)
        halves &= look(&thrift, false) == expected;
    ok(halves, "each long sleep halves the looks");
    look(&thrift, false);
    is_int(look(&thrift, false), expected, "down to a few");
    is_int(abti_thrift_allow_looks(&thrift, ABTI_THRIFT_AGAIN).times, ABTI_THRIFT_LOOKS,
           "now and then as many as first");
    look(&thrift, true);
    is_int(look(&thrift, true), ABTI_THRIFT_LOOKS, "one wait that goes well gives all of them back");

    struct abti_thrift_leave early = abti_thrift_allow_looks(&thrift, SOME_WAKE);
    look(&thrift, false);
    look(&thrift, false);
    abti_thrift_learn_sleep(&thrift, early.level, ABTI_THRIFT_SHORT_NS);
    is_int(abti_load_relaxed(&thrift.level), 2, "what another thread has learnt meanwhile stays");
    abti_thrift_learn_sleep(&thrift, 2, ABTI_THRIFT_SHORT_NS - 1);
    is_int(look(&thrift, true), ABTI_THRIFT_LOOKS, "so does a sleep that was short");
    abti_thrift_learn_looks(&thrift, 0, CPUS, false);
    uint32_t asleep = 0;
    while (abti_thrift_allow_looks(&thrift, SOME_WAKE).times == 0)
        asleep++;
    is_int(asleep, ABTI_THRIFT_LEAST_MEETINGS * CPUS, "after looks that lost the CPU for long some waits are asleep");
    look(&thrift, true);
    is_int(look(&thrift, true), ABTI_THRIFT_LOOKS, "then the crowd looks again");
}

static void test_yields(void)
{
    struct abti_thrift thrift = {0};

    is_int(abti_thrift_allow_yields(&thrift, SOME_WAKE, CROWD, CPUS).limit_ns, limit_ns,
           "the limit grows with the crowd");
    ok(abti_thrift_allow_yields(&thrift, SOME_WAKE, CROWD, 0).limit_ns > limit_ns,
       "without a number of CPUs one is assumed");
    is_int(yield(&thrift, false, 0), ABTI_THRIFT_YIELDS, "four yields at first");
    is_int(yield(&thrift, false, 0), ABTI_THRIFT_YIELDS / 2, "half as many after a wait in vain");
    for (int i = 0; i < 2 * ABTI_THRIFT_MOST; i++)
        yield(&thrift, false, 0);
    is_int(yield(&thrift, true, limit_ns), 1, "one in any case");
    is_int(yield(&thrift, true, limit_ns), ABTI_THRIFT_YIELDS, "all of them after a wait that went well");
}

static void test_time_of_yields(void)
{
    struct abti_thrift thrift = {0};

    is_int(abti_thrift_allow_yields(&thrift, SOME_WAKE, CROWD, CPUS).least_ns, ABTI_THRIFT_YIELD_LEAST_NS,
           "yields that return at once are made for as long as a wake takes");
    yield(&thrift, false, 0);
    is_int(abti_thrift_allow_yields(&thrift, SOME_WAKE, CROWD, CPUS).least_ns, ABTI_THRIFT_YIELD_LEAST_NS / 2,
           "half as long after a wait in vain");
    is_int(abti_thrift_allow_yields(&thrift, ABTI_THRIFT_AGAIN, CROWD, CPUS).least_ns, ABTI_THRIFT_YIELD_LEAST_NS,
           "now and then as long as first");
}

static void test_patience(void)
{
    enum { LEAST = ABTI_THRIFT_LEAST_MEETINGS * CROWD, MOST = ABTI_THRIFT_MOST_MEETINGS * CROWD };
    struct abti_thrift thrift = {0};
    uint32_t expected = LEAST;
    bool doubles = true;

    yield(&thrift, true, limit_ns + 1);
    is_int(sleeps(&thrift), expected, "when yields take too long the next meetings begin with sleep");
    for (expected *= 2; expected < MOST; expected *= 2) {
        yield(&thrift, false, limit_ns + 1);
        doubles &= sleeps(&thrift) == expected;
    }
    ok(doubles, "twice as many each time");
    for (int i = 0; i < 3; i++) {
        yield(&thrift, false, limit_ns + 1);
        is_int(sleeps(&thrift), MOST, "4096 meetings at most");
    }
    uint32_t good = 0;
    for (; abti_load_relaxed(&thrift.waits_asleep) > 0 && good < 2 * MOST; good++)
        yield(&thrift, true, 0);
    is_int(good, MOST, "after as many that went well");
    yield(&thrift, false, limit_ns + 1);
    is_int(sleeps(&thrift), LEAST, "it begins anew");

    yield(&thrift, false, limit_ns + 1);
    is_int(abti_thrift_allow_looks(&thrift, SOME_WAKE).times, 0, "smaller crowds of the same word do not look, either");

    thrift = (struct abti_thrift){0};
    struct abti_thrift_leave leave = abti_thrift_allow_yields(&thrift, SOME_WAKE, UINT32_MAX, 1);
    for (int i = 0; i < 20; i++) {
        abti_store_relaxed(&thrift.level, 0);
        abti_thrift_learn_yields(&thrift, leave, UINT32_MAX, false, UINT64_MAX);
    }
    is_int(abti_load_relaxed(&thrift.waits_asleep), ABTI_THRIFT_MOST_MEETINGS * ABTI_THRIFT_MOST_THREADS,
           "a huge crowd does not overflow");
}

int main(void)
{
    test_looks();
    test_yields();
    test_time_of_yields();
    test_patience();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* When an idle stream takes what it sees, and how often it looks while others are faster. */
#include "stream/courtesy.h"
#include "tap.h"

static const char unit, other;

/* So many looks in a row that see the same. True: the ES may take it then. */
static bool look(struct abti_courtesy *courtesy, const void *seen, int times)
{
    for (int i = 0; i < times; i++)
        abti_courtesy_learn(courtesy, seen);
    return abti_courtesy_may_take(courtesy);
}

static void test_looks(void)
{
    struct abti_courtesy courtesy = abti_courtesy_new;

    ok(!abti_courtesy_may_take(&courtesy), "nothing has been seen yet");
    ok(!look(&courtesy, NULL, 3 * ABTI_COURTESY_LOOKS), "there is nothing to take");
    is_int(abti_courtesy_gap(&courtesy), 1, "to see nothing is no reason to look less often");
    ok(!look(&courtesy, &unit, ABTI_COURTESY_LOOKS - 1), "a unit is left to others at first");
    ok(look(&courtesy, &unit, 1), "and taken at the eighth look");
    ok(look(&courtesy, &abti_courtesy_mine, 1), "what nobody else would run is taken at once");

    courtesy = abti_courtesy_new;
    look(&courtesy, &unit, ABTI_COURTESY_LOOKS - 2);
    look(&courtesy, &abti_courtesy_several, 1);
    ok(look(&courtesy, &other, 1), "among several it may still be the same one");
    is_int(courtesy.misses, 0, "nobody was faster");
}

static void test_misses(void)
{
    struct abti_courtesy courtesy = abti_courtesy_new;
    const void *seen[] = {&unit, &other};
    int times = 1;

    look(&courtesy, &unit, ABTI_COURTESY_LOOKS - 1);
    ok(!look(&courtesy, &other, 1), "the next unit has looks of its own");
    is_int(abti_courtesy_gap(&courtesy), ABTI_COURTESY_GAP, "others were faster: it looks less often");

    courtesy = abti_courtesy_new;
    look(&courtesy, &unit, 1);
    is_int(abti_courtesy_gap(&courtesy), 1, "but not when a unit comes");
    look(&courtesy, NULL, 1);
    is_int(abti_courtesy_gap(&courtesy), ABTI_COURTESY_GAP, "and also when nothing is left");

    courtesy = abti_courtesy_new;
    while (!look(&courtesy, seen[times % 2], 1) && times < 10 * ABTI_COURTESY_MISSES)
        times++;
    is_int(times, ABTI_COURTESY_MISSES + 1, "courtesy has an end");
    ok(!look(&courtesy, NULL, 1), "which takes nothing where there is nothing");
    ok(look(&courtesy, &unit, 1), "and then what comes");
}

int main(void)
{
    test_looks();
    test_misses();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* When an idle stream takes what it sees, and how often it looks while others are faster. */
#include "stream/pool_backoff.h"
#include "tap.h"

static const char unit, other;

/* So many polls in a row that see the same. True: the ES may take it then. */
static bool look(struct abti_pool_backoff *backoff, const void *seen, int times)
{
    for (int i = 0; i < times; i++)
        abti_pool_backoff_learn(backoff, seen);
    return abti_pool_backoff_may_take(backoff);
}

static void test_looks(void)
{
    struct abti_pool_backoff backoff = abti_pool_backoff_new;

    ok(!abti_pool_backoff_may_take(&backoff), "nothing has been seen yet");
    ok(!look(&backoff, NULL, 3 * ABTI_POOL_BACKOFF_POLLS), "there is nothing to take");
    is_int(abti_pool_backoff_gap(&backoff), 1, "to see nothing is no reason to look less often");
    ok(!look(&backoff, &unit, ABTI_POOL_BACKOFF_POLLS - 1), "a unit is left to others at first");
    ok(look(&backoff, &unit, 1), "and taken at the last of these polls");
    ok(look(&backoff, &abti_pool_backoff_mine, 1), "what nobody else would run is taken at once");

    backoff = abti_pool_backoff_new;
    look(&backoff, &unit, ABTI_POOL_BACKOFF_POLLS - 3);
    look(&backoff, &abti_pool_backoff_several, 1);
    ok(look(&backoff, &other, 1), "among several it may still be the same one");
    is_int(backoff.misses, 0, "nobody was faster");

    backoff = abti_pool_backoff_new;
    ok(!look(&backoff, &abti_pool_backoff_several, ABTI_POOL_BACKOFF_POLLS / 2 - 1) &&
           look(&backoff, &abti_pool_backoff_several, 1),
       "half the polls are enough where the first unit is not known");
}

static void test_misses(void)
{
    struct abti_pool_backoff backoff = abti_pool_backoff_new;
    const void *seen[] = {&unit, &other};
    int times = 1;

    look(&backoff, &unit, ABTI_POOL_BACKOFF_POLLS - 1);
    ok(!look(&backoff, &other, 1), "the next unit has looks of its own");
    is_int(abti_pool_backoff_gap(&backoff), ABTI_POOL_BACKOFF_GAP, "others were faster: it looks less often");

    abti_pool_backoff_forget(&backoff);
    ok(!look(&backoff, &unit, ABTI_POOL_BACKOFF_POLLS - 1), "after a pause all polls are made anew");
    is_int(backoff.misses, 1, "and what the pause has changed is no miss");
    ok(look(&backoff, &unit, 1), "what nobody takes then is taken");

    backoff = abti_pool_backoff_new;
    look(&backoff, &unit, 1);
    is_int(abti_pool_backoff_gap(&backoff), 1, "but not when a unit comes");
    look(&backoff, NULL, 1);
    is_int(abti_pool_backoff_gap(&backoff), ABTI_POOL_BACKOFF_GAP, "and also when nothing is left");

    backoff = abti_pool_backoff_new;
    while (!look(&backoff, seen[times % 2], 1) && times < 10 * ABTI_POOL_BACKOFF_MISSES)
        times++;
    is_int(times, ABTI_POOL_BACKOFF_MISSES + 1, "backoff has an end");
    ok(!look(&backoff, NULL, 1), "which takes nothing where there is nothing");
    ok(look(&backoff, &unit, 1), "and then what comes");
}

int main(void)
{
    test_looks();
    test_misses();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "must.h"

static void test_values(void)
{
    ABT_timer timer = ABT_TIMER_NULL, copy = ABT_TIMER_NULL;
    double secs = -1.0, again = -1.0, sum = 100.0;

    ok_abt(ABT_timer_create(&timer));
    ok(timer != ABT_TIMER_NULL, "a timer");
    ok_abt(ABT_timer_start(timer));
    nap_ms(3);
    ok_abt(ABT_timer_stop(timer));
    ok_abt(ABT_timer_read(timer, &secs));
    ok(secs >= 0.003, "seconds between start and stop: %g", secs);
    nap_ms(3);
    ok_abt(ABT_timer_read(timer, &again));
    ok(again == secs, "reading does not stop");

    ok_abt(ABT_timer_dup(timer, &copy));
    ok(copy != timer, "a copy of its own");
    ok_abt(ABT_timer_stop_and_read(timer, &secs));
    ok(secs >= again + 0.003, "stopped once more: %g", secs);
    ok_abt(ABT_timer_read(copy, &secs));
    ok(secs == again, "the copy has the recorded times");
    ok_abt(ABT_timer_stop_and_add(copy, &sum));
    ok_abt(ABT_timer_read(copy, &secs));
    ok(sum == 100.0 + secs, "added to what was there");

    ok_abt(ABT_timer_free(&timer));
    ok(timer == ABT_TIMER_NULL, "null after free");
    ok_abt(ABT_timer_free(&copy));
}

int main(void)
{
    double overhead = -1.0, before = clock_seconds(CLOCK_REALTIME), time = ABT_get_wtime();

    ok(time >= before - 1e-3 && time <= clock_seconds(CLOCK_REALTIME) + 1e-3, "wall-clock time");
    test_values();
    ok_abt(ABT_timer_get_overhead(&overhead));
    ok(overhead >= 0.0, "overhead %g", overhead);
    return done_testing();
}

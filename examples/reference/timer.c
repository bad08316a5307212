/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I measure time? By a timer that is started and stopped, or by two readings of the clock.
 *
 *   cc timer.c $(pkg-config --cflags --libs argobots) -o timer
 */
#include <abt.h>
#include <stdio.h>

enum { ROUNDS = 3 };

int main(int argc, char **argv)
{
    ABT_timer timer, kept;
    double one, same, again, total = 0, begin, whole;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_timer_create(&timer);
    begin = ABT_get_wtime();
    ABT_timer_start(timer);
    ABTX_self_sleep(10000000);
    ABT_timer_stop(timer);
    ABT_timer_read(timer, &one);

    /* A copy keeps the times, and the timer can be used for the next thing. */
    ABT_timer_dup(timer, &kept);
    ABT_timer_start(timer);
    ABT_timer_stop_and_read(timer, &again); /* stop and read in one call */
    ABT_timer_read(kept, &same);

    /* The time of a part of a loop: each round is added to the sum. */
    for (int i = 0; i < ROUNDS; i++) {
        ABT_timer_start(timer);
        ABTX_self_sleep(10000000);
        ABT_timer_stop_and_add(timer, &total);
    }
    whole = ABT_get_wtime() - begin;
    printf("a sleep %.4f s, by the copy %.4f s; nothing %.7f s; %d sleeps %.4f s; in all %.4f s\n", one, same, again,
           ROUNDS, total, whole);
    ABT_timer_free(&kept);
    ABT_timer_free(&timer);
    ABT_finalize();
    return one <= 0 || same != one || again < 0 || total <= 0;
}

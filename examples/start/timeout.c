/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I wait only for some time? Functions with "timedwait" in their names have a deadline; a unit sleeps by
 * ABTX_self_sleep, and its stream runs others meanwhile.
 *
 *   cc timeout.c $(pkg-config --cflags --libs argobots) -o timeout
 */
#include <abt.h>
#include <stdio.h>
#include <time.h>

enum { WORKERS = 2 };

static ABT_eventual answers[WORKERS];

static struct timespec in_milliseconds(long milliseconds)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += (time.tv_nsec + milliseconds * 1000000) / 1000000000;
    time.tv_nsec = (time.tv_nsec + milliseconds * 1000000) % 1000000000;
    return time;
}

static void slow(void *arg)
{
    ABTX_self_sleep(arg == &answers[0] ? 200000000 : 50000000);
    ABT_eventual_set(*(ABT_eventual *)arg, NULL, 0);
}

int main(int argc, char **argv)
{
    struct timespec deadline;
    ABT_pool pool;
    int too_late, first, code;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i < WORKERS; i++) {
        ABT_eventual_create(0, &answers[i]);
        ABT_thread_create(pool, slow, &answers[i], ABT_THREAD_ATTR_NULL, NULL);
    }
    deadline = in_milliseconds(10);
    too_late = ABT_eventual_timedwait(answers[0], NULL, &deadline);
    printf("after 10 ms: %s\n", too_late == ABT_ERR_COND_TIMEDOUT ? "the time is over" : "an answer");
    code = ABTX_eventual_wait_any_until(WORKERS, answers, &first, ABTX_after(10000000000)); /* 10 s, in nanoseconds */
    printf("the first answer: that of worker %d\n", first);
    for (int i = 0; i < WORKERS; i++) {
        ABT_eventual_wait(answers[i], NULL); /* nobody may free what others still set */
        ABT_eventual_free(&answers[i]);
    }
    ABT_finalize();
    return code != ABT_SUCCESS || too_late != ABT_ERR_COND_TIMEDOUT;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: ULTs of two streams add to a variable without a mutex
 * flags: -fsanitize=thread -g
 * exit: nonzero
 * says: ThreadSanitizer: data race
 * says: adds_up
 * says: Previous (write|read)
 * says: adds_up
 */
#include <abt.h>
#include <stdio.h>

static int sum;

static void adds_up(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++)
        sum++;
}

int main(void)
{
    ABT_xstream streams[2];
    ABT_thread threads[2];

    ABT_init(0, NULL);
    for (int i = 0; i < 2; i++)
        ABT_xstream_create(ABT_SCHED_NULL, &streams[i]);
    for (int i = 0; i < 2; i++)
        ABT_thread_create_on_xstream(streams[i], adds_up, NULL, ABT_THREAD_ATTR_NULL, &threads[i]);
    for (int i = 0; i < 2; i++)
        ABT_thread_free(&threads[i]);
    for (int i = 0; i < 2; i++)
        ABT_xstream_free(&streams[i]);
    printf("%d\n", sum);
    ABT_finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I gather several values? By a future with a compartment for each of them. It is ready when all are set; a
 * callback gets them all, in the call that sets the last one.
 *
 *   cc future.c $(pkg-config --cflags --libs argobots) -o future
 */
#include <abt.h>
#include <stdio.h>

enum { PARTS = 4, ROUNDS = 2 };

static ABT_future sums;
static long total;

struct part {
    int begin, end;
    long sum;
};

static void adds(void *arg)
{
    struct part *part = arg;
    part->sum = 0;
    for (int i = part->begin; i < part->end; i++)
        part->sum += i;
    ABT_future_set(sums, part); /* a pointer, which is not followed */
}

/* The values stand in the order in which they were set. */
static void add_up(void **values)
{
    for (int i = 0; i < PARTS; i++)
        total += ((struct part *)values[i])->sum;
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_bool before, after;
    struct part parts[PARTS];
    long expected = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_future_create(PARTS, add_up, &sums);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PARTS; i++) {
            parts[i].begin = i * 100;
            parts[i].end = (i + 1) * 100;
            ABT_thread_create(pool, adds, &parts[i], ABT_THREAD_ATTR_NULL, NULL);
        }
        ABT_future_test(sums, &before);
        ABT_future_wait(sums);
        ABT_future_test(sums, &after);
        ABT_future_reset(sums); /* nobody waits: it forgets its values and is used again */
        expected += 100 * PARTS * (100 * PARTS - 1) / 2;
        printf("ready before %d, after %d; total %ld of %ld\n", before, after, total, expected);
    }
    ABT_future_free(&sums);
    ABT_finalize();
    return total != expected || before || !after;
}

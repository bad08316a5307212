/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I run some different functions side by side? By abtx_invoke, which calls them all and returns when they have
 * returned. It may be called from anywhere, also by a thread that is not of the library: that runs them itself.
 *
 *   cc fork_invoke.c $(pkg-config --cflags --libs argobots) -o fork_invoke
 */
#include <abt_fork.h>
#include <stdio.h>

enum { STREAMS = 2, NUMBERS = 100000 };

static int numbers[NUMBERS];

struct facts {
    long sum;
    int least, most;
};

static void finds_sum(void *arg)
{
    struct facts *facts = arg;
    for (int i = 0; i < NUMBERS; i++)
        facts->sum += numbers[i];
}

static void finds_least(void *arg)
{
    struct facts *facts = arg;
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i] < facts->least)
            facts->least = numbers[i];
}

static void finds_most(void *arg)
{
    struct facts *facts = arg;
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i] > facts->most)
            facts->most = numbers[i];
}

static int look(void)
{
    struct facts facts = {0, NUMBERS, 0};
    void (*const functions[])(void *) = {finds_sum, finds_least, finds_most};
    void *const args[] = {&facts, &facts, &facts};
    abtx_invoke(3, functions, args);
    printf("sum %ld, least %d, most %d\n", facts.sum, facts.least, facts.most);
    return facts.sum == (long)NUMBERS * (NUMBERS + 1) / 2 && facts.least == 1 && facts.most == NUMBERS;
}

int main(int argc, char **argv)
{
    ABT_xstream streams[STREAMS];
    int with_streams, after_stop;

    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i + 1;
    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&streams[0]);
    ABT_xstream_create(ABT_SCHED_NULL, &streams[1]);
    ABTX_fork_start(STREAMS, streams); /* these take what is forked, when they have nothing else to run */
    with_streams = look();
    ABTX_fork_stop(); /* nobody takes any more; all is done by the caller */
    after_stop = look();
    ABT_xstream_free(&streams[1]);
    ABT_finalize();
    return !with_streams || !after_stop;
}

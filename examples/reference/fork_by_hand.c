/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What are the macros of fork and join made of? Of three functions, for compilers and for other languages. A task lies
 * in the frame of its forker, in front of its arguments; where the forker stands is passed from function to function.
 *
 *   cc fork_by_hand.c $(pkg-config --cflags --libs argobots) -o fork_by_hand
 */
#include <abt_fork.h>
#include <stdio.h>

enum { STREAMS = 2, NUMBERS = 1 << 16, SMALL = 256 };

static int numbers[NUMBERS];

struct sum_task {
    struct abtx_task task; /* first of all */
    int begin, end;
    long sum;
};

static long add(int begin, int end)
{
    long sum = 0;
    for (int i = begin; i < end; i++)
        sum += numbers[i];
    return sum;
}

static void run_inline(abtx_at here, struct abtx_task *task);
static void run_by_calls(abtx_at here, struct abtx_task *task);

static long sum_inline(abtx_at here, int begin, int end)
{
    int middle = begin + (end - begin) / 2;
    struct sum_task right = {.begin = middle, .end = end};
    long left;
    /* A hint: would a stream take a task at once? If not, it is not worth one. */
    if (end - begin <= SMALL || (end - begin <= 64 * SMALL && !abtx_is_wanted(here)))
        return add(begin, end);
    left = sum_inline(abtx_fork(here, &right.task, run_inline), begin, middle);
    if (abtx_join(here)) /* nobody has taken it: it is ours to run, as a call */
        right.sum = sum_inline(here, middle, end);
    return left + right.sum;
}

static void run_inline(abtx_at here, struct abtx_task *task)
{
    struct sum_task *t = (struct sum_task *)task;
    t->sum = sum_inline(here, t->begin, t->end);
}

/* The same for a language that cannot use inline functions of C: fork and join are calls, and cost as much. */
static long sum_by_calls(abtx_at here, int begin, int end)
{
    int middle = begin + (end - begin) / 2;
    struct sum_task right = {.begin = middle, .end = end};
    long left;
    if (end - begin <= SMALL)
        return add(begin, end);
    right.task.run = run_by_calls;
    *here = &right.task;
    left = sum_by_calls(ABTX_fork_slow(here, &right.task), begin, middle);
    if (ABTX_fork_join_slow(here))
        right.sum = sum_by_calls(here, middle, end);
    return left + right.sum;
}

static void run_by_calls(abtx_at here, struct abtx_task *task)
{
    struct sum_task *t = (struct sum_task *)task;
    t->sum = sum_by_calls(here, t->begin, t->end);
}

int main(int argc, char **argv)
{
    ABT_xstream streams[STREAMS];
    struct abtx_region region;
    abtx_at here;
    long one, two;

    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i % 100;
    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&streams[0]);
    ABT_xstream_create(ABT_SCHED_NULL, &streams[1]);
    ABTX_fork_start(STREAMS, streams);
    here = ABTX_fork_enter(&region); /* between enter and leave this function may fork */
    one = sum_inline(here, 0, NUMBERS);
    two = sum_by_calls(here, 0, NUMBERS);
    ABTX_fork_leave(&region);
    ABT_xstream_free(&streams[1]);
    ABT_finalize();
    printf("%ld, %ld\n", one, two);
    return one != add(0, NUMBERS) || two != one;
}

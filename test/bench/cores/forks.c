/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works of abt_fork.h on many streams, for the simulator (test/tools/cores.c; maint/bench --cores):
 *
 *   forks WORK STREAMS SIZE
 *
 * It prints nanoseconds of one operation: a call of fork-fib, a node of fork-tree and fork-wide, an iteration of
 * fork-for.
 */
#include <abt.h>
#include <abt_fork.h>
#include <string.h>
#include "marks.h"

enum { MAX_STREAMS = 256, GRAIN = 1000 };

static ABT_xstream streams[MAX_STREAMS];
static _Atomic(unsigned long) sink;

ABTX_TASK(long, fib, (int, n))
{
    if (n < 2)
        return 1;
    ABTX_FORK(fib, one, n - 1);
    long other = ABTX_CALL(fib, n - 2);
    return ABTX_JOIN(fib, one) + other + 1;
}

/* A tree whose branches differ in size, as the seed has it: the root has many nodes below it. */
static unsigned num_children(unsigned seed, int depth)
{
    return depth == 0 ? 0 : depth > 6 ? 4 : (seed >> 7) % 5;
}

static unsigned seed_of_child(unsigned seed, unsigned i)
{
    return seed * 1664525U + 1013904223U * (i + 1);
}

/*
 * Only the first child runs beside the others, which come one after the other: no number of streams does more than some
 * twenty nodes at a time.
 */
ABTX_TASK(long, tree, (unsigned, seed), (int, depth))
{
    unsigned children = num_children(seed, depth);
    long nodes = 1;
    if (children == 0)
        return nodes;
    ABTX_FORK(tree, first, seed_of_child(seed, 0), depth - 1);
    for (unsigned i = 1; i < children; i++)
        nodes += ABTX_CALL(tree, seed_of_child(seed, i), depth - 1);
    return nodes + ABTX_JOIN(tree, first);
}

/* The children from the first-th on, each beside those behind it. */
ABTX_TASK_DECLARE(long, wide, (unsigned, seed), (int, depth), (unsigned, first));

ABTX_TASK_DEFINE(long, wide, (unsigned, seed), (int, depth), (unsigned, first))
{
    unsigned children = num_children(seed, depth);
    if (first >= children)
        return 0;
    ABTX_FORK(wide, rest, seed, depth, first + 1);
    long nodes = 1 + ABTX_CALL(wide, seed_of_child(seed, first), depth - 1, 0U);
    return nodes + ABTX_JOIN(wide, rest);
}

static void iterate(ptrdiff_t from, ptrdiff_t to, void *arg)
{
    unsigned long sum = 0;
    for (ptrdiff_t i = from; i < to; i++)
        sum = (sum ^ (unsigned long)i) * 3;
    if (sum == 1)
        sink = sum;
}

static double call_fib(int size)
{
    return (double)ABTX_RUN(fib, size);
}

static double call_tree(int size)
{
    return (double)ABTX_RUN(tree, 12345U, size);
}

static double call_wide(int size)
{
    return 1 + (double)ABTX_RUN(wide, 12345U, size, 0U);
}

static double call_for(int size)
{
    abtx_for(0, size, GRAIN, iterate, NULL);
    return size;
}

static const struct {
    const char *name;
    double (*call)(int size); /* returns how many operations it was */
} works[] = {{"fork-fib", call_fib}, {"fork-tree", call_tree}, {"fork-wide", call_wide}, {"fork-for", call_for}};

int main(int argc, char **argv)
{
    double (*call)(int) = NULL;
    for (size_t i = 0; argc == 4 && i < sizeof(works) / sizeof(works[0]); i++)
        call = strcmp(works[i].name, argv[1]) == 0 ? works[i].call : call;
    int num = argc == 4 ? atoi(argv[2]) : 0, size = argc == 4 ? atoi(argv[3]) : 0;
    if (!call || num < 1 || num > MAX_STREAMS)
        return 2;
    ABT_init(0, NULL);
    ABT_xstream_self(&streams[0]);
    for (int i = 1; i < num; i++)
        ABT_xstream_create(ABT_SCHED_NULL, &streams[i]);
    ABTX_fork_start(num, streams);
    call(size);
    begin();
    double operations = call(size);
    end(argv[1], num, operations);
    for (int i = 1; i < num; i++)
        ABT_xstream_free(&streams[i]);
    return ABT_finalize() == ABT_SUCCESS ? 0 : 1;
}

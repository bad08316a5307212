/* SPDX-License-Identifier: BSD-3-Clause */
/* Fork and join: abt_fork.h. */
#include "abt_fork.h"
#include "world.h"

ABTX_TASK(long, fib, (int, n))
{
    if (n < 2)
        return n;
    ABTX_FORK(fib, one, n - 1);
    long two = ABTX_CALL(fib, n - 2);
    if (n % 5 == 0)
        ABT_thread_yield();
    return ABTX_JOIN(fib, one) + two;
}

static void fib_take(struct actor *actor)
{
    static const long answers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
    int n = (int)dice(actor, 13);

    expect(ABTX_RUN(fib, n) == answers[n]);
}

static void loop_body(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    atomic_fetch_add((atomic_long *)arg, end - begin);
}

/* Loops in loops. */
static void outer_body(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    for (ptrdiff_t i = begin; i < end; i++)
        abtx_for(0, i, 3, loop_body, arg);
}

static void loop_take(struct actor *actor)
{
    atomic_long sum = 0;
    int first = -(int)dice(actor, 10), last = (int)dice(actor, 300);

    abtx_for(first, last, 1 + (int)dice(actor, 20), loop_body, &sum);
    expect(atomic_load(&sum) == last - first);
    atomic_store(&sum, 0);
    abtx_for(0, 20, 1, outer_body, &sum);
    expect(atomic_load(&sum) == 190);
}

static void add_one(void *arg)
{
    atomic_fetch_add((atomic_long *)arg, 1);
}

static void invoke_take(struct actor *actor)
{
    enum { MAX = 8 };
    atomic_long sum = 0;
    void (*funcs[MAX])(void *);
    void *args[MAX];
    int num = 1 + (int)dice(actor, MAX);

    for (int i = 0; i < num; i++) {
        funcs[i] = add_one;
        args[i] = &sum;
    }
    abtx_invoke(num, funcs, args);
    expect(atomic_load(&sum) == num);
}

const struct step fork_steps[] = {
    {"fib", fib_take, 0},
    {"loop", loop_take, 0},
    {"invoke", invoke_take, 0},
    {NULL, NULL, 0},
};

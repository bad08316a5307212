/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A long row of units that end by ABT_self_exit, each on the stack that the one before has left: what a unit leaves
 * behind on a stack, or on a sanitizer's shadow of it, must not add up.
 */
#include "regress.h"

static void down(int depth)
{
    volatile char frame[64];

    frame[0] = (char)depth;
    if (depth > 0)
        down(depth - 1);
    else
        ABT_self_exit();
    frame[1] = frame[0];
}

static void go(void *arg)
{
    down((int)(intptr_t)arg);
}

int main(void)
{
    enum { ROUNDS = 2000, UNITS = 20 };
    ABT_thread units[UNITS];

    regress_begin();
    must(ABT_init(0, NULL));
    ABT_pool pool = main_pool();
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < UNITS; j++)
            must(ABT_thread_create(pool, go, (void *)(intptr_t)(j % 10), ABT_THREAD_ATTR_NULL, &units[j]));
        must(ABT_thread_free_many(UNITS, units));
    }
    pass("%d units have ended by exit", ROUNDS * UNITS);
    must(ABT_finalize());
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A pool is freed as soon as its last unit has ended, while the external thread that resumed it is still on its way. */
#ifndef TEST_REGRESS_RESUMER_H
#define TEST_REGRESS_RESUMER_H

#include "regress.h"

static _Atomic(ABT_thread) sleeper;
static atomic_bool stop;

/* The external thread. */
static void *resume_each(void *arg)
{
    while (!atomic_load(&stop)) {
        ABT_thread thread = atomic_exchange(&sleeper, NULL);
        if (thread)
            must(ABT_thread_resume(thread));
    }
    return arg;
}

/* Runs the pool's only unit, which suspends itself, has it resumed, runs it to its end and frees both. */
static void free_after_resume(ABT_pool pool, ABT_thread thread)
{
    ABT_thread popped;

    must(ABT_pool_pop_thread(pool, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    atomic_store(&sleeper, thread);
    do {
        must(ABT_pool_pop_thread(pool, &popped));
    } while (popped == ABT_THREAD_NULL);
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_thread_free(&thread));
    must(ABT_pool_free(&pool));
}

/* For a second. make_pool_with makes a pool of the kind, and a ULT in it that suspends itself. */
static int free_pools(ABT_pool (*make_pool_with)(ABT_thread *thread))
{
    pthread_t native;
    long rounds = 0;

    regress_begin();
    must(ABT_init(0, NULL));
    must(pthread_create(&native, NULL, resume_each, NULL));
    for (double end = now() + 1; now() < end; rounds++) {
        ABT_thread thread;
        ABT_pool pool = make_pool_with(&thread);
        free_after_resume(pool, thread);
    }
    atomic_store(&stop, true);
    pthread_join(native, NULL);
    pass("%ld pools freed", rounds);
    must(ABT_finalize());
    return done_testing();
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A RANDWS pool is freed as soon as its last unit has ended, while the external thread that offered that unit to the
 * stream which is busy with the pool is still on its way back. (It looked at the pool, and wrote there, when the unit
 * had been accepted. AddressSanitizer sees it.)
 */
#include "regress.h"

enum { VISITS = 400 }; /* a stream that comes so often alone is the one that is busy with the pool */

static _Atomic(ABT_thread) sleeper;
static atomic_bool stop;

static void suspend(void *arg)
{
    (void)arg;
    must(ABT_self_suspend());
}

static void *resume_each(void *arg)
{
    while (!atomic_load(&stop)) {
        ABT_thread thread = atomic_exchange(&sleeper, NULL);
        if (thread)
            must(ABT_thread_resume(thread));
    }
    return arg;
}

static ABT_pool make_busy_pool(ABT_thread *thread)
{
    ABT_pool pool;
    ABT_thread popped;

    must(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    must(ABT_thread_create(pool, suspend, NULL, ABT_THREAD_ATTR_NULL, thread));
    for (int i = 0; i < VISITS; i++) {
        must(ABT_pool_pop_thread(pool, &popped));
        must(ABT_pool_push_thread(pool, popped));
    }
    return pool;
}

int main(void)
{
    pthread_t native;
    long rounds = 0;

    regress_begin();
    must(ABT_init(0, NULL));
    must(pthread_create(&native, NULL, resume_each, NULL));
    for (double end = now() + 1; now() < end; rounds++) {
        ABT_thread thread, popped;
        ABT_pool pool = make_busy_pool(&thread);
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
    atomic_store(&stop, true);
    pthread_join(native, NULL);
    pass("%ld pools freed", rounds);
    must(ABT_finalize());
    return done_testing();
}

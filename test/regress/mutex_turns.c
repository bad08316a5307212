/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ULTs of one stream take a mutex again and again and yield while they have it. A third one, which only yields, is
 * always ready, so that the one that was woken is never the next to run when the other wants the mutex anew. Both get
 * it.
 */
#include "regress.h"

enum { ENOUGH = 1000, TOO_MANY = 100 * ENOUGH };

static ABT_mutex mutex;
static long had[2];
static bool over;

static void use_often(void *arg)
{
    long *mine = arg;

    while (!over) {
        must(ABT_mutex_lock(mutex));
        must(ABT_thread_yield());
        ++*mine;
        over |= (had[0] >= ENOUGH && had[1] >= ENOUGH) || *mine >= TOO_MANY;
        must(ABT_mutex_unlock(mutex));
    }
}

static void only_yield(void *arg)
{
    while (!over)
        must(ABT_thread_yield());
}

int main(void)
{
    ABT_thread threads[3];
    ABT_xstream es;
    ABT_pool pool;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_mutex_create(&mutex));
    pool = make_pool(ABT_POOL_ACCESS_MPMC);
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(pool, use_often, &had[i], ABT_THREAD_ATTR_NULL, &threads[i]));
    must(ABT_thread_create(pool, only_yield, NULL, ABT_THREAD_ATTR_NULL, &threads[2]));
    es = make_es(1, &pool);
    for (int i = 0; i < 3; i++)
        must(ABT_thread_free(&threads[i]));
    ok(had[0] >= ENOUGH && had[1] >= ENOUGH, "both have had it, %ld and %ld times", had[0], had[1]);
    must(ABT_xstream_free(&es));
    must(ABT_mutex_free(&mutex));
    ok_abt(ABT_finalize());
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large stacks that an external thread has freed go to their depot at the very end, and make it crowded: nobody may be
 * left to give back memory after ABT_finalize.
 */
#include "regress.h"

/* A stack in each magazine of a cache. */
enum { NUM = 2 };

static void *make_and_free(void *pool)
{
    ABT_thread threads[NUM];
    ABT_thread_attr attr;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 16 << 20));
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_create(pool, do_nothing, NULL, attr, &threads[i]));
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_free(&threads[i]));
    must(ABT_thread_attr_free(&attr));
    return NULL;
}

int main(void)
{
    ABT_pool pool;
    pthread_t external;

    must(ABT_init(0, NULL));
    ABT_xstream es = new_xstream();
    must(ABT_xstream_get_main_pools(es, 1, &pool));
    must(pthread_create(&external, NULL, make_and_free, pool));
    must(pthread_join(external, NULL));
    must(ABT_xstream_free(&es));
    must(ABT_finalize());
    usleep(300000); /* it would look after 100 ms */
    pass("it is over");
    return done_testing();
}

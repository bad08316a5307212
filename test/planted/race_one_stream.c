/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: two ULTs of one stream write a variable, and nothing orders them
 * flags: -fsanitize=thread -g
 * exit: nonzero
 * says: ThreadSanitizer: data race
 * says: adds_one
 * says: Previous (write|read)
 * says: adds_one
 */
#include <abt.h>
#include <stdio.h>

static int counter;

static void adds_one(void *unused)
{
    (void)unused;
    int before = counter;
    ABT_thread_yield();
    counter = before + 1;
}

int main(void)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread threads[2];

    ABT_init(0, NULL);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    for (int i = 0; i < 2; i++)
        ABT_thread_create(pool, adds_one, NULL, ABT_THREAD_ATTR_NULL, &threads[i]);
    for (int i = 0; i < 2; i++)
        ABT_thread_free(&threads[i]);
    printf("%d\n", counter);
    ABT_finalize();
    return 0;
}

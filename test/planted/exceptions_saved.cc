/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: none: ULTs that yield inside of handlers each throw on their own exception
 * exit: 0
 * says: 100 of 100
 */
#include <abt.h>
#include <cstdio>

static int own;

static void rethrows(void *number)
{
    try {
        try {
            throw number;
        } catch (void *) {
            ABT_thread_yield();
            throw;
        }
    } catch (void *caught) {
        own += caught == number;
    }
}

int main()
{
    static char numbers[100];
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread threads[100];

    ABT_init(0, NULL);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    for (int i = 0; i < 100; i++)
        ABT_thread_create(pool, rethrows, &numbers[i], ABT_THREAD_ATTR_NULL, &threads[i]);
    for (int i = 0; i < 100; i++)
        ABT_thread_free(&threads[i]);
    std::printf("%d of 100\n", own);
    ABT_finalize();
    return 0;
}

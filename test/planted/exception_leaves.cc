/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: an exception leaves the function of a ULT, whose joiner would catch it
 * flags: -g -rdynamic
 * exit: nonzero
 * says: libabt: an exception leaves the function of ULT [0-9]+: careless
 * says: what\(\): +nobody wants me
 */
#include <abt.h>
#include <cstdio>
#include <stdexcept>

void careless(void *)
{
    throw std::runtime_error("nobody wants me");
}

int main()
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread thread;

    ABT_init(0, NULL);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread_create(pool, careless, NULL, ABT_THREAD_ATTR_NULL, &thread);
    try {
        ABT_thread_free(&thread);
    } catch (const std::exception &) {
        std::puts("caught by another unit");
    }
    ABT_finalize();
    return 0;
}

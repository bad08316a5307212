/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A ULT is created without a function.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: ABT_thread_create: the function of a new unit is NULL \(created by the primary ULT\)
 */
#include <abt.h>

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    ABT_xstream xstream;
    ABT_pool pool;
    ABT_xstream_self(&xstream);
    ABT_xstream_get_main_pools(xstream, 1, &pool);
    ABT_thread_create(pool, NULL, NULL, ABT_THREAD_ATTR_NULL, NULL);
    return ABT_finalize();
}

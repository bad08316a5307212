/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: an exception leaves the function of a tasklet
 * flags: -g -rdynamic
 * exit: nonzero
 * says: libabt: an exception leaves the function of tasklet [0-9]+: careless
 * says: terminate called
 */
#include <abt.h>

void careless(void *)
{
    throw 42;
}

int main()
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_task task;

    ABT_init(0, NULL);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_task_create(pool, careless, NULL, &task);
    ABT_task_free(&task);
    ABT_finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Valid in C89 and in C++: what each way to build a program against libabt builds. */
#include <abt.h>

static int answer = 0;

static void hello(void *arg)
{
    answer = *(int *)arg;
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread unit;
    int number = 42;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_thread_create(pool, hello, &number, ABT_THREAD_ATTR_NULL, &unit);
    ABT_thread_free(&unit);
    ABT_finalize();
    return answer != 42;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: a ULT looks at a variable of a function that has returned
 * run: ASAN_OPTIONS=detect_stack_use_after_return=1:detect_leaks=0
 * flags: -fsanitize=address -g
 * exit: nonzero
 * says: AddressSanitizer: stack-use-after-return
 * says: looks_back
 */
#include <abt.h>
#include <stdio.h>

static volatile int *kept;

static __attribute__((noinline)) void keeps_address(void)
{
    volatile int variable = 7;
    kept = &variable;
}

static void looks_back(void *unused)
{
    (void)unused;
    keeps_address();
    ABT_thread_yield();
    printf("%d\n", *kept);
}

int main(void)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread thread;

    ABT_init(0, NULL);
    ABT_xstream_self(&stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread_create(pool, looks_back, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    ABT_finalize();
    return 0;
}

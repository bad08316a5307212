/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: An eventual is freed while a ULT waits for it.
 * run: ABT_CHECK=abort
 * exit: nonzero
 * says: libabt: ABT_eventual_free: eventual 0x[0-9a-f]+ \(created by the primary ULT\) is waited for by ULT
 * 0x[0-9a-f]+ of .*waits
 */
#include <abt.h>

static void waits(void *eventual)
{
    ABT_eventual_wait(eventual, NULL);
}

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    ABT_xstream xstream;
    ABT_xstream_self(&xstream);
    ABT_eventual eventual;
    ABT_eventual_create(0, &eventual);
    ABT_thread thread;
    ABT_thread_create_on_xstream(xstream, waits, eventual, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_yield();
    ABT_eventual_free(&eventual);
    ABT_thread_free(&thread);
    return ABT_finalize();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A ULT that runs frees itself, by the handle that its creator has.
 * run: ABT_CHECK=abort
 * exit: nonzero
 * says: libabt: ABT_thread_free: ULT 0x[0-9a-f]+ of .* \(created by the primary ULT\) is the caller
 */
#include <abt.h>

static void frees_itself(void *arg)
{
    ABT_thread_free(arg);
}

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    ABT_xstream xstream;
    ABT_xstream_self(&xstream);
    static ABT_thread thread;
    ABT_thread_create_on_xstream(xstream, frees_itself, &thread, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_join(thread);
    return ABT_finalize();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A ULT is freed twice, by two copies of its handle.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: ABT_thread_free: ULT 0x[0-9a-f]+ of .* \(created by the primary ULT\) has been freed
 */
#include <abt.h>

static void work(void *arg)
{
    (void)arg;
}

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    ABT_xstream xstream;
    ABT_xstream_self(&xstream);
    ABT_thread thread, copy;
    ABT_thread_create_on_xstream(xstream, work, NULL, ABT_THREAD_ATTR_NULL, &thread);
    copy = thread;
    ABT_thread_free(&thread);
    ABT_thread_free(&copy);
    return ABT_finalize();
}

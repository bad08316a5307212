/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A ULT is joined, and an eventual set, after they have been freed.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: ABT_thread_join: ULT 0x[0-9a-f]+ of .* \(created by the primary ULT\) has been freed
 * says: libabt: ABT_eventual_set: eventual 0x[0-9a-f]+ \(created by the primary ULT\) has been freed by the primary ULT
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
    ABT_thread_join(copy);
    ABT_eventual eventual, late;
    ABT_eventual_create(0, &eventual);
    late = eventual;
    ABT_eventual_free(&eventual);
    ABT_eventual_set(late, NULL, 0);
    return ABT_finalize();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A ULT joins itself.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: ABT_thread_join: ULT 0x[0-9a-f]+ of .* \(created by the primary ULT\) is the caller
 */
#include <abt.h>

static void joins_itself(void *arg)
{
    (void)arg;
    ABT_thread self;
    ABT_self_get_thread(&self);
    ABT_thread_join(self);
}

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    ABT_xstream xstream;
    ABT_xstream_self(&xstream);
    ABT_thread thread;
    ABT_thread_create_on_xstream(xstream, joins_itself, NULL, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    return ABT_finalize();
}

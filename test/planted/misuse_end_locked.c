/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A ULT returns without an unlock of the mutex that it has locked.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: the end of ULT 0x[0-9a-f]+ of .* \(created by the primary ULT\): it has mutex 0x[0-9a-f]+ \(created by
 * the primary ULT\) locked
 */
#include <abt.h>

static void forgets(void *mutex)
{
    ABT_mutex_lock(mutex);
}

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    ABT_xstream xstream;
    ABT_xstream_self(&xstream);
    ABT_mutex mutex;
    ABT_mutex_create(&mutex);
    ABT_thread thread;
    ABT_thread_create_on_xstream(xstream, forgets, mutex, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    return ABT_finalize();
}

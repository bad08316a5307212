/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A ULT locks a mutex that it has locked, and which is not recursive.
 * run: ABT_CHECK=abort
 * exit: nonzero
 * says: libabt: ABT_mutex_lock: mutex 0x[0-9a-f]+ \(created by the primary ULT\) is locked by the caller, and is not
 * recursive
 */
#include <abt.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    alarm(10); /* for a library that does not find it */
    ABT_init(argc, argv);
    ABT_mutex mutex;
    ABT_mutex_create(&mutex);
    ABT_mutex_lock(mutex);
    ABT_mutex_lock(mutex);
    return ABT_finalize();
}

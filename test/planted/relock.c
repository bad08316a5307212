/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: a ULT locks a mutex that it holds already, and that is not recursive
 * run: ABT_DEADLOCK_CHECK=abort
 * exit: nonzero
 * says: deadlock
 * says: primary ULT [0-9]+ waits for mutex 0x[0-9a-f]+ held by itself
 */
#include <abt.h>

int main(int argc, char **argv)
{
    ABT_mutex mutex;
    ABT_init(argc, argv);
    ABT_mutex_create(&mutex);
    ABT_mutex_lock(mutex);
    ABT_mutex_lock(mutex);
    return ABT_finalize();
}

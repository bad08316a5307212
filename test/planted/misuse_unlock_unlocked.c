/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A mutex is unlocked that nobody has locked.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: ABT_mutex_unlock: mutex 0x[0-9a-f]+ \(created by the primary ULT\) is not locked
 */
#include <abt.h>

int main(int argc, char **argv)
{
    ABT_init(argc, argv);
    ABT_mutex mutex;
    ABT_mutex_create(&mutex);
    ABT_mutex_lock(mutex);
    ABT_mutex_unlock(mutex);
    ABT_mutex_unlock(mutex);
    ABT_mutex_free(&mutex);
    return ABT_finalize();
}

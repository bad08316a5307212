/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: A condition is waited for without its mutex.
 * run: ABT_CHECK=1
 * exit: 0
 * says: libabt: ABT_cond_wait: mutex 0x[0-9a-f]+ \(created by the primary ULT\) is not locked
 */
#include <abt.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    alarm(10); /* for a library that does not find it */
    ABT_init(argc, argv);
    ABT_mutex mutex;
    ABT_cond cond;
    ABT_mutex_create(&mutex);
    ABT_cond_create(&cond);
    ABT_cond_wait(cond, mutex);
    return ABT_finalize();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: ULTs are created in a pool that no scheduler takes units out of
 * run: ABT_WATCHDOG=300
 * exit: 0
 * says: watchdog: ULT .*\(work.* has been ready for [0-9]+ ms in pool [0-9]+ and was not run
 * says: no scheduler takes units out of pool
 */
#include <abt.h>
#include <time.h>
#include <unistd.h>

enum { NUM = 5 };

void work(void *arg)
{
    (void)arg;
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread threads[NUM];
    ABT_init(argc, argv);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool);
    for (int i = 0; i < NUM; i++)
        ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, &threads[i]);
    for (time_t end = time(NULL) + 3; time(NULL) < end;) /* instead of joining them, which would last for ever */
        sleep(1);
    _exit(0);
}

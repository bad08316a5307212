/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: a ULT that does not yield keeps its stream, and those behind it never run
 * run: ABT_DUMP_SIGNAL=USR1
 * exit: 0
 * says: execution stream 1 has not checked its events in time, it is held up by
 * says: ULT 0x[0-9a-f]+( \(id [0-9]+\))?: RUNNING, function 0x[0-9a-f]+ simulate\+0x0
 * says: ULT 0x[0-9a-f]+( \(id [0-9]+\))?: READY, function 0x[0-9a-f]+ raise_flag\+0x0
 */
#include <abt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_bool flag;

void simulate(void *arg)
{
    (void)arg;
    while (!atomic_load(&flag))
        continue;
}

/* It stands behind the one that waits for it. */
void raise_flag(void *arg)
{
    (void)arg;
    atomic_store(&flag, true);
}

int main(void)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread threads[2];

    ABT_init(0, NULL);
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread_create(pool, simulate, NULL, ABT_THREAD_ATTR_NULL, &threads[0]);
    ABT_thread_create(pool, raise_flag, NULL, ABT_THREAD_ATTR_NULL, &threads[1]);
    usleep(100 * 1000);
    raise(SIGUSR1);
    for (int i = 0; i < 30; i++) /* a signal ends a sleep */
        usleep(100 * 1000);
    atomic_store(&flag, true);
    ABT_thread_free(&threads[0]);
    ABT_thread_free(&threads[1]);
    ABT_xstream_free(&stream);
    ABT_finalize();
    return EXIT_SUCCESS;
}

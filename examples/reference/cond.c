/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I wait for a condition that several units change? By a condition variable: signal wakes one waiter, broadcast
 * all of them, and a timed wait ends at a deadline.
 *
 *   cc cond.c $(pkg-config --cflags --libs argobots) -o cond
 */
#include <abt.h>
#include <stdio.h>
#include <time.h>

enum { RUNNERS = 3 };

static ABT_mutex_memory mutex_memory = ABT_MUTEX_INITIALIZER;
static ABT_cond_memory cond_memory = ABT_COND_INITIALIZER;
static int ready, running; /* both under the mutex */
static ABT_bool started;

static void runner(void *arg)
{
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex_memory);
    ABT_cond start_cond = ABT_COND_MEMORY_GET_HANDLE(&cond_memory);
    ABT_cond ready_cond = *(ABT_cond *)arg;
    ABT_mutex_lock(mutex);
    ready++;
    ABT_cond_signal(ready_cond); /* there is one waiter: main */
    while (!started)             /* the condition is looked at under the mutex, before and after each wait */
        ABT_cond_wait(start_cond, mutex);
    running++;
    ABT_mutex_unlock(mutex);
}

int main(int argc, char **argv)
{
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex_memory);
    ABT_cond ready_cond;
    ABT_pool pool;
    ABT_thread units[RUNNERS];
    struct timespec deadline;
    int code = ABT_SUCCESS;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_cond_create(&ready_cond);
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i < RUNNERS; i++)
        ABT_thread_create(pool, runner, &ready_cond, ABT_THREAD_ATTR_NULL, &units[i]);

    ABT_mutex_lock(mutex);
    while (ready < RUNNERS)
        ABT_cond_wait(ready_cond, mutex);
    /* A fourth runner does not come. The deadline is a point in time on CLOCK_REALTIME, as of pthreads. */
    deadline.tv_sec = (time_t)ABT_get_wtime() + 1;
    deadline.tv_nsec = 0;
    while (ready < RUNNERS + 1 && code != ABT_ERR_COND_TIMEDOUT)
        code = ABT_cond_timedwait(ready_cond, mutex, &deadline);
    printf("%d runners are ready, %s\n", ready, code == ABT_ERR_COND_TIMEDOUT ? "the time is over" : "all are there");
    started = ABT_TRUE;
    ABT_cond_broadcast(ABT_COND_MEMORY_GET_HANDLE(&cond_memory));
    ABT_mutex_unlock(mutex);

    for (int i = 0; i < RUNNERS; i++)
        ABT_thread_free(&units[i]);
    printf("one broadcast has started %d runners\n", running);
    ABT_cond_free(&ready_cond);
    ABT_finalize();
    return running != RUNNERS || code != ABT_ERR_COND_TIMEDOUT;
}

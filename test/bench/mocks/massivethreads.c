/* SPDX-License-Identifier: BSD-3-Clause */
#include <myth/myth.h>

#include <stdlib.h>
#include "mocks.h"

struct start {
    struct mock_thread thread;
    void *(*func)(void *);
    void *arg;
};

int myth_init(void)
{
    mock_start("MYTH_NUM_WORKERS");
    return 0;
}

void myth_fini(void)
{
    mock_stop();
}

static void begin(void *arg)
{
    struct start *start = arg;
    start->func(start->arg);
}

myth_thread_t myth_create(void *(*func)(void *), void *arg)
{
    struct start *start = malloc(sizeof(*start));
    if (!start)
        abort();
    start->func = func;
    start->arg = arg;
    mock_create(begin, start, &start->thread.ult);
    return &start->thread;
}

int myth_join(myth_thread_t thread, void **result)
{
    (void)result;
    ABT_thread_free(&thread->ult);
    free(thread);
    return 0;
}

void myth_yield(void)
{
    ABT_thread_yield();
}

int myth_mutex_init(myth_mutex_t *mutex, const void *attr)
{
    (void)attr;
    atomic_init(&mutex->held, 0);
    return 0;
}

int myth_mutex_lock(myth_mutex_t *mutex)
{
    mock_fault("crash");
    while (atomic_exchange(&mutex->held, 1))
        ABT_thread_yield();
    return 0;
}

int myth_mutex_unlock(myth_mutex_t *mutex)
{
    atomic_store(&mutex->held, 0);
    return 0;
}

int myth_cond_init(myth_cond_t *cond, const void *attr)
{
    (void)attr;
    cond->unused = 0;
    return 0;
}

/* Each wake-up is spurious: the caller looks again. */
int myth_cond_wait(myth_cond_t *cond, myth_mutex_t *mutex)
{
    (void)cond;
    myth_mutex_unlock(mutex);
    ABT_thread_yield();
    return myth_mutex_lock(mutex);
}

int myth_cond_signal(myth_cond_t *cond)
{
    (void)cond;
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <qthread/qthread.h>

#include <stdatomic.h>
#include <stdlib.h>
#include "mocks.h"

/* The program never looks at the value of a word, so that it can say whether the word is empty or locked. */
enum { FULL, LOCKED, EMPTY };

struct start {
    aligned_t (*func)(void *);
    void *arg;
    aligned_t *ended;
};

static _Atomic aligned_t *word(const aligned_t *address)
{
    return (_Atomic aligned_t *)address;
}

int qthread_initialize(void)
{
    const char *workers = getenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD");
    if (getenv("QT_HWPAR") || !workers || atoi(workers) != 1)
        abort();
    mock_start("QTHREAD_NUM_SHEPHERDS");
    return 0;
}

void qthread_finalize(void)
{
    mock_stop();
}

static void begin(void *arg)
{
    struct start start = *(struct start *)arg;
    free(arg);
    start.func(start.arg);
    qthread_fill(start.ended);
}

int qthread_fork(aligned_t (*func)(void *), const void *arg, aligned_t *ended)
{
    struct start *start = malloc(sizeof(*start));
    if (!start)
        return 1;
    *start = (struct start){func, (void *)arg, ended};
    qthread_empty(ended);
    mock_create(begin, start, NULL);
    return 0;
}

void qthread_yield(void)
{
    ABT_thread_yield();
}

int qthread_readFF(aligned_t *to, const aligned_t *from)
{
    (void)to;
    while (atomic_load(word(from)) == EMPTY)
        ABT_thread_yield();
    return 0;
}

int qthread_readFE(aligned_t *to, const aligned_t *from)
{
    aligned_t full = FULL;
    (void)to;
    while (!atomic_compare_exchange_strong(word(from), &full, EMPTY)) {
        full = FULL;
        ABT_thread_yield();
    }
    return 0;
}

int qthread_fill(const aligned_t *address)
{
    atomic_store(word(address), FULL);
    return 0;
}

int qthread_empty(const aligned_t *address)
{
    atomic_store(word(address), EMPTY);
    return 0;
}

int qthread_lock(const aligned_t *address)
{
    aligned_t unlocked = FULL;
    mock_fault("hang");
    while (!atomic_compare_exchange_strong(word(address), &unlocked, LOCKED)) {
        unlocked = FULL;
        ABT_thread_yield();
    }
    return 0;
}

int qthread_unlock(const aligned_t *address)
{
    atomic_store(word(address), FULL);
    return 0;
}

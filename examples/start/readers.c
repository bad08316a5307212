/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do many units read what few of them change? By a readers-writer lock.
 *
 *   cc readers.c $(pkg-config --cflags --libs argobots) -o readers
 */
#include <abt.h>
#include <stdio.h>

enum { READERS = 8, CHANGES = 100 };

static ABT_rwlock lock;
static int first, second; /* always the same, except while a writer holds the lock */
static int wrong;

static void reader(void *arg)
{
    int seen = 0;
    (void)arg;
    while (seen < CHANGES) {
        ABT_rwlock_rdlock(lock); /* several readers at a time, and a writer waits until there is none */
        seen = first;
        if (second != seen)
            wrong = 1;
        ABT_rwlock_unlock(lock);
        ABT_self_yield();
    }
}

static void writer(void *arg)
{
    (void)arg;
    for (int i = 0; i < CHANGES; i++) {
        ABT_rwlock_wrlock(lock); /* alone */
        first++;
        ABT_self_yield(); /* a lock may be held across a yield */
        second++;
        ABT_rwlock_unlock(lock);
    }
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread units[READERS + 1];

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_rwlock_create(&lock);
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i <= READERS; i++)
        ABT_thread_create(pool, i < READERS ? reader : writer, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
    for (int i = 0; i <= READERS; i++)
        ABT_thread_free(&units[i]);
    ABT_rwlock_free(&lock);
    ABT_finalize();
    printf("%d changes, all seen whole: %s\n", second, wrong ? "no" : "yes");
    return wrong;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I write a pool? Five functions: here a stack, so that the unit pushed last runs first. It has a lock, since
 * any thread may push.
 *
 *   cc lifo.c $(pkg-config --cflags --libs argobots) -o lifo
 */
#include <abt.h>
#include <pthread.h>
#include <stdio.h>

enum { ROOM = 64 };

static pthread_spinlock_t lock;
static ABT_thread units[ROOM];
static int count;

/* The unit of a work unit may be any value that is unique and has its two low bits clear: here the handle itself. */
static ABT_unit create_unit(ABT_pool pool, ABT_thread thread)
{
    (void)pool;
    return (ABT_unit)thread;
}

static void free_unit(ABT_pool pool, ABT_unit unit)
{
    (void)pool, (void)unit;
}

static ABT_bool is_empty(ABT_pool pool)
{
    (void)pool;
    pthread_spin_lock(&lock);
    ABT_bool empty = count == 0;
    pthread_spin_unlock(&lock);
    return empty;
}

static void push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    (void)pool, (void)context;
    pthread_spin_lock(&lock);
    units[count++] = (ABT_thread)unit;
    pthread_spin_unlock(&lock);
}

static ABT_thread pop(ABT_pool pool, ABT_pool_context context)
{
    (void)pool, (void)context;
    pthread_spin_lock(&lock);
    ABT_thread thread = count > 0 ? units[--count] : ABT_THREAD_NULL;
    pthread_spin_unlock(&lock);
    return thread;
}

static void prints(void *arg)
{
    printf("%d ", *(int *)arg);
}

int main(int argc, char **argv)
{
    enum { UNITS = 5 };
    ABT_pool_user_def def;
    ABT_pool pool;
    ABT_xstream stream;
    ABT_thread threads[UNITS];
    int ids[UNITS];

    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def);
    ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool);
    ABT_pool_user_def_free(&def);
    for (int i = 0; i < UNITS; i++) {
        ids[i] = i;
        ABT_thread_create(pool, prints, &ids[i], ABT_THREAD_ATTR_NULL, &threads[i]);
    }
    ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &stream);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&threads[i]);
    printf("\n");
    ABT_xstream_free(&stream);
    ABT_pool_free(&pool);
    return ABT_finalize();
}

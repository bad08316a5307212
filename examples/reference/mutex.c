/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a mutex offer? Static storage, trylock, a lock that spins, and recursive mutexes, which are asked for by
 * an attribute.
 *
 *   cc mutex.c $(pkg-config --cflags --libs argobots) -o mutex
 */
#include <abt.h>
#include <stdio.h>

enum { UNITS = 4, ROUNDS = 1000 };

/* No create and no free: the mutex lies in memory of the program. */
static ABT_mutex_memory memory = ABT_MUTEX_INITIALIZER;
static long total;

static void adds(void *arg)
{
    ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        /* The usual lock: while a ULT waits for it, its stream runs others. */
        ABT_mutex_lock(mutex);
        total++;
        ABT_mutex_unlock(mutex);
        /* For a few instructions on several streams: the waiter keeps its stream busy. Do not yield in between. */
        ABT_mutex_spinlock(mutex);
        total++;
        ABT_mutex_unlock(mutex);
    }
}

/* Locks again what the caller holds already. */
static int depth_of(ABT_mutex mutex, int levels)
{
    int depth = 0;
    if (levels > 0 && ABT_mutex_lock(mutex) == ABT_SUCCESS) {
        depth = 1 + depth_of(mutex, levels - 1);
        ABT_mutex_unlock(mutex);
    }
    return depth;
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_thread units[UNITS];
    ABT_mutex plain, recursive;
    ABT_mutex_attr attr;
    ABT_bool is_recursive;
    int busy, depth;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create_on_xstream(stream, adds, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
    adds(NULL);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    ABT_xstream_free(&stream);
    printf("%ld additions, none was lost: %s\n", total, total == 2 * (UNITS + 1) * ROUNDS ? "yes" : "no");

    /* trylock never waits. */
    ABT_mutex_create(&plain);
    ABT_mutex_lock(plain);
    busy = ABT_mutex_trylock(plain);
    ABT_mutex_unlock(plain);
    printf("while the mutex is held, trylock says: %s\n", busy == ABT_ERR_MUTEX_LOCKED ? "locked" : "free");

    ABT_mutex_attr_create(&attr);
    ABT_mutex_attr_set_recursive(attr, ABT_TRUE);
    ABT_mutex_create_with_attr(attr, &recursive);
    ABT_mutex_attr_free(&attr);
    depth = depth_of(recursive, 3);
    /* A mutex tells of which kind it is. */
    ABT_mutex_get_attr(recursive, &attr);
    ABT_mutex_attr_get_recursive(attr, &is_recursive);
    ABT_mutex_attr_free(&attr);
    printf("its holder has locked a %s mutex %d times\n", is_recursive ? "recursive" : "plain", depth);

    ABT_mutex_free(&recursive);
    ABT_mutex_free(&plain);
    ABT_finalize();
    return total != 2 * (UNITS + 1) * ROUNDS || busy != ABT_ERR_MUTEX_LOCKED || !is_recursive || depth != 3;
}

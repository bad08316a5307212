/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I use a mutex and a condition variable? A queue of bounded length between a producer and a consumer.
 *
 *   cc queue.c $(pkg-config --cflags --libs argobots) -o queue
 */
#include <abt.h>
#include <stdio.h>

enum { ROOM = 4, ITEMS = 1000 };

static ABT_mutex mutex;
static ABT_cond not_full, not_empty;
static int items[ROOM], first, count;

static void put(int item)
{
    ABT_mutex_lock(mutex);
    while (count == ROOM) /* a loop: another unit may have been quicker */
        ABT_cond_wait(not_full, mutex);
    items[(first + count++) % ROOM] = item;
    ABT_cond_signal(not_empty);
    ABT_mutex_unlock(mutex);
}

static int take(void)
{
    ABT_mutex_lock(mutex);
    while (count == 0)
        ABT_cond_wait(not_empty, mutex);
    int item = items[first];
    first = (first + 1) % ROOM;
    count--;
    ABT_cond_signal(not_full);
    ABT_mutex_unlock(mutex);
    return item;
}

static void produce(void *arg)
{
    (void)arg;
    for (int i = 1; i <= ITEMS; i++)
        put(i);
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_thread producer;
    long sum = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_mutex_create(&mutex);
    ABT_cond_create(&not_full);
    ABT_cond_create(&not_empty);
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABT_thread_create_on_xstream(stream, produce, NULL, ABT_THREAD_ATTR_NULL, &producer);
    for (int i = 0; i < ITEMS; i++)
        sum += take();
    ABT_thread_free(&producer);
    ABT_xstream_free(&stream);
    ABT_cond_free(&not_empty);
    ABT_cond_free(&not_full);
    ABT_mutex_free(&mutex);
    ABT_finalize();
    printf("%ld\n", sum);
    return sum != (long)ITEMS * (ITEMS + 1) / 2;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I build a way of waiting that the library does not have? A ULT suspends itself, and whoever has something for
 * it resumes it. Here: a channel that passes values from a producer to a consumer by hand.
 *
 *   cc channel.c $(pkg-config --cflags --libs argobots) -o channel
 */
#include <abt.h>
#include <stdio.h>

enum { VALUES = 1000 };

/* Both units belong to one stream, so that one of them runs at a time: between streams this would need a lock. */
static struct {
    ABT_thread waiting; /* the consumer, if it waits */
    int value, is_full;
} channel = {.waiting = ABT_THREAD_NULL};

static void put(int value)
{
    while (channel.is_full)
        ABT_self_yield();
    channel.value = value;
    channel.is_full = 1;
    if (channel.waiting != ABT_THREAD_NULL) {
        ABT_thread consumer = channel.waiting;
        channel.waiting = ABT_THREAD_NULL;
        ABT_thread_resume(consumer); /* puts it back into its pool */
    }
}

static int take(void)
{
    if (!channel.is_full) {
        ABT_self_get_thread(&channel.waiting);
        ABT_self_suspend(); /* the stream runs others until somebody resumes this ULT */
    }
    channel.is_full = 0;
    return channel.value;
}

static void produce(void *arg)
{
    (void)arg;
    for (int i = 1; i <= VALUES; i++)
        put(i);
}

static void consume(void *sum)
{
    for (int i = 0; i < VALUES; i++)
        *(long *)sum += take();
}

int main(int argc, char **argv)
{
    ABT_pool pool;
    ABT_thread producer, consumer;
    long sum = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_thread_create(pool, consume, &sum, ABT_THREAD_ATTR_NULL, &consumer);
    ABT_thread_create(pool, produce, NULL, ABT_THREAD_ATTR_NULL, &producer);
    ABT_thread_free(&consumer);
    ABT_thread_free(&producer);
    ABT_finalize();
    printf("%ld\n", sum);
    return sum != VALUES * (VALUES + 1L) / 2;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can I ask for when I make a ULT? A stack of some size, a stack in memory of my own, that it stays where it is,
 * and a call whenever it has been moved.
 *
 *   cc attributes.c $(pkg-config --cflags --libs argobots) -o attributes
 */
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 64 * 1024 };

static char *memory;
static int on_my_stack, moves;

static void looks(void *arg)
{
    char here;
    char *address = &here;
    on_my_stack = address >= memory && address < memory + SIZE;
    ABT_self_yield();
    (void)arg;
}

static void has_moved(ABT_thread unit, void *count)
{
    (void)unit;
    ++*(int *)count;
}

int main(int argc, char **argv)
{
    ABT_pool pool, other;
    ABT_thread_attr attr;
    ABT_thread unit;
    void *address;
    size_t size, size_only;
    int refused, feature, right;

    memory = malloc(SIZE);
    if (!memory || ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &other);

    ABT_thread_attr_create(&attr);
    ABT_thread_attr_set_stacksize(attr, 2 * SIZE); /* a stack of that size, by the library */
    ABT_thread_attr_get_stacksize(attr, &size_only);
    ABT_thread_attr_set_stack(attr, memory, SIZE); /* memory of mine, which must outlive the ULT */
    ABT_thread_attr_get_stack(attr, &address, &size);
    right = size_only == 2 * SIZE && address == memory && size == SIZE;
    feature = ABT_thread_attr_set_migratable(attr, ABT_FALSE); /* ABT_ERR_FEATURE_NA: no unit migrates here */
    ABT_thread_create(pool, looks, NULL, attr, &unit);
    refused = ABT_thread_migrate_to_pool(unit, other); /* it stays where it is */
    ABT_thread_free(&unit);
    printf("it ran on memory of mine: %s, and may be moved: %s\n", on_my_stack ? "yes" : "no",
           refused == ABT_SUCCESS ? "yes" : "no");

    ABT_thread_attr_set_migratable(attr, ABT_TRUE);
    ABT_thread_attr_set_callback(attr, has_moved, &moves);
    ABT_thread_create(other, looks, NULL, attr, &unit); /* attributes are copied, and used as often as one likes */
    ABT_thread_attr_free(&attr);
    if (feature == ABT_SUCCESS)
        ABT_thread_migrate_to_pool(unit, pool); /* a request: done when it next leaves its pool */
    for (ABT_thread popped = ABT_THREAD_NULL; popped == ABT_THREAD_NULL;) {
        ABT_pool_pop_thread(other, &popped); /* no stream serves this pool but us */
        ABT_self_schedule(popped, ABT_POOL_NULL);
    }
    ABT_thread_free(&unit);
    printf("calls of a move: %d\n", moves);
    ABT_pool_free(&other);
    ABT_finalize();
    free(memory);
    return !right || !on_my_stack || (feature == ABT_SUCCESS && (refused == ABT_SUCCESS || moves != 1));
}

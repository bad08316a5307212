/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool of one's own. The library asks five things of it: to make and to free units, to push one, to pop one, and to
 * say whether it is empty. A unit is what the pool keeps of a work unit; here it is simply the work unit's handle.
 * Any stream and any external thread may call these functions at any time, hence the lock.
 */
#include "heap_pool.h"
#include "team.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

struct entry {
    int urgency; /* the smaller, the sooner */
    ABT_thread thread;
};

struct heap {
    pthread_mutex_t lock; /* guards the rest */
    int size, capacity;
    struct entry *entries; /* a binary heap: [i] is no less urgent than [2i + 1] and [2i + 2] */
};

static struct heap *get_heap(ABT_pool pool)
{
    void *heap;
    CHECK(ABT_pool_get_data(pool, &heap));
    return heap;
}

static int init_pool(ABT_pool pool, ABT_pool_config config)
{
    struct heap *heap = team_alloc(sizeof(*heap));
    (void)config;
    pthread_mutex_init(&heap->lock, NULL);
    heap->size = 0;
    heap->capacity = 1024;
    heap->entries = team_alloc(sizeof(*heap->entries) * (size_t)heap->capacity);
    return ABT_pool_set_data(pool, heap);
}

static void free_pool(ABT_pool pool)
{
    struct heap *heap = get_heap(pool);
    pthread_mutex_destroy(&heap->lock);
    free(heap->entries);
    free(heap);
}

static ABT_unit create_unit(ABT_pool pool, ABT_thread thread)
{
    (void)pool;
    return (ABT_unit)thread;
}

static void free_unit(ABT_pool pool, ABT_unit unit)
{
    (void)pool;
    (void)unit;
}

static ABT_bool is_empty(ABT_pool pool)
{
    struct heap *heap = get_heap(pool);
    pthread_mutex_lock(&heap->lock);
    int size = heap->size;
    pthread_mutex_unlock(&heap->lock);
    return size == 0 ? ABT_TRUE : ABT_FALSE;
}

static void insert(struct heap *heap, struct entry entry)
{
    if (heap->size == heap->capacity) {
        heap->capacity *= 2;
        heap->entries = realloc(heap->entries, sizeof(*heap->entries) * (size_t)heap->capacity);
        if (!heap->entries)
            abort();
    }
    int i = heap->size++;
    for (; i > 0 && entry.urgency < heap->entries[(i - 1) / 2].urgency; i = (i - 1) / 2)
        heap->entries[i] = heap->entries[(i - 1) / 2];
    heap->entries[i] = entry;
}

static struct entry remove_first(struct heap *heap)
{
    struct entry *entries = heap->entries, first = entries[0], last = entries[--heap->size];
    int i = 0;
    for (int child = 1; child < heap->size; child = 2 * i + 1) {
        if (child + 1 < heap->size && entries[child + 1].urgency < entries[child].urgency)
            child++;
        if (last.urgency <= entries[child].urgency)
            break;
        entries[i] = entries[child];
        i = child;
    }
    entries[i] = last;
    return first;
}

static void push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    struct heap *heap = get_heap(pool);
    struct entry entry = {INT_MAX, (ABT_thread)unit};
    void *arg;

    (void)context;
    CHECK(ABT_thread_get_arg(entry.thread, &arg));
    if (arg)
        entry.urgency = *(int *)arg;
    pthread_mutex_lock(&heap->lock);
    insert(heap, entry);
    pthread_mutex_unlock(&heap->lock);
}

static ABT_thread pop(ABT_pool pool, ABT_pool_context context)
{
    struct heap *heap = get_heap(pool);
    ABT_thread thread = ABT_THREAD_NULL;

    (void)context;
    pthread_mutex_lock(&heap->lock);
    if (heap->size > 0)
        thread = remove_first(heap).thread;
    pthread_mutex_unlock(&heap->lock);
    return thread;
}

ABT_pool heap_pool_create(void)
{
    ABT_pool_user_def def;
    ABT_pool pool;

    CHECK(ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def));
    CHECK(ABT_pool_user_def_set_init(def, init_pool));
    CHECK(ABT_pool_user_def_set_free(def, free_pool));
    CHECK(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool));
    CHECK(ABT_pool_user_def_free(&def));
    return pool;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a pool of mine take and give many units at a time, or let a thread wait for one? By functions that its
 * definition need not have. (One stream uses this pool; start/lifo.c has a lock.)
 *
 *   cc pool_many.c $(pkg-config --cflags --libs argobots) -o pool_many
 */
#include <abt.h>
#include <stdio.h>
#include <unistd.h>

enum { ROOM = 64, UNITS = 20 };
static ABT_thread ring[ROOM];
static unsigned first, last; /* last - first units are there */
static int calls;

static void runs(void *arg)
{
    ++*(int *)arg;
}

static ABT_unit create_unit(ABT_pool pool, ABT_thread thread)
{
    (void)pool;
    return (ABT_unit)thread;
}

static void free_unit(ABT_pool pool, ABT_unit unit)
{
    (void)pool, (void)unit;
}

static void push_many(ABT_pool pool, const ABT_unit *units, size_t num, ABT_pool_context context)
{
    (void)pool, (void)context;
    calls++;
    for (size_t i = 0; i < num; i++)
        ring[last++ % ROOM] = (ABT_thread)units[i];
}

static void push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    (void)pool, (void)context;
    ring[last++ % ROOM] = (ABT_thread)unit;
}

static void pop_many(ABT_pool pool, ABT_thread *threads, size_t most, size_t *num, ABT_pool_context context)
{
    (void)pool, (void)context;
    calls++;
    for (*num = 0; *num < most && first != last; ++*num)
        threads[*num] = ring[first++ % ROOM];
}

static ABT_thread pop(ABT_pool pool, ABT_pool_context context)
{
    (void)pool, (void)context;
    return first != last ? ring[first++ % ROOM] : ABT_THREAD_NULL;
}

/* This one may block its native thread. */
static ABT_thread pop_wait(ABT_pool pool, double seconds, ABT_pool_context context)
{
    double end = ABT_get_wtime() + seconds;
    ABT_thread thread = pop(pool, context);
    while (thread == ABT_THREAD_NULL && ABT_get_wtime() < end && usleep(100) == 0)
        thread = pop(pool, context);
    return thread;
}

static ABT_bool is_empty(ABT_pool pool)
{
    (void)pool;
    return first == last;
}

static void print_all(ABT_pool pool, void *arg, void (*print)(void *, ABT_thread))
{
    (void)pool;
    for (unsigned i = first; i != last; i++)
        print(arg, ring[i % ROOM]);
}

static void counts(void *arg, ABT_thread thread)
{
    *(int *)arg += thread != ABT_THREAD_NULL;
}

int main(int argc, char **argv)
{
    ABT_pool_user_def def;
    ABT_pool pool;
    ABT_thread units[UNITS], some[UNITS], unit;
    size_t num;
    int visited = 0, ran = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def);
    ABT_pool_user_def_set_push_many(def, push_many);
    ABT_pool_user_def_set_pop_many(def, pop_many);
    ABT_pool_user_def_set_pop_wait(def, pop_wait);
    ABT_pool_user_def_set_print_all(def, print_all);
    ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pool, runs, &ran, ABT_THREAD_ATTR_NULL, &units[i]);
    ABT_pool_pop_threads(pool, some, UNITS, &num);
    ABT_pool_push_threads(pool, some, num);
    ABT_pool_print_all_threads(pool, &visited, counts);
    printf("%d units were taken and given by %d calls, %d are there\n", (int)num, calls, visited);
    /* As a native thread does that has nothing else to do, and would sleep between one unit and the next. */
    while (ABT_pool_pop_wait_thread(pool, &unit, 0.01) == ABT_SUCCESS && unit != ABT_THREAD_NULL)
        ABT_self_schedule(unit, ABT_POOL_NULL);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    ABT_pool_free(&pool);
    ABT_pool_user_def_free(&def);
    ABT_finalize();
    return ran != UNITS || calls != 2 || visited != UNITS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I see what units do? The tool interface calls a function at each event; here it counts.
 *
 *   cc profiler.c $(pkg-config --cflags --libs argobots) -o profiler
 */
#include <abt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long created, yields, finished;

static void event(ABT_thread thread, ABT_xstream stream, uint64_t what, ABT_tool_context context, void *arg)
{
    (void)thread, (void)stream, (void)context, (void)arg;
    if (what == ABT_TOOL_EVENT_THREAD_CREATE)
        created++;
    else if (what == ABT_TOOL_EVENT_THREAD_YIELD)
        yields++;
    else
        finished++;
}

static void work(void *arg)
{
    (void)arg;
    ABT_self_yield();
}

int main(int argc, char **argv)
{
    enum { UNITS = 10 };
    ABT_pool pool;
    ABT_thread units[UNITS];

    setenv("ABT_TOOL", "1", 1); /* the tool interface is off otherwise */
    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    if (ABT_tool_register_thread_callback(
            event, ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_FINISH, NULL) !=
        ABT_SUCCESS)
        return ABT_finalize(); /* the library was configured without */
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    ABT_tool_register_thread_callback(NULL, 0, NULL);
    printf("created %ld, finished %ld, yields at least %d: %s\n", (long)created, (long)finished, UNITS,
           yields >= UNITS ? "yes" : "no");
    ABT_finalize();
    return created != UNITS || finished != UNITS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a tool learn of an event? Who has caused it, in which pool the unit stands, and what a unit waits for. Here
 * it counts what units were suspended for.
 *
 *   cc tool.c $(pkg-config --cflags --libs argobots) -o tool
 */
#include <abt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int for_mutex, for_eventual, for_others, made_by_main;
static ABT_thread main_unit;
static ABT_mutex mutex;
static ABT_eventual eventual;

/* It must not switch, nor use the object that the unit waits for. */
static void sees(ABT_thread unit, ABT_xstream stream, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)unit, (void)stream, (void)arg;
    if (event == ABT_TOOL_EVENT_THREAD_SUSPEND) {
        ABT_sync_event_type type = ABT_SYNC_EVENT_TYPE_UNKNOWN;
        ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE, &type);
        if (type == ABT_SYNC_EVENT_TYPE_MUTEX)
            for_mutex++;
        else if (type == ABT_SYNC_EVENT_TYPE_EVENTUAL)
            for_eventual++;
        else
            for_others++;
    } else { /* ABT_TOOL_EVENT_THREAD_CREATE */
        ABT_exec_entity_type kind = ABT_EXEC_ENTITY_TYPE_EXT;
        ABT_thread maker = ABT_THREAD_NULL;
        ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_CALLER_TYPE, &kind);
        ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_CALLER_HANDLE, &maker);
        made_by_main += kind == ABT_EXEC_ENTITY_TYPE_THREAD && maker == main_unit;
    }
}

static void locks(void *arg)
{
    (void)arg;
    ABT_mutex_lock(mutex);
    ABT_mutex_unlock(mutex);
}

static void waits(void *arg)
{
    (void)arg;
    ABT_eventual_wait(eventual, NULL);
}

int main(int argc, char **argv)
{
    enum { LOCKERS = 2, WAITERS = 3, UNITS = LOCKERS + WAITERS };
    ABT_pool pool;
    ABT_thread units[UNITS];

    setenv("ABT_TOOL", "1", 1); /* the tool interface is off otherwise */
    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_thread(&main_unit);
    ABT_self_get_last_pool(&pool);
    ABT_mutex_create(&mutex);
    ABT_eventual_create(0, &eventual);
    if (ABT_tool_register_thread_callback(sees, ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_SUSPEND, NULL) !=
        ABT_SUCCESS)
        return ABT_finalize(); /* the library was configured without */
    ABT_mutex_lock(mutex);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_create(pool, i < LOCKERS ? locks : waits, NULL, ABT_THREAD_ATTR_NULL, &units[i]);
    for (int i = 0; i < UNITS; i++) /* until all of them wait */
        for (ABT_thread_state state = ABT_THREAD_STATE_READY; state != ABT_THREAD_STATE_BLOCKED; ABT_self_yield())
            ABT_thread_get_state(units[i], &state);
    ABT_mutex_unlock(mutex);
    ABT_eventual_set(eventual, NULL, 0);
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    ABT_tool_register_thread_callback(NULL, 0, NULL);
    ABT_eventual_free(&eventual);
    ABT_mutex_free(&mutex);
    ABT_finalize();
    printf("main has made %d units; suspended for the mutex: %d, for the eventual: %d, for other things: %d\n",
           (int)made_by_main, (int)for_mutex, (int)for_eventual, (int)for_others);
    return made_by_main != UNITS || for_mutex < LOCKERS || for_eventual != WAITERS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a ULT learn that it leaves its stream, and is back? By switch hooks: for a runtime that holds something
 * which belongs to the stream, such as a thread-local "current task", or a clock of the time that it really ran.
 *
 *   cc switch_hooks.c $(pkg-config --cflags --libs argobots) -o switch_hooks
 */
#include <abt.h>
#include <stdio.h>

/* What the program's own runtime keeps for each stream: which task runs there. */
static const char *current[2];

struct task {
    const char *name;
    int leaves, backs, wrong;
};

static int rank_of_mine(void)
{
    int rank;
    ABT_self_get_xstream_rank(&rank);
    return rank;
}

/* Hooks may be called while the library holds locks: they read and write memory, and no more. */
static void leaves(void *arg)
{
    ((struct task *)arg)->leaves++;
}

static void is_back(void *arg)
{
    ((struct task *)arg)->backs++;
}

static void works(void *arg)
{
    struct task *task = arg;
    ABTX_switch_link link = {.hooks = {leaves, is_back, task}}; /* they stay in place as long as they are set */
    int seen = 0;

    ABTX_self_add_switch_hooks(&link);
    current[rank_of_mine()] = task->name;
    for (int i = 0; i < 10; i++) {
        ABT_self_yield();
        if (task->backs != seen) { /* others have run meanwhile: what belongs to the stream is to be set anew */
            current[rank_of_mine()] = task->name;
            seen = task->backs;
        }
        task->wrong += current[rank_of_mine()] != task->name;
    }
    ABTX_self_remove_switch_hooks(&link); /* before the end */
}

int main(int argc, char **argv)
{
    enum { TASKS = 3 };
    struct task tasks[TASKS] = {{"one", 0, 0, 0}, {"two", 0, 0, 0}, {"three", 0, 0, 0}};
    ABT_pool pool;
    ABT_thread units[TASKS];
    int wrong = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_last_pool(&pool);
    for (int i = 0; i < TASKS; i++)
        ABT_thread_create(pool, works, &tasks[i], ABT_THREAD_ATTR_NULL, &units[i]);
    for (int i = 0; i < TASKS; i++) {
        ABT_thread_free(&units[i]);
        printf("task %s has left its stream %d times and was back %d times\n", tasks[i].name, tasks[i].leaves,
               tasks[i].backs);
        wrong += tasks[i].wrong + (tasks[i].leaves == 0) + (tasks[i].leaves != tasks[i].backs);
    }
    ABT_finalize();
    return wrong;
}

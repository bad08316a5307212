/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a tasklet offer? It has no stack of its own and runs to its end on that of the scheduler: it is cheaper
 * than a ULT, and cannot wait. The functions of ULTs take it, too; those here are for it alone.
 *
 *   cc tasklets.c $(pkg-config --cflags --libs argobots) -o tasklets
 */
#include <abt.h>
#include <stdio.h>

struct job {
    int number, square;
    uint64_t id;
    ABT_task task;
};

static void squares(void *arg)
{
    struct job *job = arg;
    ABT_task_self(&job->task); /* of the caller, which is a tasklet */
    ABT_task_self_id(&job->id);
    job->square = job->number * job->number;
}

static const char *name_of(ABT_task task)
{
    static const char *const names[] = {"ready", "running", "terminated"};
    ABT_task_state state;
    ABT_task_get_state(task, &state);
    return names[state];
}

/* Not 0: something is not as it was made. */
static int look_at(ABT_task task, struct job *job, ABT_xstream stream)
{
    ABT_pool pool, first;
    ABT_xstream where;
    ABT_bool is_same, is_unnamed;
    uint64_t id;
    void *arg;
    int pool_id, first_id;

    ABT_xstream_get_main_pools(stream, 1, &first);
    ABT_pool_get_id(first, &first_id);
    ABT_task_get_last_pool(task, &pool);
    ABT_task_get_last_pool_id(task, &pool_id);
    ABT_task_get_xstream(task, &where);
    ABT_task_get_arg(task, &arg);
    ABT_task_get_id(task, &id);
    ABT_task_is_unnamed(task, &is_unnamed);
    ABT_task_equal(task, job->task, &is_same);
    printf("task %d: %s, of pool %d\n", (int)id, name_of(task), pool_id);
    return pool != first || pool_id != first_id || where != stream || arg != job || id != job->id || is_unnamed ||
           !is_same;
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_task task;
    ABT_bool may = ABT_TRUE;
    struct job first = {7, 0, 0, ABT_TASK_NULL}, second = {8, 0, 0, ABT_TASK_NULL};
    int wrong, feature;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABT_task_create_on_xstream(stream, squares, &first, &task);
    ABT_task_join(task); /* it is still there, to be looked at, or to run again */
    wrong = look_at(task, &first, stream);

    ABT_self_get_last_pool(&pool);
    ABT_task_revive(pool, squares, &second, &task); /* the same handle, and another function if we like */
    /* It is to run in this pool, and not to be moved (ABT_ERR_FEATURE_NA: nothing moves in this library). */
    feature = ABT_task_set_migratable(task, ABT_FALSE);
    ABT_task_is_migratable(task, &may);
    printf("the task is %s\n", name_of(task)); /* main has not given way yet */
    ABT_task_free(&task);                      /* joins it first */
    printf("%d, %d\n", first.square, second.square);
    ABT_xstream_free(&stream);
    ABT_finalize();
    return wrong || first.square != 49 || second.square != 64 || (feature == ABT_SUCCESS && may);
}

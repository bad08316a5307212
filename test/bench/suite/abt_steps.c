/* SPDX-License-Identifier: BSD-3-Clause */
/* One creator deals units out to all streams and joins them, step by step; and tasks that make tasks. The comparison
 * paper's figures of creation, join and both, and of nested tasks. */
#include "abt_team.h"

#include "kernels.h"

enum { UNITS = 256, PARENTS = 100, CHILDREN = 10 };
enum { LAYOUT = 15, TASKLETS = 16, STEP = 32 }; /* bits of a variant */

static bool use_tasklets;
static ABT_thread units[UNITS];

static void create(ABT_pool pool, void (*func)(void *), void *arg, ABT_thread *unit)
{
    if (use_tasklets)
        CHECK(ABT_task_create(pool, func, arg, unit));
    else
        CHECK(ABT_thread_create(pool, func, arg, ABT_THREAD_ATTR_NULL, unit));
}

/* Where a unit is given to the stream of that rank. */
static ABT_pool pool_for(int rank)
{
    return rank == team_rank() ? team.pools[rank] : team.inboxes[rank];
}

static void nothing(void *arg)
{
}

static void create_all(void *arg)
{
    for (int i = 0; i < UNITS; i++)
        create(pool_for(i % team.num), nothing, NULL, &units[i]);
}

static void join_all(void *arg)
{
    for (int i = 0; i < UNITS; i++)
        CHECK(ABT_thread_free(&units[i]));
}

static void run_steps(const struct suite_work *work)
{
    use_tasklets = work->variant & TASKLETS;
    team_start((enum team_layout)(work->variant & LAYOUT));
    suite_run_steps((enum suite_step)(work->variant / STEP), create_all, join_all, NULL, UNITS);
    team_stop();
}

/* ---- Tasks of tasks: a parent is a ULT, which waits for its children ---- */

struct element {
    int i;
    ABT_thread unit;
};

static float vector[PARENTS * CHILDREN];
static float factor = 2;

static void scal(void *arg)
{
    const struct element *e = arg;
    kernel_scal(vector, e->i, e->i + 1, factor);
}

static void parent(void *arg)
{
    const struct element *e = arg;
    struct element children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i].i = e->i * CHILDREN + i;
        create(team.pools[team_rank()], scal, &children[i], &children[i].unit);
    }
    for (int i = CHILDREN; i-- > 0;)
        CHECK(ABT_thread_free(&children[i].unit));
}

static void nested_tasks(void *arg)
{
    static struct element parents[PARENTS];
    for (int i = 0; i < PARENTS; i++) {
        parents[i].i = i;
        CHECK(ABT_thread_create(pool_for(i % team.num), parent, &parents[i], ABT_THREAD_ATTR_NULL, &parents[i].unit));
    }
    for (int i = 0; i < PARENTS; i++)
        CHECK(ABT_thread_free(&parents[i].unit));
    factor = 2.5F - factor;
}

static void run_nested_tasks(const struct suite_work *work)
{
    use_tasklets = work->variant & TASKLETS;
    team_start((enum team_layout)(work->variant & LAYOUT));
    kernel_fill(vector, PARENTS * CHILDREN);
    suite_run(nested_tasks, NULL, 1);
    kernel_expect_scaled(vector, PARENTS * CHILDREN, factor);
    team_stop();
}

#define WAYS(name, run, step)                                                                                          \
    {name, "ULT, private pools", "*", run, 0, STEP * (step) + TEAM_PRIV},                                              \
        {name, "tasklet, private pools", "*", run, 0, STEP * (step) + TEAM_PRIV + TASKLETS},                           \
        {name, "ULT, shared pool", "*", run, 0, STEP * (step) + TEAM_SHARED},                                          \
    {                                                                                                                  \
        name, "tasklet, shared pool", "*", run, 0, STEP *(step) + TEAM_SHARED + TASKLETS                               \
    }

const struct suite_work abt_steps_works[] = {
    WAYS("step-create", run_steps, SUITE_CREATE),
    WAYS("step-join", run_steps, SUITE_JOIN),
    WAYS("step-both", run_steps, SUITE_BOTH),
    WAYS("nested-tasks", run_nested_tasks, 0),
};
const int abt_steps_num = sizeof(abt_steps_works) / sizeof(abt_steps_works[0]);

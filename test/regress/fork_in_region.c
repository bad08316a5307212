/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fork and join within a blocking region, where the forker has a native thread and no stream: a join of a task that
 * another stream had taken read the stream's record by a null pointer, and so did the end of a function that had begun
 * to fork before the region.
 */
#include <abt_fork.h>

#include "regress.h"

enum { MANY = 500 };

static atomic_int begun;
static atomic_bool elsewhere;

/* --- Tasks --- */

ABTX_TASK(long, take_long, (int, ms), (pthread_t, forker))
{
    (void)abtx_here;
    atomic_store(&elsewhere, !pthread_equal(forker, pthread_self()));
    atomic_fetch_add(&begun, 1);
    nap_ms(ms);
    return ms;
}

ABTX_TASK(long, leaf, (long, n))
{
    (void)abtx_here;
    return n;
}

ABTX_TASK(long, fib, (int, n))
{
    if (n < 2)
        return n;
    ABTX_FORK(fib, one, n - 1);
    long two = ABTX_CALL(fib, n - 2);
    return ABTX_JOIN(fib, one) + two;
}

/* Another stream has the task when the region begins. */
ABTX_TASK(long, join_stolen, (int, ms))
{
    atomic_store(&begun, 0);
    ABTX_FORK(take_long, one, ms, pthread_self());
    while (atomic_load(&begun) == 0)
        must(ABTX_self_sleep(1000000)); /* who waits offers all its tasks */
    must(ABTX_blocking_begin());
    long result = ABTX_JOIN(take_long, one);
    must(ABTX_blocking_end());
    return result;
}

/* All that stands within the region, and others take what they like of it. */
ABTX_TASK(long, fork_inside, (int, num))
{
    long sum = 0;

    must(ABTX_blocking_begin());
    for (int i = 0; i < num; i++) {
        ABTX_FORK(leaf, one, i);
        ABTX_FORK(fib, two, 10);
        ABTX_FORK(leaf, three, 1);
        sum += ABTX_JOIN(leaf, three);
        sum += ABTX_JOIN(fib, two);
        sum += ABTX_JOIN(leaf, one);
    }
    must(ABTX_blocking_end());
    return sum;
}

/* What is forked in the region is joined after it. */
ABTX_TASK(long, join_after, (long, n))
{
    must(ABTX_blocking_begin());
    ABTX_FORK(leaf, one, n);
    must(ABTX_blocking_end());
    return ABTX_JOIN(leaf, one);
}

static long sum_of_forks(int num)
{
    return (long)num * (num - 1) / 2 + num * 55L + num;
}

/* --- Loops and the rest --- */

static void add_part(ptrdiff_t begin, ptrdiff_t end, void *sum)
{
    for (ptrdiff_t i = begin; i < end; i++)
        atomic_fetch_add((atomic_long *)sum, i);
}

static void add_to(ptrdiff_t begin, ptrdiff_t end, void *sum, void *arg)
{
    for (ptrdiff_t i = begin; i < end; i++)
        *(long *)sum += i;
}

static void combine(void *left, const void *right, void *arg)
{
    *(long *)left += *(const long *)right;
}

static void add_one(void *count)
{
    atomic_fetch_add((atomic_long *)count, 1);
}

/* Everything that a function may call which has not begun to fork. */
static bool works_inside(void)
{
    static const long none;
    const struct abtx_reduction how = {sizeof(long), &none, add_to, combine, NULL};
    void (*const funcs[])(void *) = {add_one, add_one, add_one};
    atomic_long sum = 0, count = 0;
    void *const args[] = {&count, &count, &count};
    long reduced = 0;

    abtx_for(0, MANY, 7, add_part, &sum);
    abtx_reduce(0, MANY, 7, &how, &reduced);
    abtx_invoke(3, funcs, args);
    return sum == MANY * (MANY - 1L) / 2 && reduced == sum && count == 3 && ABTX_RUN(fib, 15) == 610;
}

/* --- Callers --- */

static void be_called(const char *caller)
{
    bool inside, after;

    must(ABTX_blocking_begin());
    inside = works_inside();
    must(ABTX_blocking_end());
    after = works_inside();
    ok(inside && after, "%s: loops, reductions, functions side by side and tasks within a region", caller);
    is_int(ABTX_RUN(fork_inside, MANY), sum_of_forks(MANY), "%s: a task forks and joins in a region", caller);
    is_int(ABTX_RUN(join_after, 4711), 4711, "%s: and joins after it", caller);
}

static atomic_int left, came_back;

static void leave(void *unused)
{
    count_up(&left);
}

static void back(void *unused)
{
    count_up(&came_back);
}

/* A function that has begun to fork ends in the region. */
static bool ends_inside(void)
{
    struct abtx_region region;
    abtx_at here = ABTX_fork_enter(&region);
    struct leaf_task task = {.n = 3};

    (void)abtx_fork(here, &task.task, leaf_run);
    must(ABTX_blocking_begin());
    if (abtx_join(here))
        leaf_run(here, &task.task);
    ABTX_fork_leave(&region);
    must(ABTX_blocking_end());
    return task.result == 3 && ABTX_RUN(fib, 10) == 55;
}

static void be_ult(void *arg)
{
    const char *caller = arg;
    ABTX_switch_link link = {.hooks = {.leave = leave, .back = back}};

    be_called(caller);
    is_int(ABTX_RUN(join_stolen, 50), 50, "%s: a join in a region waits for a task that another stream has", caller);
    ok(atomic_load(&elsewhere), "%s: it ran elsewhere", caller);
    must(ABTX_self_add_switch_hooks(&link));
    ok(ends_inside(), "%s: a function that has begun to fork ends in a region", caller);
    int before = atomic_load(&left);
    must(ABTX_self_sleep(1000000));
    ok(atomic_load(&left) > before && left == came_back, "%s: and the hooks are the caller's own after it", caller);
    must(ABTX_self_remove_switch_hooks(&link));
}

static void be_tasklet(void *arg)
{
    be_called(arg);
}

static void *be_external(void *caller)
{
    be_called(caller);
    return NULL;
}

int main(void)
{
    ABT_xstream streams[2];
    ABT_pool pool;
    ABT_task task;
    pthread_t native;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_self_get_xstream(&streams[0]));
    must(ABT_xstream_create(ABT_SCHED_NULL, &streams[1]));
    must(ABTX_fork_start(1, &streams[1]));
    must(ABT_xstream_get_main_pools(streams[0], 1, &pool));
    be_ult("primary ULT");
    ABT_thread thread = ult_in(pool, be_ult, "ULT");
    must(ABT_thread_free(&thread));
    must(ABT_task_create(pool, be_tasklet, "tasklet", &task));
    must(ABT_task_free(&task));
    must(pthread_create(&native, NULL, be_external, "external thread"));
    must(pthread_join(native, NULL));
    must(ABTX_fork_stop());
    must(ABT_xstream_free(&streams[1]));
    must(ABT_finalize());
    return done_testing();
}

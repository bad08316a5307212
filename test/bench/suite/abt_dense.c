/* SPDX-License-Identifier: BSD-3-Clause */
/* The works of dense.h by forked tasks, and one after the other; and how soon a stream that sleeps takes a task. */
#include "abt_team.h"

#include <abt_fork.h>
#include "dense.h"

#pragma weak ABTX_fork_start
#pragma weak ABTX_fork_stop
#pragma weak ABTX_fork_enter
#pragma weak ABTX_fork_leave
#pragma weak ABTX_fork_slow
#pragma weak ABTX_fork_join_slow

enum { SEQUENTIAL, FORKED };

static void loop(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t grain, void (*body)(ptrdiff_t, ptrdiff_t, void *), void *arg)
{
    abtx_for(begin, end, grain, body, arg);
}

static void invoke(int num, void (*const *funcs)(void *), void *const *args)
{
    abtx_invoke(num, funcs, args);
}

static const struct dense_runtime forked = {invoke, loop};

static void do_dense(void *runtime)
{
    dense_do(runtime);
}

static void measure_dense(void *arg)
{
    const struct suite_work *work = arg;
    suite_run(do_dense, (void *)(work->variant == FORKED ? &forked : &dense_sequential), 1);
}

/* As a ULT on the first stream, whose stack is as large as the native thread's that others use. */
static void run_as_ult(void (*measure)(void *), const struct suite_work *work)
{
    ABT_thread thread;
    setenv("ABT_THREAD_STACKSIZE", "262144", 1);
    team_start(TEAM_MPMC);
    CHECK(ABTX_fork_start(team.num, team.streams));
    CHECK(ABT_thread_create(team.pools[0], measure, (void *)work, ABT_THREAD_ATTR_NULL, &thread));
    CHECK(ABT_thread_free(&thread));
    CHECK(ABTX_fork_stop());
    team_stop();
}

static void run_dense(const struct suite_work *work)
{
    dense_make((enum dense_work)work->n, suite_quick);
    if (work->variant == FORKED)
        run_as_ult(measure_dense, work);
    else
        measure_dense((void *)work);
    suite_expect(dense_errors(), 0, "the number of wrong parts");
    dense_free();
}

/* ---- The first task ---- */

ABTX_TASK(double, note_time)
{
    (void)abtx_here;
    return suite_now_ns();
}

/* A task that the forker leaves to others: from its fork until it runs, when they have slept for some milliseconds. */
ABTX_TASK(double, first_task)
{
    suite_sleep(3000000);
    double begin = suite_now_ns();
    ABTX_FORK(note_time, other);
    suite_compute(1000000);
    return ABTX_JOIN(note_time, other) - begin;
}

static void measure_first(void *arg)
{
    struct suite_samples samples = {NULL, 0, 0};
    double end = suite_now_ns() + 20 * suite_budget_ns;
    while (samples.num < 5 || suite_now_ns() < end)
        suite_add(&samples, ABTX_RUN(first_task));
    suite_report(&samples, 1);
}

static void run_first(const struct suite_work *work)
{
    run_as_ult(measure_first, work);
}

#define BOTH(name, number)                                                                                             \
    {name, "sequential", "1", run_dense, number, SEQUENTIAL},                                                          \
    {                                                                                                                  \
        name, "forked", "*", run_dense, number, FORKED                                                                 \
    }

const struct suite_work abt_dense_works[] = {
    BOTH("mergesort", DENSE_MERGESORT),
    BOTH("matmul", DENSE_MATMUL),
    BOTH("heat", DENSE_HEAT),
    BOTH("fft", DENSE_FFT),
    {"first-task", "forked", "2", run_first, 0, FORKED},
};
const int abt_dense_num = sizeof(abt_dense_works) / sizeof(abt_dense_works[0]);

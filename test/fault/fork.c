/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources and forked tasks without memory: what cannot be had is told or done without, and no work is lost. */
#include "cases.h"

#include <abt_fork.h>
#include <abt_source.h>

static ABT_xstream xstream; /* idle */
static struct abtx_source *source;
static atomic_int left, ran;

static void count_run(void *arg)
{
    atomic_fetch_add(&ran, 1);
}

static ABT_bool give(void *arg, struct abtx_work *work)
{
    int some = atomic_load(&left);

    while (some > 0 && !atomic_compare_exchange_weak(&left, &some, some - 1))
        ;
    work->func = count_run;
    return some > 0;
}

static void begin(void)
{
    xstream = probed_xstream();
}

static void end(void)
{
    probe_end();
    must(ABT_xstream_free(&xstream));
}

/* The stream finds no memory for what the source gives. What was not run at once is run when there is memory again. */

static int open_source(void)
{
    source = UNTOUCHED(struct abtx_source *);
    left = 3;
    ran = 0;
    int code = ABTX_source_open(give, NULL, 0, xstream, &source);
    for (double stop = now() + 0.05; code == ABT_SUCCESS && ran < 3 && now() < stop;)
        let_others_run();
    return code;
}

static void no_source(void)
{
    expect_alone(source);
}

static void close_source(void)
{
    must(ABTX_xstream_wake(xstream));
    wait_for(ran == 3);
    ABTX_source_close(source);
}

/* --- Forks --- */

ABTX_TASK(long, fib, (int, n))
{
    if (n < 2)
        return n;
    ABTX_FORK(fib, one, n - 1);
    long two = ABTX_CALL(fib, n - 2);
    return ABTX_JOIN(fib, one) + two;
}

static int fork_all(void)
{
    expect(ABTX_RUN(fib, 12) == 144, "without memory for a deque tasks run at once");
    return ABT_SUCCESS;
}

static int start(void)
{
    return ABTX_fork_start(1, &xstream);
}

static void stop(void)
{
    expect(ABTX_RUN(fib, 12) == 144, "tasks run");
    must(ABTX_fork_stop());
}

ABTX_TASK(int, note_run, (atomic_int *, has_run))
{
    (void)abtx_here;
    return atomic_fetch_add(has_run, 1);
}

ABTX_TASK(int, wait_for_thief, (int, unused))
{
    atomic_int has_run = 0;

    ABTX_FORK(note_run, task, &has_run);
    wait_for(has_run == 1);
    return ABTX_JOIN(note_run, task);
}

/* Whether another stream takes a task is chance. One does once, so that it has a stack for them from then on. */
static void begin_stolen(void)
{
    begin();
    must(start());
    must(ABTX_RUN(wait_for_thief, 0));
    must(ABTX_fork_stop());
}

static void nothing(void)
{
}

static const struct fault_case cases[] = {
    {"ABTX_source_open", FAULT_BRIEF | FAULT_HELPS, open_source, no_source, close_source, begin, end},
    {"a tree of tasks", FAULT_EXTERNAL | FAULT_HELPS, fork_all, NULL, nothing, NULL, NULL},
    {"ABTX_fork_start", FAULT_EXTERNAL | FAULT_BRIEF, start, NULL, stop, begin_stolen, end},
};

int main(void)
{
    fault_begin();
    fault_run_all(cases);
    return done_testing();
}

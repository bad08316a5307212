/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources and forked tasks without memory: what cannot be had is told or done without, and no work is lost. */
#include "cases.h"

#include <abt_fork.h>

static ABT_xstream xstream; /* idle */
static ABTX_source source;
static atomic_int left, ran;

static void count_run(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ran, 1);
}

static ABT_bool give(void *arg, ABTX_work *work)
{
    int some = atomic_load(&left);
    (void)arg;

    while (some > 0 && !atomic_compare_exchange_weak(&left, &some, some - 1))
        ;
    work->func = count_run;
    return some > 0;
}

static void begin(void)
{
    xstream = new_xstream();
    probe_begin();
    probe_into(pool_of(xstream));
    probe_again();
    must(ABTX_source_create(give, NULL, &source));
    left = ran = 0;
}

static void end(void)
{
    must(ABTX_source_free(&source));
    probe_end();
    must(ABT_xstream_free(&xstream));
}

static ABTX_source another;

static int create_source(void)
{
    another = UNTOUCHED(ABTX_source);
    return ABTX_source_create(give, NULL, &another);
}

static void no_source(void)
{
    expect_alone(another);
}

static void free_source(void)
{
    must(ABTX_source_free(&another));
}

static int attach(void)
{
    return ABTX_source_attach(source, xstream);
}

static void not_attached(void)
{
    expect(ABTX_source_detach(source, xstream) == ABT_ERR_INV_ARG, "it is not attached");
}

static void use_and_detach(void)
{
    int before = ran;

    left = 3;
    must(ABTX_source_wake_one(source));
    wait_for(ran == before + 3);
    must(ABTX_source_detach(source, xstream));
}

/* --- The stream finds no memory for what the source gives --- */

static void begin_attached(void)
{
    begin();
    must(attach());
}

static int wait_for_work(void)
{
    int before = ran;

    left = 3;
    must(ABTX_source_wake_one(source));
    for (double stop = now() + 0.05; ran < before + 3 && now() < stop;)
        let_others_run();
    return ABT_SUCCESS;
}

/* What was not run at once is run when there is memory again. */
static void all_has_run(void)
{
    must(ABTX_xstream_wake(xstream));
    must(ABTX_source_wake_one(source));
    wait_for(left == 0);
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

    (void)unused;
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
    {"ABTX_source_create", FAULT_EXTERNAL, create_source, no_source, free_source, NULL, NULL},
    {"ABTX_source_attach", FAULT_EXTERNAL | FAULT_BRIEF, attach, not_attached, use_and_detach, begin, end},
    {"work of a source", FAULT_BRIEF | FAULT_HELPS, wait_for_work, NULL, all_has_run, begin_attached, end},
    {"a tree of tasks", FAULT_EXTERNAL | FAULT_HELPS, fork_all, NULL, nothing, NULL, NULL},
    {"ABTX_fork_start", FAULT_EXTERNAL | FAULT_BRIEF, start, NULL, stop, begin_stolen, end},
};

int main(void)
{
    fault_begin();
    fault_run_all(cases);
    return done_testing();
}

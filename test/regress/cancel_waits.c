/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ULT that was cancelled while it waited left behind what the function kept on its stack: another stream wrote there
 * when a driver had been detached. Each function that waits, by what the header says, has a row here: a ULT is
 * cancelled in it, others use its stack, and then comes what it has waited for.
 */
#include <sched.h>
#include <stdatomic.h>

#include "contract.h"
#include "regress.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the table has them, too */

/* Two streams: that of the ULT that is cancelled, and one that is busy, stops or goes. */
static ABT_xstream home, other;
static ABT_pool home_pool, other_pool, empty_pool;
static ABT_thread target; /* a unit that the ULT waits for */
static atomic_int inside, busy_ends, is_busy;
static ABT_mutex mutex;
static ABT_cond cond;
static ABT_rwlock rwlock;
static ABT_eventual eventual;
static ABT_future future;
static ABT_barrier barrier;
static ABT_xstream_barrier xbarrier;
static _Atomic(uint32_t) word;
static ABTX_driver driver;

/* A minute from now on CLOCK_REALTIME: a deadline that does not come. */
static const struct timespec *in_a_minute(void)
{
    static struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += 60;
    return &at;
}

/* ---- The streams ----------------------------------------------------------------------------------------------- */

static void keep_busy(void *unused)
{
    is_busy = 1;
    while (!busy_ends)
        ;
}

static void make_busy(void)
{
    busy_ends = is_busy = 0;
    must(ABT_thread_create(other_pool, keep_busy, NULL, ABT_THREAD_ATTR_NULL, &target));
    while (!is_busy)
        sched_yield();
}

static void end_busy(void)
{
    busy_ends = 1;
}

static void free_target(void)
{
    if (target != ABT_THREAD_NULL)
        must(ABT_thread_free(&target));
}

static void end_and_free_busy(void)
{
    end_busy();
    free_target();
}

/* Overwrites the stack of a ULT that has ended there. */
static void scribble(void *unused)
{
    volatile char bytes[6000];

    memset((void *)bytes, 0x5a, sizeof(bytes));
    ABT_thread_yield();
}

static void run_at_home(void (*fn)(void *))
{
    ABT_thread unit = ult_in(home_pool, fn, NULL);
    must(ABT_thread_free(&unit));
}

static atomic_int guard_ends;
static int guard_wrong;

/* Has that stack until what was waited for has come: nobody else may write to it. */
static void guard(void *unused)
{
    volatile char bytes[6000];

    memset((void *)bytes, 0x3c, sizeof(bytes));
    while (!guard_ends)
        ABT_thread_yield();
    for (size_t i = 0; i < sizeof(bytes); i++)
        guard_wrong += bytes[i] != 0x3c;
}

/* ---- What the ULT calls, and what ends that ---------------------------------------------------------------------- */

#define WAIT(name, ...)                                                                                                \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }

static ABT_thread none = ABT_THREAD_NULL;
static int index_of;

static ABT_thread fresh_unit(void)
{
    ABT_thread unit = ult_in(home_pool, do_nothing, NULL);
    return unit;
}

/* Takes it out of its pool, as who switches to a ready ULT has to. */
static ABT_thread popped_unit(void)
{
    ABT_thread unit;
    fresh_unit();
    do
        must(ABT_pool_pop_thread(home_pool, &unit));
    while (unit == ABT_THREAD_NULL);
    return unit;
}

WAIT(lock, ABT_mutex_lock(mutex))
WAIT(lock_high, ABT_mutex_lock_high(mutex))
WAIT(lock_low, ABT_mutex_lock_low(mutex))
WAIT(lock_spinning, ABT_mutex_spinlock(mutex); ABT_mutex_unlock(mutex))
WAIT(hold_mutex, must(ABT_mutex_lock(mutex)))
WAIT(give_mutex, must(ABT_mutex_unlock(mutex)))
WAIT(wait_cond, ABT_mutex_lock(mutex); ABT_cond_wait(cond, mutex); ABT_mutex_unlock(mutex))
WAIT(wait_cond_until, ABT_mutex_lock(mutex); ABT_cond_timedwait(cond, mutex, in_a_minute()); ABT_mutex_unlock(mutex))
WAIT(signal_cond, must(ABT_cond_signal(cond)))
WAIT(lock_reader, ABT_rwlock_rdlock(rwlock))
WAIT(lock_writer, ABT_rwlock_wrlock(rwlock))
WAIT(hold_rwlock, must(ABT_rwlock_wrlock(rwlock)))
WAIT(give_rwlock, must(ABT_rwlock_unlock(rwlock)))
WAIT(wait_eventual, ABT_eventual_wait(eventual, NULL))
WAIT(wait_eventual_until, ABT_eventual_timedwait(eventual, NULL, in_a_minute()))
WAIT(wait_any, ABT_eventual all[20]; for (int i = 0; i < 20; i++) all[i] = i == 10 ? eventual : ABT_EVENTUAL_NULL;
     ABTX_eventual_wait_any_until(20, all, &index_of, ABTX_FOREVER))
WAIT(wait_any_until, ABTX_eventual_wait_any_until(1, &eventual, &index_of, ABTX_after(INT64_C(60000000000))))
WAIT(set_eventual, must(ABT_eventual_set(eventual, NULL, 0)))
WAIT(wait_future, ABT_future_wait(future))
WAIT(set_future, must(ABT_future_set(future, NULL)))
WAIT(wait_barrier, ABT_barrier_wait(barrier))
WAIT(wait_word, ABTX_word_wait(&word, 0, 0, ABT_FALSE, NULL, NULL))
WAIT(change_word, word = 1; must(ABTX_word_wake(&word, 1)))
WAIT(meet_at_barrier, must(ABT_barrier_wait(barrier)))
WAIT(wait_xbarrier, ABT_xstream_barrier_wait(xbarrier))
WAIT(meet_at_xbarrier, must(ABT_xstream_barrier_wait(xbarrier)))
WAIT(sleep_long, ABTX_self_sleep(INT64_C(60000000000)))
WAIT(join, ABT_thread_join(target))
WAIT(join_many, ABT_thread list[2] = {none, target}; ABT_thread_join_many(2, list))
WAIT(join_task, ABT_task_join(target))
WAIT(free_unit, ABT_thread own = target; ABT_thread_free(&own))
WAIT(free_many, ABT_thread list[2] = {none, target}; ABT_thread_free_many(2, list))
WAIT(free_task, ABT_task own = target; ABT_task_free(&own))
WAIT(end_freed, end_busy(); target = ABT_THREAD_NULL)
WAIT(detach, ABTX_driver_detach(driver, other))
WAIT(free_driver, ABTX_driver own = driver; driver = NULL; ABTX_driver_free(&own))
WAIT(yield, while (1) ABT_thread_yield())
WAIT(self_yield, while (1) ABT_self_yield())
WAIT(yield_to, while (1) ABT_thread_yield_to(fresh_unit()))
WAIT(self_yield_to, while (1) ABT_self_yield_to(popped_unit()))
WAIT(create_to, while (1) ABT_thread_create_to(home_pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL))
WAIT(revive_to, ABT_thread unit = fresh_unit(); must(ABT_thread_join(unit));
     while (1) must(ABT_thread_revive_to(home_pool, do_nothing, NULL, &unit)))
WAIT(suspend, ABT_self_suspend())
WAIT(suspend_to, ABT_self_suspend_to(popped_unit()))
static atomic_int driver_is_on;

static int driver_start(void *arg, void **data)
{
    *data = arg;
    driver_is_on = 1;
    return ABT_SUCCESS;
}

static void make_driver(void)
{
    ABTX_driver_ops ops = {.start = driver_start};
    driver_is_on = 0;
    must(ABTX_driver_create(&ops, NULL, &driver));
    must(ABTX_driver_attach(driver, other));
    while (!driver_is_on)
        sched_yield();
    make_busy();
}

WAIT(drop_driver, end_and_free_busy(); if (driver) must(ABTX_driver_free(&driver)))

WAIT(pop_wait, ABT_unit unit; ABT_pool_pop_wait(empty_pool, &unit, 0.01))
WAIT(pop_wait_thread, ABT_thread unit; ABT_pool_pop_wait_thread(empty_pool, &unit, 0.01))
WAIT(pop_until, ABT_unit unit; ABT_pool_pop_timedwait(empty_pool, &unit, ABT_get_wtime() + 0.01))
WAIT(region, ABTX_blocking_begin(); usleep(1000); ABTX_blocking_end())

/* A unit that the ULT resumes when it switches to it. */
static void be_resumed(void *unused)
{
    ABT_self_suspend();
}

static void make_blocked(void)
{
    must(ABT_thread_create(home_pool, be_resumed, NULL, ABT_THREAD_ATTR_NULL, &target));
    while (state_of(target) != ABT_THREAD_STATE_BLOCKED)
        sched_yield();
}

WAIT(resume_yield_to, ABT_self_resume_yield_to(target); while (1) ABT_thread_yield())
WAIT(resume_suspend_to, ABT_self_resume_suspend_to(target))

/* A stream that goes. */
static ABT_xstream extra;

static void make_extra(void)
{
    ABT_pool kept = other_pool;
    must(ABT_xstream_create(ABT_SCHED_NULL, &extra));
    must(ABT_xstream_get_main_pools(extra, 1, &other_pool));
    make_busy();
    other_pool = kept;
}

WAIT(join_stream, ABT_xstream_join(extra))
WAIT(free_stream, ABT_xstream own = extra; ABT_xstream_free(&own))
WAIT(free_extra, free_target(); must(ABT_xstream_free(&extra)))

/* ---- The table ------------------------------------------------------------------------------------------------- */

/* How it ends. */
enum end {
    AT_ONCE, /* the cancel ends the wait */
    LATER,   /* `release` does */
    NATIVE,  /* the native thread waits, and nothing else runs on the stream */
    NOT      /* no ULT that may be cancelled waits in it, or it does not wait */
};

static ABT_thread victim;

WAIT(resume_victim, must(ABT_thread_resume(victim)))

static const struct row {
    const char *function;
    enum end end;
    void (*prepare)(void), (*call)(void), (*release)(void), (*after)(void);
} rows[] = {
    {"ABT_mutex_lock", LATER, hold_mutex, lock, give_mutex, NULL},
    {"ABT_mutex_lock_high", LATER, hold_mutex, lock_high, give_mutex, NULL},
    {"ABT_mutex_lock_low", LATER, hold_mutex, lock_low, give_mutex, NULL},
    {"ABT_mutex_spinlock", NATIVE, hold_mutex, lock_spinning, give_mutex, NULL},
    {"ABT_cond_wait", LATER, NULL, wait_cond, signal_cond, NULL},
    {"ABT_cond_timedwait", AT_ONCE, NULL, wait_cond_until, signal_cond, NULL},
    {"ABT_rwlock_rdlock", LATER, hold_rwlock, lock_reader, give_rwlock, NULL},
    {"ABT_rwlock_wrlock", LATER, hold_rwlock, lock_writer, give_rwlock, NULL},
    {"ABT_eventual_wait", LATER, NULL, wait_eventual, set_eventual, NULL},
    {"ABT_eventual_timedwait", AT_ONCE, NULL, wait_eventual_until, set_eventual, NULL},
    {"ABTX_eventual_wait_any_until", AT_ONCE, NULL, wait_any, set_eventual, NULL},
    {"ABTX_eventual_wait_any_until", AT_ONCE, NULL, wait_any_until, set_eventual, NULL},
    {"ABT_future_wait", LATER, NULL, wait_future, set_future, NULL},
    {"ABT_barrier_wait", LATER, NULL, wait_barrier, meet_at_barrier, NULL},
    {"ABT_xstream_barrier_wait", NATIVE, NULL, wait_xbarrier, meet_at_xbarrier, NULL},
    {"ABTX_word_wait", LATER, NULL, wait_word, change_word, NULL},
    {"ABTX_self_sleep", AT_ONCE, NULL, sleep_long, NULL, NULL},
    {"ABT_thread_join", LATER, make_busy, join, end_busy, free_target},
    {"ABT_thread_join_many", LATER, make_busy, join_many, end_busy, free_target},
    {"ABT_task_join", LATER, make_busy, join_task, end_busy, free_target},
    {"ABT_thread_free", LATER, make_busy, free_unit, end_freed, NULL},
    {"ABT_thread_free_many", LATER, make_busy, free_many, end_freed, NULL},
    {"ABT_task_free", LATER, make_busy, free_task, end_freed, NULL},
    {"ABTX_driver_detach", LATER, make_driver, detach, end_busy, drop_driver},
    {"ABTX_driver_free", LATER, make_driver, free_driver, end_busy, drop_driver},
    {"ABT_thread_yield", AT_ONCE, NULL, yield, NULL, NULL},
    {"ABT_self_yield", AT_ONCE, NULL, self_yield, NULL, NULL},
    {"ABT_thread_yield_to", AT_ONCE, NULL, yield_to, NULL, NULL},
    {"ABT_self_yield_to", AT_ONCE, NULL, self_yield_to, NULL, NULL},
    {"ABT_self_resume_yield_to", AT_ONCE, make_blocked, resume_yield_to, NULL, free_target},
    {"ABT_thread_create_to", AT_ONCE, NULL, create_to, NULL, NULL},
    {"ABT_thread_revive_to", AT_ONCE, NULL, revive_to, NULL, NULL},
    {"ABT_self_suspend", LATER, NULL, suspend, resume_victim, NULL},
    {"ABT_self_suspend_to", LATER, NULL, suspend_to, resume_victim, NULL},
    {"ABT_self_resume_suspend_to", LATER, make_blocked, resume_suspend_to, resume_victim, free_target},
    {"ABT_pool_pop_wait", NATIVE, NULL, pop_wait, NULL, NULL},
    {"ABT_pool_pop_wait_thread", NATIVE, NULL, pop_wait_thread, NULL, NULL},
    {"ABT_pool_pop_timedwait", NATIVE, NULL, pop_until, NULL, NULL},
    {"ABTX_blocking_begin", NATIVE, NULL, region, NULL, NULL},
    {"ABTX_blocking_end", NATIVE, NULL, region, NULL, NULL},
    {"ABT_xstream_join", LATER, make_extra, join_stream, end_busy, free_extra},
    {"ABT_xstream_free", LATER, make_extra, free_stream, end_busy, free_extra},
    /* The primary ULT, schedulers and the like wait in these, or nobody does. */
    {.function = "ABT_finalize", .end = NOT},
    {.function = "ABT_pool_user_def_set_pop_wait", .end = NOT},
    {.function = "ABT_xstream_set_main_sched", .end = NOT}, /* a request, which outlives its caller */
    {.function = "ABT_xstream_set_main_sched_basic", .end = NOT},
    {.function = "ABT_xstream_run_unit", .end = NOT},
    {.function = "ABT_xstream_check_events", .end = NOT},
    {.function = "ABT_thread_cancel", .end = NOT},
    {.function = "ABT_thread_migrate_to_xstream", .end = NOT},
    {.function = "ABT_self_set_associated_pool", .end = NOT},
    {.function = "ABT_self_schedule", .end = NOT},
    {.function = "ABT_key_create", .end = NOT},
    {.function = "ABT_cond_free", .end = NOT},
    {.function = "ABT_info_print_all_xstreams", .end = NOT},
    {.function = "ABT_tool_register_thread_callback", .end = NOT}, /* the native thread waits, and keeps nothing */
    {.function = "ABTX_xstream_park_until", .end = NOT},
    {.function = "ABTX_xstream_wake", .end = NOT},
    {.function = "ABTX_xstream_enter", .end = NOT},
    {.function = "ABTX_xstream_leave", .end = NOT},
    {.function = "ABTX_xstream_set_spin", .end = NOT},
    {.function = "ABTX_driver_create", .end = NOT},
    {.function = "ABTX_driver_set_period", .end = NOT},
    {.function = "ABTX_driver_set_max_sleep", .end = NOT},
    {.function = "ABTX_driver_look", .end = NOT},
    {.function = "ABTX_driver_lead", .end = NOT},
    {.function = "ABTX_self_is_alone", .end = NOT},
    {.function = "ABTX_driver_attach", .end = NOT},
    {.function = "ABTX_driver_get_data", .end = NOT},
    {.function = "ABTX_self_put_off_cancel", .end = NOT},
    {.function = "ABTX_stats_enable", .end = NOT},
    {.function = "ABTX_trace_start", .end = NOT},
    {.function = "ABTX_expect_external_wake", .end = NOT},
    {.function = "ABTX_word_wake", .end = NOT},
};

enum { NUM_ROWS = sizeof(rows) / sizeof(rows[0]) };

static void has_row(const char *function)
{
    for (int i = 0; i < NUM_ROWS; i++) {
        if (!strcmp(rows[i].function, function))
            return;
    }
    ok(false, "%s waits, and has a row in the table", function);
}

/* ---- Each row -------------------------------------------------------------------------------------------------- */

static void victim_main(void *arg)
{
    const struct row *row = arg;
    volatile char pad[500];

    memset((void *)pad, 1, sizeof(pad));
    inside = 1;
    row->call();
    ABT_thread_yield();
}

static void make_objects(void)
{
    must(ABT_mutex_create(&mutex));
    must(ABT_cond_create(&cond));
    must(ABT_rwlock_create(&rwlock));
    must(ABT_eventual_create(0, &eventual));
    must(ABT_future_create(1, NULL, &future));
    must(ABT_barrier_create(2, &barrier));
    must(ABT_xstream_barrier_create(2, &xbarrier));
    target = ABT_THREAD_NULL;
    inside = guard_ends = guard_wrong = 0;
    word = 0;
}

/* Free whatever is free: what the ULT had when it ended stays. */
static void free_objects(void)
{
    ABT_eventual_free(&eventual);
    ABT_future_free(&future);
    ABT_barrier_free(&barrier);
    ABT_xstream_barrier_free(&xbarrier);
    ABT_cond_free(&cond);
    ABT_mutex_free(&mutex);
    ABT_rwlock_free(&rwlock);
}

static void try_row(const struct row *row)
{
    make_objects();
    if (row->prepare)
        row->prepare();
    must(ABT_thread_create(home_pool, victim_main, (void *)row, ABT_THREAD_ATTR_NULL, &victim));
    while (!inside)
        sched_yield();
    if (row->end != NATIVE)
        run_at_home(scribble); /* the ULT is in its wait now, since another one has run */
    must(ABT_thread_cancel(victim));
    if (row->end == AT_ONCE)
        must(ABT_thread_join(victim));
    for (int i = 0; i < 8 && row->end != NATIVE; i++)
        run_at_home(scribble);
    ABT_thread keeper = ult_in(home_pool, guard, NULL);
    if (row->release)
        row->release();
    must(ABT_thread_free(&victim));
    run_at_home(scribble);
    guard_ends = 1;
    must(ABT_thread_free(&keeper));
    is_int(guard_wrong, 0, "a ULT that is cancelled in %s leaves nothing behind", row->function);
    if (row->after)
        row->after();
    free_objects();
}

/* ---- A cancel that is put off ---------------------------------------------------------------------------------- */

static atomic_int steps;

/* Its second wait lasts: the first one was ended by the cancel. */
static void put_off(void *arg)
{
    ABT_bool before = ABT_TRUE;

    must(ABTX_self_put_off_cancel(ABT_TRUE, &before));
    ok(!before, "cancels were not put off");
    must(ABTX_self_put_off_cancel(ABT_TRUE, &before));
    ok(before, "they are now");
    steps = 1;
    is_int(ABT_eventual_timedwait(arg, NULL, in_a_minute()), ABT_ERR_COND_TIMEDOUT, "the cancel ends a timed wait");
    steps = 2;
    is_int(ABT_eventual_timedwait(arg, NULL, in_a_minute()), ABT_SUCCESS, "and not the next one");
    ABT_thread_yield();
    steps = 3;
    must(ABTX_self_put_off_cancel(ABT_FALSE, NULL));
    steps = 4;
}

static void as_tasklet(void *unused)
{
    is_int(ABTX_self_put_off_cancel(ABT_TRUE, NULL), ABT_ERR_INV_THREAD, "a tasklet cannot be cancelled while it runs");
}

static void *as_thread(void *unused)
{
    is_int(ABTX_self_put_off_cancel(ABT_TRUE, NULL), ABT_ERR_INV_XSTREAM, "nor can a native thread");
    return unused;
}

static void try_put_off(void)
{
    ABT_eventual late;
    ABT_task task;
    pthread_t thread;

    must(ABT_task_create(home_pool, as_tasklet, NULL, &task));
    must(ABT_task_free(&task));
    must(pthread_create(&thread, NULL, as_thread, NULL));
    must(pthread_join(thread, NULL));
    steps = 0;
    must(ABT_eventual_create(0, &late));
    must(ABT_thread_create(home_pool, put_off, late, ABT_THREAD_ATTR_NULL, &victim));
    while (steps < 1)
        sched_yield();
    run_at_home(scribble);
    must(ABT_thread_cancel(victim));
    while (steps < 2)
        sched_yield();
    run_at_home(scribble);
    must(ABT_eventual_set(late, NULL, 0));
    must(ABT_thread_free(&victim));
    is_int(steps, 3, "the ULT has ended where it no longer put the cancel off");
    must(ABT_eventual_free(&late));
}

int main(void)
{
    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_xstream_create(ABT_SCHED_NULL, &home));
    must(ABT_xstream_create(ABT_SCHED_NULL, &other));
    must(ABT_xstream_get_main_pools(home, 1, &home_pool));
    must(ABT_xstream_get_main_pools(other, 1, &other_pool));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &empty_pool));
    if (!contract_for_each(TEST_SOURCE "/include/abt.h.in", "ABT", NULL, has_row))
        skip(1, "the header's source is not here");
    try_put_off();
    for (int i = 0; i < NUM_ROWS; i++) {
        if (rows[i].end != NOT)
            try_row(&rows[i]);
    }
    must(ABT_pool_free(&empty_pool));
    must(ABT_xstream_free(&other));
    must(ABT_xstream_free(&home));
    must(ABT_finalize());
    return done_testing();
}

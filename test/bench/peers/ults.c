/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries of lightweight threads that users may have installed, on the same work. ULTS_H says which: it has the type
 * ult_t and ult_init(streams), ult_fini(), ult_create(&ult, func, arg), ult_join(&ult) and ult_yield(); ult_mutex_t and
 * ult_mutex_init, _lock and _unlock; and ult_event_t with ult_event_init, _set, and _take, which waits until it is set
 * and unsets it. Where the program says on which stream a ULT runs, it has ult_create_to(&ult, func, arg, stream), too.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include ULTS_H
#include "kernels.h"
#include "suite.h"

#ifndef ult_create_to
#define ult_create_to(ult, func, arg, stream) ult_create(ult, func, arg)
#endif

enum {
    UNITS = 256,
    PARENTS = 100,
    CHILDREN = 10,
    MAX_ULTS = 16384,
    SWITCHES = 20000,
    TASKS = 1000,
    ROWS = 1000,
    COLUMNS = KERNEL_SCAL_N,
    BLOCKED = 10000
};

static ult_t ults[MAX_ULTS];
static long each;

static void nothing(void *arg)
{
}

static void yields(void *arg)
{
    for (long n = each; n > 0; n--)
        ult_yield();
}

static void batch(void *arg)
{
    const struct suite_work *work = arg;
    for (long i = 0; i < work->n; i++)
        ult_create(&ults[i], work->variant ? yields : nothing, NULL);
    for (long i = 0; i < work->n; i++)
        ult_join(&ults[i]);
}

static void run(const struct suite_work *work)
{
    each = work->variant ? SWITCHES / work->n : 1;
    ult_init(suite_streams);
    suite_run(batch, (void *)work, (double)(each * work->n));
    ult_fini();
}

/* ---- One creator, for all streams ---- */

static void create_all(void *arg)
{
    for (int i = 0; i < UNITS; i++)
        ult_create_to(&ults[i], nothing, NULL, i % suite_streams);
}

static void join_all(void *arg)
{
    for (int i = 0; i < UNITS; i++)
        ult_join(&ults[i]);
}

static void run_steps(const struct suite_work *work)
{
    ult_init(suite_streams);
    suite_run_steps((enum suite_step)work->variant, create_all, join_all, NULL, (double)work->n);
    ult_fini();
}

/* ---- Loops: the factor is 2 and 1/2 in turns, so that all is as before after two batches ---- */

static float matrix[ROWS][COLUMNS];
static float factor = 2;

struct range {
    int row, begin, end;
    ult_t ult;
};

static void scal(void *arg)
{
    const struct range *r = arg;
    kernel_scal(matrix[r->row], r->begin, r->end, factor);
}

/* A row in parts, on all streams or for the caller's. */
static void scal_parts(struct range *ranges, int row, int parts, int streams)
{
    for (int i = 0; i < parts; i++) {
        ranges[i].row = row;
        ranges[i].begin = COLUMNS * i / parts;
        ranges[i].end = COLUMNS * (i + 1) / parts;
        if (streams > 0)
            ult_create_to(&ranges[i].ult, scal, &ranges[i], i % streams);
        else
            ult_create(&ranges[i].ult, scal, &ranges[i]);
    }
    for (int i = parts; i-- > 0;)
        ult_join(&ranges[i].ult);
}

static void for_loop(void *arg)
{
    struct range ranges[SUITE_MAX_STREAMS];
    scal_parts(ranges, 0, suite_streams, suite_streams);
    factor = 2.5F - factor;
}

static void tasks_single(void *arg)
{
    static struct range ranges[TASKS];
    scal_parts(ranges, 0, TASKS, suite_streams);
    factor = 2.5F - factor;
}

static void scal_rows(void *arg)
{
    const struct range *r = arg;
    struct range inner[SUITE_MAX_STREAMS];
    for (int row = r->begin; row < r->end; row++)
        scal_parts(inner, row, suite_streams > 1 ? suite_streams : 2, 0);
}

/* func for a part of the range on each stream. */
static void on_all_streams(int num, void (*func)(void *))
{
    struct range outer[SUITE_MAX_STREAMS];
    for (int s = 0; s < suite_streams; s++) {
        outer[s].begin = num * s / suite_streams;
        outer[s].end = num * (s + 1) / suite_streams;
        ult_create_to(&outer[s].ult, func, &outer[s], s);
    }
    for (int s = 0; s < suite_streams; s++)
        ult_join(&outer[s].ult);
    factor = 2.5F - factor;
}

static void nested(void *arg)
{
    on_all_streams(ROWS, scal_rows);
}

/* An element each. */
static void scal_each(void *arg)
{
    const struct range *r = arg;
    struct range *each_of = calloc((size_t)(r->end - r->begin), sizeof(*each_of));
    if (!each_of)
        exit(1);
    for (int i = r->begin; i < r->end; i++) {
        each_of[i - r->begin].begin = i;
        each_of[i - r->begin].end = i + 1;
        ult_create(&each_of[i - r->begin].ult, scal, &each_of[i - r->begin]);
    }
    for (int i = r->end; i-- > r->begin;)
        ult_join(&each_of[i - r->begin].ult);
    free(each_of);
}

static void tasks_parallel(void *arg)
{
    on_all_streams(TASKS, scal_each);
}

static void nested_tasks(void *arg)
{
    static struct range parents[PARENTS];
    for (int i = 0; i < PARENTS; i++) {
        parents[i].begin = i * CHILDREN;
        parents[i].end = (i + 1) * CHILDREN;
        ult_create_to(&parents[i].ult, scal_each, &parents[i], i % suite_streams);
    }
    for (int i = PARENTS; i-- > 0;)
        ult_join(&parents[i].ult);
    factor = 2.5F - factor;
}

static void (*const loops[])(void *) = {for_loop, tasks_single, nested, tasks_parallel, nested_tasks};
enum { FOR_LOOP, TASKS_SINGLE, NESTED, TASKS_PARALLEL, NESTED_TASKS };

static void run_loop(const struct suite_work *work)
{
    kernel_fill(matrix[0], ROWS * COLUMNS);
    ult_init(suite_streams);
    suite_run(loops[work->variant], NULL, 1);
    ult_fini();
    kernel_expect_scaled(matrix[0], (int)work->n * COLUMNS, factor);
}

/* ---- Trees ---- */

struct fib {
    int n;
    long result;
};

static void fib(void *arg)
{
    struct fib *f = arg, a, b;
    ult_t ult;
    if (f->n < 2) {
        f->result = f->n;
        return;
    }
    a.n = f->n - 1;
    b.n = f->n - 2;
    ult_create(&ult, fib, &a);
    fib(&b);
    ult_join(&ult);
    f->result = a.result + b.result;
}

static void fib_batch(void *arg)
{
    struct fib f = {KERNEL_FIB_N, 0};
    fib(&f);
    suite_expect(f.result, kernel_fib(KERNEL_FIB_N), "fib");
}

static void run_fib(const struct suite_work *work)
{
    ult_init(suite_streams);
    suite_run(fib_batch, NULL, (double)kernel_fib_spawns(KERNEL_FIB_N));
    ult_fini();
}

static void place_queens(void *arg)
{
    struct kernel_board *board = arg, next[KERNEL_MAX_QUEENS];
    ult_t mine[KERNEL_MAX_QUEENS];
    int num = 0;
    for (unsigned free = kernel_queens_free(board, KERNEL_QUEENS); free; free &= free - 1, num++) {
        kernel_queens_place(board, free, KERNEL_QUEENS, &next[num]);
        ult_create(&mine[num], place_queens, &next[num]);
    }
    while (num-- > 0) {
        ult_join(&mine[num]);
        board->solutions += next[num].solutions;
    }
}

static void queens_batch(void *arg)
{
    struct kernel_board board = {0, 0, 0, 0, 0};
    place_queens(&board);
    suite_expect(board.solutions, kernel_queens_solutions(KERNEL_QUEENS), "the number of solutions");
}

static void run_queens(const struct suite_work *work)
{
    ult_init(suite_streams);
    suite_run(queens_batch, NULL, (double)kernel_queens_placements(KERNEL_QUEENS));
    ult_fini();
}

/* ---- Waiting ---- */

enum { PAIR = 2, LOCKERS = 8 };

static ult_mutex_t mutex;
static ult_event_t events[BLOCKED];
static long count;

static void locks(void *arg)
{
    for (long n = each; n > 0; n--) {
        ult_mutex_lock(&mutex);
        count++;
        ult_mutex_unlock(&mutex);
    }
}

static void locks_and_yields(void *arg)
{
    for (long n = each; n > 0; n--) {
        ult_mutex_lock(&mutex);
        long before = count;
        ult_yield();
        count = before + 1;
        ult_mutex_unlock(&mutex);
    }
}

/* Two ULTs take turns: the first one begins. */
static void plays(void *arg)
{
    int me = arg == &events[1];
    for (long n = each; n > 0; n--) {
        if (me == 0)
            ult_event_set(&events[1]);
        ult_event_take(&events[me]);
        count++;
        if (me == 1)
            ult_event_set(&events[0]);
    }
}

static void (*const waits[])(void *) = {locks, locks_and_yields, plays};
enum { LOCKS, LOCKS_AND_YIELDS, PLAYS };

static void wait_batch(void *arg)
{
    const struct suite_work *work = arg;
    count = 0;
    for (long i = 0; i < work->n; i++)
        ult_create(&ults[i], waits[work->variant], &events[i]);
    for (long i = 0; i < work->n; i++)
        ult_join(&ults[i]);
    suite_expect(count, each * work->n, "the number of operations");
}

static void run_waits(const struct suite_work *work)
{
    each = SWITCHES / work->n;
    ult_init(suite_streams);
    ult_mutex_init(&mutex);
    for (int i = 0; i < PAIR; i++)
        ult_event_init(&events[i]);
    suite_run(wait_batch, (void *)work, (double)(each * work->n));
    ult_fini();
}

/* ---- Memory ---- */

static void blocks(void *arg)
{
    count++; /* one stream */
    ult_event_take(arg);
}

static void run_memory(const struct suite_work *work)
{
    struct suite_samples samples = {NULL, 0, 0};
    ult_init(1);
    for (int i = 0; i < BLOCKED; i++) {
        ult_event_init(&events[i]);
        memset(&ults[i], 0, sizeof(ults[i])); /* the array's own pages are there */
    }
    long before = suite_resident();
    for (int i = 0; i < BLOCKED; i++)
        ult_create(&ults[i], blocks, &events[i]);
    while (count < BLOCKED)
        ult_yield();
    suite_add(&samples, (double)(suite_resident() - before) / BLOCKED);
    suite_report(&samples, 1);
    for (int i = 0; i < BLOCKED; i++)
        ult_event_set(&events[i]);
    for (int i = 0; i < BLOCKED; i++)
        ult_join(&ults[i]);
    ult_fini();
}

static const struct suite_work works[] = {
    {"create-256", "", "1", run, 256, 0},
    {"create-16384", "", "1", run, 16384, 0},
    {"yield-2", "", "1", run, 2, 1},
    {"yield-256", "", "1", run, 256, 1},
    {"mutex", "", "1", run_waits, 1, LOCKS},
    {"mutex-8", "", "*", run_waits, LOCKERS, LOCKS_AND_YIELDS},
    {"eventual", "", "*", run_waits, PAIR, PLAYS},
    {"for-loop", "", "*", run_loop, 1, FOR_LOOP},
    {"tasks-single", "", "*", run_loop, 1, TASKS_SINGLE},
    {"nested", "", "*", run_loop, ROWS, NESTED},
    {"tasks-parallel", "", "*", run_loop, 1, TASKS_PARALLEL},
    {"nested-tasks", "", "*", run_loop, 1, NESTED_TASKS},
    {"step-create", "", "*", run_steps, UNITS, SUITE_CREATE},
    {"step-join", "", "*", run_steps, UNITS, SUITE_JOIN},
    {"step-both", "", "*", run_steps, UNITS, SUITE_BOTH},
    {"fib", "", "*", run_fib, 0, 0},
    {"nqueens", "", "*", run_queens, 0, 0},
    {"memory-blocked", "", "1", run_memory, 0, 0},
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops and trees of abt_task.c by forked tasks, where the library has them. */
#include "abt_team.h"

#include <abt_fork.h>
#include "kernels.h"
#include "xs.h"

enum { SMALL, LARGE }; /* trees */
enum { TASKS = 1000, ROWS = 1000, COLUMNS = KERNEL_SCAL_N };

/* A library of 1.2 has none of these: the works are not listed then. */
#pragma weak ABTX_fork_start
#pragma weak ABTX_fork_stop
#pragma weak ABTX_fork_enter
#pragma weak ABTX_fork_leave
#pragma weak ABTX_fork_slow
#pragma weak ABTX_fork_join_slow

bool abt_has_forks(void)
{
    return ABTX_fork_start != NULL;
}

/* Measures batches as a ULT on the first stream. */
struct job {
    void (*run)(void (*batch)(void *), void *arg, double operations);
    void (*batch)(void *);
    double operations;
};

static void measure(void *arg)
{
    const struct job *job = arg;
    job->run(job->batch, NULL, job->operations);
}

static void run(void (*batch)(void *), double operations)
{
    struct job job = {operations > 1e5 ? suite_run_long : suite_run, batch, operations};
    ABT_thread thread;
    team_start(TEAM_MPMC);
    CHECK(ABTX_fork_start(team.num, team.streams));
    CHECK(ABT_thread_create(team.pools[0], measure, &job, ABT_THREAD_ATTR_NULL, &thread));
    CHECK(ABT_thread_free(&thread));
    CHECK(ABTX_fork_stop());
    team_stop();
}

/* ---- Loops: the factor is 2 and 1/2 in turns, so that all is as before after two batches ---- */

static float matrix[ROWS][COLUMNS];
static float factor = 2;

/* A part for each stream, and two on one stream where a loop is in a loop, as it is for the peers. */
static ptrdiff_t grain;

static void scal_part(ptrdiff_t begin, ptrdiff_t end, void *row)
{
    kernel_scal(row, (int)begin, (int)end, factor);
}

static void scal_rows(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    for (ptrdiff_t row = begin; row < end; row++)
        abtx_for(0, COLUMNS, grain, scal_part, matrix[row]);
}

static void for_loop(void *arg)
{
    abtx_for(0, COLUMNS, grain, scal_part, matrix[0]);
    factor = 2.5F - factor;
}

static void nested(void *arg)
{
    abtx_for(0, ROWS, 1, scal_rows, NULL);
    factor = 2.5F - factor;
}

ABTX_TASK(int, scal_one, (int, i))
{
    (void)abtx_here;
    kernel_scal(matrix[0], i, i + 1, factor);
    return 0;
}

/* A task for each element, whether somebody wants it or not. */
static void tasks_single(void *arg)
{
    static struct scal_one_task tasks[TASKS];
    static abtx_at positions[TASKS];
    struct abtx_region region;
    abtx_at here = ABTX_fork_enter(&region);
    for (int i = 0; i < TASKS; i++) {
        scal_one_set(&tasks[i], i);
        positions[i] = here;
        here = abtx_fork(here, &tasks[i].task, scal_one_run);
    }
    for (int i = TASKS; i-- > 0;)
        (void)scal_one_join(&tasks[i], positions[i]);
    ABTX_fork_leave(&region);
    factor = 2.5F - factor;
}

ABTX_VOID_TASK(nothing)
{
    (void)abtx_here;
}

ABTX_VOID_TASK(fork_nothing)
{
    struct nothing_task tasks[TASKS];
    abtx_at positions[TASKS];
    for (int i = 0; i < TASKS; i++) {
        positions[i] = abtx_here;
        abtx_here = abtx_fork(abtx_here, &tasks[i].task, nothing_run);
    }
    for (int i = TASKS; i-- > 0;)
        nothing_join(&tasks[i], positions[i]);
}

static void tasks_empty(void *arg)
{
    ABTX_RUN(fork_nothing);
}

static void run_tasks_empty(const struct suite_work *work)
{
    setenv("ABT_THREAD_STACKSIZE", "65536", 1); /* they lie there */
    run(tasks_empty, 1);
}

static void run_loop(const struct suite_work *work, void (*batch)(void *))
{
    kernel_fill(matrix[0], ROWS * COLUMNS);
    factor = 2;
    run(batch, 1);
    kernel_expect_scaled(matrix[0], (int)work->n * COLUMNS, factor);
}

static void run_for_loop(const struct suite_work *work)
{
    grain = (COLUMNS + suite_streams - 1) / suite_streams;
    run_loop(work, for_loop);
}

static void run_nested(const struct suite_work *work)
{
    grain = suite_streams < 2 ? COLUMNS / 2 : (COLUMNS + suite_streams - 1) / suite_streams;
    run_loop(work, nested);
}

static void run_tasks_single(const struct suite_work *work)
{
    run_loop(work, tasks_single);
}

/* ---- Trees ---- */

ABTX_TASK(long, fib, (int, n))
{
    if (n < 2)
        return n;
    ABTX_FORK(fib, one, n - 1);
    long two = ABTX_CALL(fib, n - 2);
    return ABTX_JOIN(fib, one) + two;
}

static int fib_n;

static void fib_batch(void *arg)
{
    suite_expect(ABTX_RUN(fib, fib_n), kernel_fib(fib_n), "fib");
}

static void run_fib(const struct suite_work *work)
{
    fib_n = work->variant == LARGE ? KERNEL_LARGE_FIB_N : KERNEL_FIB_N;
    run(fib_batch, (double)kernel_fib_spawns(fib_n));
}

static int queens;

ABTX_TASK_DECLARE(long, place_first, (const struct kernel_board *, board), (unsigned, free));

/* The solutions from this board on. */
static long count_solutions(abtx_at abtx_here, const struct kernel_board *board)
{
    unsigned free = kernel_queens_free(board, queens);
    return free ? ABTX_CALL(place_first, board, free) : board->solutions;
}

/* Those with a queen in the first free column, while others may look at the other free columns. */
ABTX_TASK_DEFINE(long, place_first, (const struct kernel_board *, board), (unsigned, free))
{
    struct kernel_board next;
    kernel_queens_place(board, free, queens, &next);
    free &= free - 1;
    if (!free)
        return count_solutions(abtx_here, &next);
    ABTX_FORK(place_first, others, board, free);
    long solutions = count_solutions(abtx_here, &next);
    return solutions + ABTX_JOIN(place_first, others);
}

ABTX_TASK(long, all_solutions, (const struct kernel_board *, board))
{
    return count_solutions(abtx_here, board);
}

static void queens_batch(void *arg)
{
    struct kernel_board board = {0, 0, 0, 0, 0};
    suite_expect(ABTX_RUN(all_solutions, &board), kernel_queens_solutions(queens), "the number of solutions");
}

static void run_queens(const struct suite_work *work)
{
    queens = KERNEL_QUEENS;
    run(queens_batch, (double)kernel_queens_placements(queens));
}

static enum kernel_tree tree;

struct children_task {
    struct abtx_task task;
    const struct kernel_node *parent;
    int first;
    long nodes;
};

static long count_children(abtx_at here, const struct kernel_node *parent, int first);

static void run_children(abtx_at here, struct abtx_task *task)
{
    struct children_task *t = (struct children_task *)task;
    t->nodes = count_children(here, t->parent, t->first);
}

/* The child and all below it. */
static long count_child(abtx_at here, const struct kernel_node *parent, int number)
{
    struct kernel_node child;
    kernel_uts_child(tree, parent, number, &child);
    return 1 + (child.num_children > 0 ? count_children(here, &child, 0) : 0);
}

/*
 * The children from `first` on and all below them. While one is counted, others may take those behind it: the oldest
 * task is the largest part. So it is not with a loop in a loop, of which the inner one is split.
 */
static long count_children(abtx_at here, const struct kernel_node *parent, int first)
{
    struct children_task others;
    long nodes = 0;
    others.parent = parent;
    for (int i = first; i + 1 < parent->num_children; i++) {
        others.first = i + 1;
        nodes += count_child(abtx_fork(here, &others.task, run_children), parent, i);
        if (!abtx_join(here))
            return nodes + others.nodes;
    }
    return nodes + count_child(here, parent, parent->num_children - 1);
}

static void uts_batch(void *arg)
{
    struct kernel_node root;
    struct abtx_region region;
    kernel_uts_root(tree, &root);
    suite_expect(1 + count_children(ABTX_fork_enter(&region), &root, 0), kernel_uts_nodes(tree), "the number of nodes");
    ABTX_fork_leave(&region);
}

static void run_uts(const struct suite_work *work)
{
    tree = (enum kernel_tree)work->n;
    setenv("ABT_THREAD_STACKSIZE", "1048576", 1); /* a node lies on the stack of its parent */
    run(uts_batch, (double)kernel_uts_nodes(tree));
}

/* ---- Cross-section lookups ---- */

static void look_up(ptrdiff_t begin, ptrdiff_t end, void *sum, void *lookups)
{
    for (ptrdiff_t i = begin; i < end; i++)
        *(unsigned long *)sum += xs_do((const struct xs_lookup *)lookups + i);
}

static void add_checksum(void *left, const void *right, void *arg)
{
    *(unsigned long *)left += *(const unsigned long *)right;
}

static int sorted;

static void xs_batch(void *arg)
{
    static const unsigned long none;
    struct abtx_reduction how = {sizeof(none), &none, look_up, add_checksum, xs_lookups(sorted)};
    unsigned long sum = 0;
    abtx_reduce(0, xs_num_lookups(), 100, &how, &sum);
    xs_expect(sum);
}

static void run_xs(const struct suite_work *work)
{
    sorted = (int)work->n;
    xs_make();
    run(xs_batch, (double)xs_num_lookups());
    xs_free();
}

const struct suite_work abt_forked_works[] = {
    {"for-loop", "forked", "*", run_for_loop, 1, 0},
    {"tasks-single", "forked", "*", run_tasks_single, 1, 0},
    {"tasks-empty", "forked", "*", run_tasks_empty, 0, 0},
    {"nested", "forked", "*", run_nested, ROWS, 0},
    {"fib", "forked", "*", run_fib, 0, SMALL},
    {"fib-large", "forked", "*", run_fib, 0, LARGE},
    {"nqueens", "forked", "*", run_queens, 0, 0},
    {"uts-t1", "forked", "*", run_uts, KERNEL_T1, 0},
    {"uts-t3", "forked", "*", run_uts, KERNEL_T3, 0},
    {"xs-unsorted", "forked", "*", run_xs, 0, 0},
    {"xs-presorted", "forked", "*", run_xs, 1, 0},
};
const int abt_forked_num = sizeof(abt_forked_works) / sizeof(abt_forked_works[0]);

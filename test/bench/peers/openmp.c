/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP on the same work: compiled by gcc it is libgomp's, by clang libomp's. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "dense.h"
#include "kernels.h"
#include "suite.h"
#include "xs.h"

enum { UNITS = 256, PARENTS = 100, CHILDREN = 10, TASKS = 1000, ROWS = 1000, COLUMNS = KERNEL_SCAL_N };

/* ---- Creation: each thread makes tasks and waits for them ---- */

static void tasks(void *arg)
{
    long num = *(const long *)arg;
    for (long i = 0; i < num; i++) {
#pragma omp task
        __asm__ volatile("");
    }
#pragma omp taskwait
}

static void run_create(const struct suite_work *work)
{
    static struct suite_samples samples[SUITE_MAX_STREAMS];
#pragma omp parallel
    {
        struct suite_samples mine = {NULL, 0, 0};
        suite_measure(&mine, tasks, (void *)&work->n, (double)work->n);
        samples[omp_get_thread_num()] = mine;
    }
    suite_report(samples, suite_streams);
}

/* ---- One creator, for all threads ---- */

static void wait_for_tasks(void *arg)
{
#pragma omp taskwait
}

static void make_tasks(void *arg)
{
    for (int i = 0; i < UNITS; i++) {
#pragma omp task
        __asm__ volatile("");
    }
}

static void run_steps(const struct suite_work *work)
{
#pragma omp parallel
#pragma omp single
    suite_run_steps((enum suite_step)work->variant, make_tasks, wait_for_tasks, NULL, (double)work->n);
}

/* ---- Loops ---- */

static float matrix[ROWS][COLUMNS];
static float factor = 2;

static void for_loop(void *arg)
{
#pragma omp parallel for
    for (int i = 0; i < COLUMNS; i++)
        matrix[0][i] *= factor;
    factor = 2.5F - factor;
}

static void tasks_single(void *arg)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
        kernel_scal(matrix[0], i, i + 1, factor);
    }
    factor = 2.5F - factor;
}

static void tasks_parallel(void *arg)
{
#pragma omp parallel for
    for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
        kernel_scal(matrix[0], i, i + 1, factor);
    }
    factor = 2.5F - factor;
}

static void nested(void *arg)
{
    int inner = suite_streams < 2 ? 2 : suite_streams;
#pragma omp parallel for
    for (int row = 0; row < ROWS; row++) {
#pragma omp parallel for num_threads(inner)
        for (int i = 0; i < COLUMNS; i++)
            matrix[row][i] *= factor;
    }
    factor = 2.5F - factor;
}

static void make_children(int parent)
{
    for (int i = parent * CHILDREN; i < (parent + 1) * CHILDREN; i++) {
#pragma omp task firstprivate(i)
        kernel_scal(matrix[0], i, i + 1, factor);
    }
#pragma omp taskwait
}

static void nested_tasks(void *arg)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < PARENTS; i++) {
#pragma omp task firstprivate(i)
        make_children(i);
    }
    factor = 2.5F - factor;
}

static void (*const loops[])(void *) = {for_loop, tasks_single, tasks_parallel, nested, nested_tasks};

static void run_loop(const struct suite_work *work)
{
    kernel_fill(matrix[0], ROWS * COLUMNS);
    suite_run(loops[work->variant], NULL, 1);
    kernel_expect_scaled(matrix[0], (int)work->n * COLUMNS, factor);
}

/* ---- Trees ---- */

static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void fib_batch(void *arg)
{
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = fib(KERNEL_FIB_N);
    suite_expect(result, kernel_fib(KERNEL_FIB_N), "fib");
}

static void run_fib(const struct suite_work *work)
{
    suite_run(fib_batch, NULL, (double)kernel_fib_spawns(KERNEL_FIB_N));
}

static int queens;

static void place_queens(struct kernel_board *board)
{
    struct kernel_board next[KERNEL_MAX_QUEENS];
    int num = 0;
    for (unsigned free = kernel_queens_free(board, queens); free; free &= free - 1, num++) {
        kernel_queens_place(board, free, queens, &next[num]);
#pragma omp task firstprivate(num) shared(next)
        place_queens(&next[num]);
    }
#pragma omp taskwait
    while (num-- > 0)
        board->solutions += next[num].solutions;
}

static void queens_batch(void *arg)
{
    struct kernel_board board = {0, 0, 0, 0, 0};
#pragma omp parallel
#pragma omp single
    place_queens(&board);
    suite_expect(board.solutions, kernel_queens_solutions(queens), "the number of solutions");
}

static void run_queens(const struct suite_work *work)
{
    queens = KERNEL_QUEENS;
    suite_run(queens_batch, NULL, (double)kernel_queens_placements(queens));
}

static enum kernel_tree tree;
static struct {
    _Alignas(64) long nodes;
} tallies[SUITE_MAX_STREAMS];

static void search(struct kernel_node *node)
{
    struct kernel_node *child = NULL;
    for (int i = 0; i < node->num_children; i++) {
        if (!child && !(child = malloc(sizeof(*child))))
            exit(1);
        kernel_uts_child(tree, node, i, child);
        if (child->num_children > 0) {
#pragma omp task firstprivate(child)
            search(child);
            child = NULL;
        }
    }
    tallies[omp_get_thread_num()].nodes += node->num_children;
    free(child);
    free(node);
}

static void uts_batch(void *arg)
{
    struct kernel_node *root = malloc(sizeof(*root));
    long nodes = 1;
    if (!root)
        exit(1);
    kernel_uts_root(tree, root);
#pragma omp parallel
#pragma omp single
    search(root);
    for (int i = 0; i < suite_streams; i++) {
        nodes += tallies[i].nodes;
        tallies[i].nodes = 0;
    }
    suite_expect(nodes, kernel_uts_nodes(tree), "the number of nodes");
}

static void run_uts(const struct suite_work *work)
{
    tree = (enum kernel_tree)work->n;
    suite_run_long(uts_batch, NULL, (double)kernel_uts_nodes(tree));
}

/* ---- Cross-section lookups: the loop that is the original ---- */

static void lookup_loop(void *arg)
{
    const struct xs_lookup *lookups = xs_lookups((int)*(const long *)arg);
    long num = xs_num_lookups();
    unsigned long sum = 0;
#pragma omp parallel for schedule(dynamic, 100) reduction(+ : sum)
    for (long i = 0; i < num; i++)
        sum += xs_do(&lookups[i]);
    xs_expect(sum);
}

static void run_xs(const struct suite_work *work)
{
    xs_make();
    suite_run_long(lookup_loop, (void *)&work->n, (double)xs_num_lookups());
    xs_free();
}

/* ---- Arrays ---- */

/* A call by a pointer is behind a function: clang 14 crashes on one that stands in a task itself. */

static void call(void (*const *funcs)(void *), void *const *args, int i)
{
    funcs[i](args[i]);
}

static void invoke(int num, void (*const *funcs)(void *), void *const *args)
{
    for (int i = 1; i < num; i++) {
#pragma omp task firstprivate(i)
        call(funcs, args, i);
    }
    call(funcs, args, 0);
#pragma omp taskwait
}

struct loop {
    ptrdiff_t begin, end, grain;
    void (*body)(ptrdiff_t, ptrdiff_t, void *);
    void *arg;
};

static void do_part(const struct loop *loop, ptrdiff_t part)
{
    ptrdiff_t first = loop->begin + part * loop->grain, end = first + loop->grain;
    loop->body(first, end < loop->end ? end : loop->end, loop->arg);
}

static void loop(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t grain, void (*body)(ptrdiff_t, ptrdiff_t, void *), void *arg)
{
    struct loop all = {begin, end, grain, body, arg};
    ptrdiff_t parts = (end - begin + grain - 1) / grain;
#pragma omp taskloop grainsize(1) shared(all)
    for (ptrdiff_t part = 0; part < parts; part++)
        do_part(&all, part);
}

static void do_dense(void *arg)
{
    static const struct dense_runtime runtime = {invoke, loop};
#pragma omp parallel
#pragma omp single
    dense_do(&runtime);
}

static void run_dense(const struct suite_work *work)
{
    dense_make((enum dense_work)work->n, suite_quick);
    suite_run(do_dense, NULL, 1);
    suite_expect(dense_errors(), 0, "the number of wrong parts");
    dense_free();
}

static const struct suite_work works[] = {
    {"create-256", "tasks", "*", run_create, 256, 0},
    {"create-16384", "tasks", "*", run_create, 16384, 0},
    {"for-loop", "", "*", run_loop, 1, 0},
    {"tasks-single", "", "*", run_loop, 1, 1},
    {"tasks-parallel", "", "*", run_loop, 1, 2},
    {"nested", "", "*", run_loop, ROWS, 3},
    {"nested-tasks", "", "*", run_loop, 1, 4},
    {"step-create", "", "*", run_steps, UNITS, SUITE_CREATE},
    {"step-join", "", "*", run_steps, UNITS, SUITE_JOIN},
    {"step-both", "", "*", run_steps, UNITS, SUITE_BOTH},
    {"fib", "", "*", run_fib, 0, 0},
    {"nqueens", "", "*", run_queens, 0, 0},
    {"uts-t1", "", "*", run_uts, KERNEL_T1, 0},
    {"uts-t3", "", "*", run_uts, KERNEL_T3, 0},
    {"mergesort", "", "*", run_dense, DENSE_MERGESORT, 0},
    {"matmul", "", "*", run_dense, DENSE_MATMUL, 0},
    {"heat", "", "*", run_dense, DENSE_HEAT, 0},
    {"fft", "", "*", run_dense, DENSE_FFT, 0},
    {"xs-unsorted", "", "*", run_xs, 0, 0},
    {"xs-presorted", "", "*", run_xs, 1, 0},
};

int main(int argc, char **argv)
{
    if (argc == 6)
        omp_set_num_threads(atoi(argv[4]));
    return suite_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}

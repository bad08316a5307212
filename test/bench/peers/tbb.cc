/* SPDX-License-Identifier: BSD-3-Clause */
/* oneTBB on the same work. */
#include <atomic>
#include <cstdlib>
#include <memory>
#include <oneapi/tbb.h>

#include "dense.h"
#include "kernels.h"
#include "suite.h"

namespace
{

enum { UNITS = 256, PARENTS = 100, CHILDREN = 10, TASKS = 1000, ROWS = 1000, COLUMNS = KERNEL_SCAL_N };

/* ---- Creation: each thread makes tasks and waits for them ---- */

void tasks(void *arg)
{
    long num = *static_cast<const long *>(arg);
    tbb::task_group group;
    for (long i = 0; i < num; i++)
        group.run([] { __asm__ volatile(""); });
    group.wait();
}

void run_create(const suite_work *work)
{
    static suite_samples samples[SUITE_MAX_STREAMS];
    std::atomic<int> here{0};
    tbb::parallel_for(
        0, suite_streams,
        [&](int i) {
            here++;
            while (here < suite_streams)
                std::this_thread::yield();
            suite_measure(&samples[i], tasks, const_cast<long *>(&work->n), static_cast<double>(work->n));
        },
        tbb::simple_partitioner());
    suite_report(samples, suite_streams);
}

/* ---- One creator, for all threads ---- */

void make_tasks(void *arg)
{
    for (int i = 0; i < UNITS; i++)
        static_cast<tbb::task_group *>(arg)->run([] { __asm__ volatile(""); });
}

void wait_for_tasks(void *arg)
{
    static_cast<tbb::task_group *>(arg)->wait();
}

void run_steps(const suite_work *work)
{
    tbb::task_group group;
    suite_run_steps(static_cast<suite_step>(work->variant), make_tasks, wait_for_tasks, &group,
                    static_cast<double>(work->n));
}

/* ---- Loops ---- */

float matrix[ROWS][COLUMNS];
float factor = 2;

void for_loop(void *)
{
    tbb::parallel_for(tbb::blocked_range<int>(0, COLUMNS),
                      [](const tbb::blocked_range<int> &r) { kernel_scal(matrix[0], r.begin(), r.end(), factor); });
    factor = 2.5F - factor;
}

void tasks_single(void *)
{
    tbb::task_group group;
    for (int i = 0; i < TASKS; i++)
        group.run([i] { kernel_scal(matrix[0], i, i + 1, factor); });
    group.wait();
    factor = 2.5F - factor;
}

void tasks_parallel(void *)
{
    tbb::parallel_for(
        0, suite_streams,
        [](int s) {
            tbb::task_group group;
            for (int i = TASKS * s / suite_streams; i < TASKS * (s + 1) / suite_streams; i++)
                group.run([i] { kernel_scal(matrix[0], i, i + 1, factor); });
            group.wait();
        },
        tbb::simple_partitioner());
    factor = 2.5F - factor;
}

void nested(void *)
{
    tbb::parallel_for(0, +ROWS, [](int row) {
        tbb::parallel_for(tbb::blocked_range<int>(0, COLUMNS), [row](const tbb::blocked_range<int> &r) {
            kernel_scal(matrix[row], r.begin(), r.end(), factor);
        });
    });
    factor = 2.5F - factor;
}

void make_children(int parent)
{
    tbb::task_group group;
    for (int i = parent * CHILDREN; i < (parent + 1) * CHILDREN; i++)
        group.run([i] { kernel_scal(matrix[0], i, i + 1, factor); });
    group.wait();
}

void nested_tasks(void *)
{
    tbb::task_group group;
    for (int i = 0; i < PARENTS; i++)
        group.run([i] { make_children(i); });
    group.wait();
    factor = 2.5F - factor;
}

void (*const loops[])(void *) = {for_loop, tasks_single, tasks_parallel, nested, nested_tasks};

void run_loop(const suite_work *work)
{
    kernel_fill(matrix[0], ROWS * COLUMNS);
    suite_run(loops[work->variant], nullptr, 1);
    kernel_expect_scaled(matrix[0], static_cast<int>(work->n) * COLUMNS, factor);
}

/* ---- Trees ---- */

long fib(int n)
{
    if (n < 2)
        return n;
    long a;
    tbb::task_group group;
    group.run([&a, n] { a = fib(n - 1); });
    long b = fib(n - 2);
    group.wait();
    return a + b;
}

void fib_batch(void *arg)
{
    int n = *static_cast<const int *>(arg);
    suite_expect(fib(n), kernel_fib(n), "fib");
}

void run_fib(const suite_work *)
{
    int n = KERNEL_FIB_N;
    suite_run(fib_batch, &n, static_cast<double>(kernel_fib_spawns(n)));
}

void run_large_fib(const suite_work *)
{
    int n = KERNEL_LARGE_FIB_N;
    suite_run_long(fib_batch, &n, static_cast<double>(kernel_fib_spawns(n)));
}

void place_queens(kernel_board *board, int queens)
{
    kernel_board next[KERNEL_MAX_QUEENS];
    int num = 0;
    tbb::task_group group;
    for (unsigned free = kernel_queens_free(board, queens); free; free &= free - 1, num++) {
        kernel_board *one = &next[num];
        kernel_queens_place(board, free, queens, one);
        group.run([one, queens] { place_queens(one, queens); });
    }
    group.wait();
    while (num-- > 0)
        board->solutions += next[num].solutions;
}

void queens_batch(void *)
{
    kernel_board board = {0, 0, 0, 0, 0};
    place_queens(&board, KERNEL_QUEENS);
    suite_expect(board.solutions, kernel_queens_solutions(KERNEL_QUEENS), "the number of solutions");
}

void run_queens(const suite_work *)
{
    suite_run(queens_batch, nullptr, static_cast<double>(kernel_queens_placements(KERNEL_QUEENS)));
}

kernel_tree tree;

/* One group for all: nobody waits for a part. */
void search(kernel_node *node, tbb::task_group &group, tbb::enumerable_thread_specific<long> &tallies)
{
    std::unique_ptr<kernel_node> owner(node), child;
    for (int i = 0; i < node->num_children; i++) {
        if (!child)
            child = std::make_unique<kernel_node>();
        kernel_uts_child(tree, node, i, child.get());
        if (child->num_children > 0) {
            kernel_node *one = child.release();
            group.run([one, &group, &tallies] { search(one, group, tallies); });
        }
    }
    tallies.local() += node->num_children;
}

void uts_batch(void *)
{
    tbb::task_group group;
    tbb::enumerable_thread_specific<long> tallies(0L);
    auto *root = new kernel_node;
    kernel_uts_root(tree, root);
    group.run_and_wait([&] { search(root, group, tallies); });
    long nodes = 1;
    for (long n : tallies)
        nodes += n;
    suite_expect(nodes, kernel_uts_nodes(tree), "the number of nodes");
}

void run_uts(const suite_work *work)
{
    tree = static_cast<kernel_tree>(work->n);
    suite_run_long(uts_batch, nullptr, static_cast<double>(kernel_uts_nodes(tree)));
}

/* ---- Arrays ---- */

void invoke(int num, void (*const *funcs)(void *), void *const *args)
{
    tbb::task_group group;
    for (int i = 1; i < num; i++)
        group.run([=] { funcs[i](args[i]); });
    funcs[0](args[0]);
    group.wait();
}

void loop(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t grain, void (*body)(ptrdiff_t, ptrdiff_t, void *), void *arg)
{
    tbb::parallel_for(tbb::blocked_range<ptrdiff_t>(begin, end, static_cast<size_t>(grain)),
                      [=](const tbb::blocked_range<ptrdiff_t> &r) { body(r.begin(), r.end(), arg); });
}

void do_dense(void *)
{
    static const dense_runtime runtime = {invoke, loop};
    dense_do(&runtime);
}

void run_dense(const suite_work *work)
{
    dense_make(static_cast<enum dense_work>(work->n), suite_quick);
    suite_run(do_dense, nullptr, 1);
    suite_expect(dense_errors(), 0, "the number of wrong parts");
    dense_free();
}

const suite_work works[] = {
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
    {"fib-large", "", "*", run_large_fib, 0, 0},
    {"nqueens", "", "*", run_queens, 0, 0},
    {"uts-t1", "", "*", run_uts, KERNEL_T1, 0},
    {"uts-t3", "", "*", run_uts, KERNEL_T3, 0},
    {"mergesort", "", "*", run_dense, DENSE_MERGESORT, 0},
    {"matmul", "", "*", run_dense, DENSE_MATMUL, 0},
    {"heat", "", "*", run_dense, DENSE_HEAT, 0},
    {"fft", "", "*", run_dense, DENSE_FFT, 0},
};

} // namespace

int main(int argc, char **argv)
{
    int status = 2, streams = argc == 6 ? std::atoi(argv[4]) : 1;
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(streams));
    tbb::task_arena arena(streams);
    arena.execute([&] { status = suite_main(argc, argv, works, sizeof(works) / sizeof(works[0])); });
    return status;
}

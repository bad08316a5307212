/* SPDX-License-Identifier: BSD-3-Clause */
/* The work of the task benchmarks without any tasks: the same code for all programs in C and C++. */
#ifndef ABT_TEST_BENCH_KERNELS_H
#define ABT_TEST_BENCH_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Fibonacci numbers: fib(n) spawns kernel_fib_spawns(n) tasks if each call but a leaf spawns one ---- */

#define KERNEL_FIB_N (suite_quick ? 20 : 24)
/* A tree that takes long enough to show the rate at which several streams go on, rather than how they find each other.
 * It is for those whose spawns take no more than some tens of nanoseconds. */
#define KERNEL_LARGE_FIB_N (suite_quick ? 24 : 34)
long kernel_fib(int n);
long kernel_fib_spawns(int n);

/* ---- scal: v[i] *= a ---- */

#define KERNEL_SCAL_N 1000
void kernel_scal(float *v, int begin, int end, float a);

/* The numbers that it works on, with 2 and 1/2 in turns; whether they are what comes out of it if `next` is next. */
void kernel_fill(float *v, int num);
void kernel_expect_scaled(const float *v, int num, float next);

/* ---- N-Queens ---- */

#define KERNEL_QUEENS (suite_quick ? 8 : 12)
#define KERNEL_MAX_QUEENS 16

/* A board with queens in the first rows. A bit of the masks is a column of the next row that is under attack. */
struct kernel_board {
    int row;
    unsigned columns, left, right;
    long solutions;
};

/* The columns of the next row that are not under attack; 0 on a full board. */
unsigned kernel_queens_free(const struct kernel_board *board, int queens);

/* The board with a queen more, in the lowest column of the set. A full board is a solution. */
void kernel_queens_place(const struct kernel_board *board, unsigned columns, int queens, struct kernel_board *next);
long kernel_queens_solutions(int queens);
long kernel_queens_placements(int queens); /* tasks, if each placement is one */

/* ---- UTS, the Unbalanced Tree Search ---- */

enum kernel_tree { KERNEL_T1, KERNEL_T3 };

struct kernel_node {
    unsigned char state[20];
    int depth, num_children;
};

void kernel_uts_root(enum kernel_tree tree, struct kernel_node *root);
void kernel_uts_child(enum kernel_tree tree, const struct kernel_node *parent, int number, struct kernel_node *child);
long kernel_uts_nodes(enum kernel_tree tree);

#ifdef __cplusplus
}
#endif

#endif

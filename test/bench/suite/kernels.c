/* SPDX-License-Identifier: BSD-3-Clause */
#define OPENSSL_SUPPRESS_DEPRECATED /* the one-shot calls look the algorithm up anew for each hash */
#include "kernels.h"

#include <arpa/inet.h>
#include <math.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include "suite.h"

long kernel_fib(int n)
{
    long a = 0, b = 1;
    for (; n > 0; n--) {
        long c = a + b;
        a = b;
        b = c;
    }
    return a;
}

long kernel_fib_spawns(int n)
{
    return kernel_fib(n + 1) - 1;
}

void kernel_scal(float *v, int begin, int end, float a)
{
    int i = begin;
    for (; i + 16 <= end; i += 16) /* unrolled, as rustc and clang do by themselves */
        for (int k = 0; k < 16; k++)
            v[i + k] *= a;
    for (; i < end; i++)
        v[i] *= a;
}

void kernel_fill(float *v, int num)
{
    for (int i = 0; i < num; i++)
        v[i] = (float)(i % 7);
}

void kernel_expect_scaled(const float *v, int num, float next)
{
    for (int i = 0; i < num; i++)
        suite_expect((long)v[i], i % 7 * (next == 2 ? 1 : 2), "an element");
}

unsigned kernel_queens_free(const struct kernel_board *board, int queens)
{
    return board->row == queens ? 0 : ~(board->columns | board->left | board->right) & ((1u << queens) - 1);
}

void kernel_queens_place(const struct kernel_board *board, unsigned columns, int queens, struct kernel_board *next)
{
    unsigned column = columns & -columns;
    next->row = board->row + 1;
    next->columns = board->columns | column;
    next->left = (board->left | column) << 1;
    next->right = (board->right | column) >> 1;
    next->solutions = next->row == queens;
}

long kernel_queens_solutions(int queens)
{
    static const long published[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200};
    return published[queens];
}

long kernel_queens_placements(int queens)
{
    static const long counted[] = {0, 1, 2, 5, 16, 53, 152, 551, 2056, 8393, 35538, 166925, 856188};
    return counted[queens];
}

/* T1 is geometric: 4 children on average down to depth 10. T3 is binomial: 2000 at the root, then 8 with a probability
 * of 0.124875 and otherwise none. */
static void finish_node(enum kernel_tree tree, const void *state, size_t size, uint32_t number,
                        struct kernel_node *node)
{
    SHA_CTX sha;
    uint32_t tail = htonl(number);
    SHA1_Init(&sha);
    SHA1_Update(&sha, state, size);
    SHA1_Update(&sha, &tail, sizeof(tail));
    SHA1_Final(node->state, &sha);

    const unsigned char *s = node->state + 16;
    double u = ((s[0] & 0x7f) << 24 | s[1] << 16 | s[2] << 8 | s[3]) / 2147483648.0;
    if (tree == KERNEL_T3) {
        node->num_children = node->depth == 0 ? 2000 : u < 0.124875 ? 8 : 0;
    } else if (node->depth >= 10) {
        node->num_children = 0;
    } else {
        int num = (int)floor(log(1 - u) / log(1 - 1 / 5.0));
        node->num_children = num < 100 ? num : 100;
    }
}

void kernel_uts_root(enum kernel_tree tree, struct kernel_node *root)
{
    static const unsigned char zeros[16];
    root->depth = 0;
    finish_node(tree, zeros, sizeof(zeros), tree == KERNEL_T3 ? 42 : 19, root);
}

void kernel_uts_child(enum kernel_tree tree, const struct kernel_node *parent, int number, struct kernel_node *child)
{
    child->depth = parent->depth + 1;
    finish_node(tree, parent->state, sizeof(parent->state), (uint32_t)number, child);
}

long kernel_uts_nodes(enum kernel_tree tree)
{
    return tree == KERNEL_T3 ? 4112897 : 4130071;
}

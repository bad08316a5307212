/* SPDX-License-Identifier: BSD-3-Clause */
/* How the nodes of the published trees follow from each other. See uts_tree.h. */
#define OPENSSL_SUPPRESS_DEPRECATED /* the one-shot calls look the algorithm up anew for each hash */
#include "uts_tree.h"

#include <arpa/inet.h>
#include <math.h>
#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MAX_LEVELS = 128, MAX_CHILDREN = 100 };

static const struct tree {
    const char *name;
    enum { FIXED, LINEAR, CYCLIC, BINOMIAL } shape;
    double b0;             /* mean number of children at the root (binomial: the exact number) */
    int depth, seed;       /* depth: D of the geometric shapes */
    double m, q;           /* binomial: a node has m children with probability q, otherwise none */
    const char *published; /* nodes/depth/leaves */
} trees[] = {{"T1", FIXED, 4, 10, 19, 0, 0, "4130071/10/3305118"},
             {"T2", CYCLIC, 6, 16, 502, 0, 0, "4117769/81/2342762"},
             {"T3", BINOMIAL, 2000, 0, 42, 8, 0.124875, "4112897/1572/3599034"},
             {"T5", LINEAR, 4, 20, 34, 0, 0, "4147582/20/2181318"},
             {"T1L", FIXED, 4, 13, 29, 0, 0, "102181082/13/81746377"},
             {NULL, FIXED, 0, 0, 0, 0, 0, NULL}};

static const struct tree *tree = &trees[0];
static double log_p[MAX_LEVELS]; /* ln(1 - p) at each depth of a geometric tree, 0 where it has no more children */

_Static_assert(UTS_STATE_BYTES == SHA_DIGEST_LENGTH, "a state is a hash");

static void set_shape(void)
{
    for (int d = 0; d < MAX_LEVELS && tree->shape != BINOMIAL; d++) {
        double b = tree->b0;
        if (tree->shape == FIXED)
            b = d < tree->depth ? tree->b0 : 0;
        else if (tree->shape == LINEAR)
            b = d < tree->depth ? tree->b0 * (1 - (double)d / tree->depth) : 0;
        else if (d > 0)
            b = d > 5 * tree->depth ? 0 : pow(tree->b0, sin(2 * acos(-1) * d / tree->depth));
        log_p[d] = b > 0 ? log(1 - 1 / (1 + b)) : 0;
    }
}

const char *uts_choose(const char *name)
{
    for (tree = trees; tree->name && strcmp(tree->name, name) != 0; tree++)
        ;
    if (tree->name)
        set_shape();
    return tree->published;
}

static int num_children(const struct uts_node *node)
{
    const unsigned char *s = node->state + 16;
    double u = ((s[0] & 0x7f) << 24 | s[1] << 16 | s[2] << 8 | s[3]) / 2147483648.0;
    if (tree->shape == BINOMIAL)
        return (int)(node->depth == 0 ? tree->b0 : u < tree->q ? tree->m : 0);
    if (node->depth >= MAX_LEVELS || log_p[node->depth] == 0)
        return 0;
    int n = (int)floor(log(1 - u) / log_p[node->depth]);
    return n < MAX_CHILDREN ? n : MAX_CHILDREN;
}

/* Hashes a parent's state (the root's: zeros) and a number into a new node, and counts it. */
static void make_node(struct uts_node *node, const void *state, size_t size, int number, int depth,
                      struct uts_tally *tally)
{
    uint32_t tail = htonl((uint32_t)number);
    SHA_CTX sha;
    SHA1_Init(&sha);
    SHA1_Update(&sha, state, size);
    SHA1_Update(&sha, &tail, sizeof(tail));
    SHA1_Final(node->state, &sha);
    node->depth = depth;
    node->num_children = num_children(node);
    tally->nodes++;
    tally->leaves += node->num_children == 0;
    tally->depth = depth > tally->depth ? depth : tally->depth;
}

void uts_make_root(struct uts_node *root, struct uts_tally *tally)
{
    static const unsigned char zeros[16];
    set_shape();
    make_node(root, zeros, sizeof(zeros), tree->seed, 0, tally);
}

void uts_make_child(struct uts_node *child, const struct uts_node *node, int number, struct uts_tally *tally)
{
    make_node(child, node->state, sizeof(node->state), number, node->depth + 1, tally);
}

void uts_search(const struct uts_node *node, struct uts_tally *tally)
{
    struct uts_node child;
    for (int i = 0; i < node->num_children; i++) {
        uts_make_child(&child, node, i, tally);
        uts_search(&child, tally);
    }
}

void uts_add(struct uts_tally *sum, const struct uts_tally *more)
{
    sum->nodes += more->nodes;
    sum->leaves += more->leaves;
    sum->depth = more->depth > sum->depth ? more->depth : sum->depth;
}

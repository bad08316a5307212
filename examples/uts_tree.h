/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trees of UTS, the Unbalanced Tree Search benchmark. Nobody can foresee such a tree: the number of a node's
 * children follows from its SHA-1 state.
 */
#ifndef EXAMPLES_UTS_TREE_H
#define EXAMPLES_UTS_TREE_H

enum { UTS_STATE_BYTES = 20 };

/* It has no pointers but `next`: the rest means the same in another process. */
struct uts_node {
    unsigned char state[UTS_STATE_BYTES];
    int depth, num_children;
    struct uts_node *next; /* for the caller's lists */
};

/* What has been counted. */
struct uts_tally {
    long nodes, leaves, depth;
};

/* Chooses one of the published trees, T1 at first. NULL: there is none of that name. Otherwise it returns the published
 * answer, nodes/depth/leaves. */
const char *uts_choose(const char *name);

/* Makes the root of the chosen tree, or the child of a node with that number, and counts it. */
void uts_make_root(struct uts_node *root, struct uts_tally *tally);
void uts_make_child(struct uts_node *child, const struct uts_node *node, int number, struct uts_tally *tally);

/* Counts all that is below a node. */
void uts_search(const struct uts_node *node, struct uts_tally *tally);

void uts_add(struct uts_tally *sum, const struct uts_tally *more);

#endif

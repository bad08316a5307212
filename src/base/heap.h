/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heap of nodes that are in what they order: no allocation, so nothing can fail. Insertion takes constant time, seen
 * over many, and touches the nodes inserted last; removing any node takes logarithmic time, and next to none for one
 * with few below it, as most have.
 *
 * It is a row of pairing trees. Tree i was made by joining two trees i - 1, like the digits of a counter, so that no
 * node has many children: a single pairing tree would hang all that is inserted below its root, and pair it off at the
 * first removal. (Removals make trees smaller; that does no harm.)
 */
#ifndef ABTI_BASE_HEAP_H
#define ABTI_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct abti_heap_node {
    uint64_t key;
    struct abti_heap_node *child;  /* the first one */
    struct abti_heap_node *next;   /* sibling */
    struct abti_heap_node **where; /* the one pointer that points here: of the row, a child or a next */
};

enum { ABTI_HEAP_TREES = 20 }; /* the last one has all that is more than half a million */

/* Zeroed memory is an empty heap. */
struct abti_heap {
    struct abti_heap_node *trees[ABTI_HEAP_TREES];
};

/* Inserts a node, whose key is set and must not change while the node is in the heap. */
void abti_heap_insert(struct abti_heap *heap, struct abti_heap_node *node);

/* Takes a node out of the heap that it is in. */
void abti_heap_remove(struct abti_heap_node *node);

/* Returns the node with the smallest key, or NULL when there is none. */
struct abti_heap_node *abti_heap_first(const struct abti_heap *heap);

/* Returns some node that is quickly found, or NULL when there is none. */
struct abti_heap_node *abti_heap_some(const struct abti_heap *heap);

/* Takes all nodes out. They are linked by next, in no order. */
struct abti_heap_node *abti_heap_drain(struct abti_heap *heap);

#endif

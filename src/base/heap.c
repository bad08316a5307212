/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/heap.h"

/* Makes *where point to the tree, which may be NULL, with `next` behind it. */
static void heap_plant(struct abti_heap_node **where, struct abti_heap_node *tree, struct abti_heap_node *next)
{
    if (tree) {
        *where = tree;
        tree->where = where;
        where = &tree->next;
    }
    *where = next;
    if (next)
        next->where = where;
}

/* Melds two trees. The caller sets the root's place. */
static struct abti_heap_node *heap_join(struct abti_heap_node *a, struct abti_heap_node *b)
{
    if (b->key < a->key) {
        struct abti_heap_node *root = b;
        b = a;
        a = root;
    }
    heap_plant(&a->child, b, a->child);
    return a;
}

/* Melds the siblings in a list: in pairs from the front, then the pairs from the back. Returns NULL for none. */
static struct abti_heap_node *join_all(struct abti_heap_node *list)
{
    struct abti_heap_node *pairs = NULL, *tree;
    while (list) {
        struct abti_heap_node *a = list, *b = list->next;
        list = b ? b->next : NULL;
        tree = b ? heap_join(a, b) : a;
        tree->next = pairs;
        pairs = tree;
    }
    for (tree = pairs; tree && (pairs = tree->next) != NULL;) {
        struct abti_heap_node *rest = pairs->next;
        tree = heap_join(pairs, tree);
        tree->next = rest;
    }
    return tree;
}

void abti_heap_insert(struct abti_heap *heap, struct abti_heap_node *node)
{
    size_t i = 0;
    node->child = NULL;
    for (; i < ABTI_HEAP_TREES - 1 && heap->trees[i]; i++) {
        node = heap_join(heap->trees[i], node);
        heap->trees[i] = NULL;
    }
    if (heap->trees[i])
        node = heap_join(heap->trees[i], node);
    heap_plant(&heap->trees[i], node, NULL);
}

void abti_heap_remove(struct abti_heap_node *node)
{
    struct abti_heap_node **where = node->where, *next = node->next;
    heap_plant(where, join_all(node->child), next);
}

struct abti_heap_node *abti_heap_first(const struct abti_heap *heap)
{
    struct abti_heap_node *first = NULL;
    for (size_t i = 0; i < ABTI_HEAP_TREES; i++) {
        struct abti_heap_node *root = heap->trees[i];
        if (root && (!first || root->key < first->key))
            first = root;
    }
    return first;
}

struct abti_heap_node *abti_heap_some(const struct abti_heap *heap)
{
    for (size_t i = 0; i < ABTI_HEAP_TREES; i++) {
        if (heap->trees[i])
            return heap->trees[i];
    }
    return NULL;
}

struct abti_heap_node *abti_heap_drain(struct abti_heap *heap)
{
    struct abti_heap_node *all = NULL, **tail = &all;
    for (size_t i = 0; i < ABTI_HEAP_TREES; i++) {
        *tail = heap->trees[i];
        heap->trees[i] = NULL;
        while (*tail)
            tail = &(*tail)->next;
    }
    /* The children of each come behind all that are known so far. */
    for (struct abti_heap_node *node = all; node; node = node->next) {
        *tail = node->child;
        while (*tail)
            tail = &(*tail)->next;
    }
    return all;
}

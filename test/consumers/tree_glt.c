/* SPDX-License-Identifier: BSD-3-Clause */
/* A search of an uneven tree as a user of GLT writes it: a tasklet a thread, nodes in a list under a mutex, which all
 * take from; counts by thread in memory of each. C and C++. */
#include <glt.h>

#include <stdio.h>
#include <stdlib.h>

#define DEPTH 12
#define ROOM 4096

typedef struct {
    unsigned state;
    int depth;
} node_t;

static node_t nodes[ROOM];
static int number, busy;
static GLT_mutex mutex;

/* How many children a node has: none to three, by its state. */
static int num_children(const node_t *node)
{
    return node->depth < DEPTH ? (int)(node->state >> 16) % 4 : 0;
}

static node_t child_of(const node_t *node, int i)
{
    node_t child;
    child.state = (node->state + (unsigned)i + 1) * 2654435761u + 12345u;
    child.depth = node->depth + 1;
    return child;
}

static long count(const node_t *node)
{
    long found = 1;
    int i;
    for (i = 0; i < num_children(node); i++) {
        node_t child = child_of(node, i);
        found += count(&child);
    }
    return found;
}

/* Takes a node; -1 if nobody has any, 0 if others may still give some. */
static int take(node_t *node)
{
    int got = 0;
    glt_mutex_lock(mutex);
    if (number > 0) {
        *node = nodes[--number];
        busy++;
        got = 1;
    } else if (busy == 0) {
        got = -1;
    }
    glt_mutex_unlock(mutex);
    return got;
}

static void search(void *arg)
{
    long *found = (long *)arg;
    node_t node;
    int got, i;

    while ((got = take(&node)) >= 0) {
        if (got == 0)
            continue;
        ++*found;
        glt_mutex_lock(mutex);
        for (i = 0; i < num_children(&node); i++)
            nodes[number++] = child_of(&node, i);
        busy--;
        glt_mutex_unlock(mutex);
    }
}

int main(int argc, char **argv)
{
    node_t root = {19u << 16, 0};
    GLT_tasklet *tasklets;
    long *found, sum = 0;
    int threads, i;

    glt_init(argc, argv);
    threads = glt_get_num_threads();
    tasklets = glt_tasklet_malloc(threads);
    found = (long *)calloc((size_t)threads, sizeof(long));
    glt_mutex_create(&mutex);
    nodes[number++] = root;
    for (i = 0; i < threads; i++)
        glt_tasklet_create_to(search, &found[i], &tasklets[i], i);
    for (i = 0; i < threads; i++) {
        glt_tasklet_join(&tasklets[i]);
        sum += found[i];
    }
    glt_mutex_free(&mutex);
    printf("%ld nodes by %d threads\n", sum, threads);
    free(found);
    free(tasklets);
    glt_finalize();
    return sum == count(&root) && sum > 100 ? 0 : 1;
}

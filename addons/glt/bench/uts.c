/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UTS, the Unbalanced Tree Search benchmark, as programs for GLT have it: uts [ults]. One tasklet or ULT a thread
 * searches; each has a heap of nodes, of which others steal under a GLT_mutex. The tree is T1: 4,130,071 nodes.
 * Compiled for libabt directly (DIRECT), header-only (FASTGLT) and with the shared library.
 */
#define OPENSSL_SUPPRESS_DEPRECATED /* the one-shot calls look the algorithm up anew for each hash */
#ifdef DIRECT
#include "direct.h"
#else
#include <glt.h>
#endif
#include <arpa/inet.h>
#include <math.h>
#include <openssl/sha.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 20, ROOM = 8192, MAX_THREADS = 64, BRANCHES = 4, DEPTH = 10, SEED = 19, NODES = 4130071 };

struct node {
    unsigned char state[SHA_DIGEST_LENGTH];
    int depth;
};

/* What a thread has: nodes of its own, and nodes that others may steal. */
struct heap {
    _Alignas(64) GLT_mutex mutex; /* of offered and number_offered */
    int number_offered;
    struct node offered[ROOM];
    int number;
    struct node own[ROOM];
    long nodes;
};

static struct heap heaps[MAX_THREADS];
static atomic_int busy; /* threads that have nodes */
static double log_p;    /* ln(1 - p) of the geometric distribution */

static int num_children(const struct node *node)
{
    const unsigned char *s = node->state + 16;
    double u = ((s[0] & 0x7f) << 24 | s[1] << 16 | s[2] << 8 | s[3]) / 2147483648.0;

    return node->depth < DEPTH ? (int)floor(log(1 - u) / log_p) : 0;
}

static void make_node(struct node *node, const void *state, size_t size, int number, int depth)
{
    uint32_t tail = htonl((uint32_t)number);
    SHA_CTX sha;

    SHA1_Init(&sha);
    SHA1_Update(&sha, state, size);
    SHA1_Update(&sha, &tail, sizeof(tail));
    SHA1_Final(node->state, &sha);
    node->depth = depth;
}

/* Offers the oldest nodes to others. */
static void offer(struct heap *mine)
{
    glt_mutex_lock(mine->mutex);
    if (mine->number_offered + CHUNK <= ROOM) {
        memcpy(&mine->offered[mine->number_offered], mine->own, CHUNK * sizeof(struct node));
        mine->number_offered += CHUNK;
        mine->number -= CHUNK;
        memmove(mine->own, &mine->own[CHUNK], (size_t)mine->number * sizeof(struct node));
    }
    glt_mutex_unlock(mine->mutex);
}

/* Takes a chunk of what a thread offers, one's own included. */
static int take(struct heap *mine, struct heap *victim)
{
    int number;

    glt_mutex_lock(victim->mutex);
    number = victim->number_offered < CHUNK ? victim->number_offered : CHUNK;
    victim->number_offered -= number;
    memcpy(mine->own, &victim->offered[victim->number_offered], (size_t)number * sizeof(struct node));
    mine->number = number;
    glt_mutex_unlock(victim->mutex);
    return number > 0;
}

static void visit(struct heap *mine)
{
    struct node node = mine->own[--mine->number];
    int children = num_children(&node);

    mine->nodes++;
    for (int i = 0; i < children; i++)
        make_node(&mine->own[mine->number++], node.state, sizeof(node.state), i, node.depth + 1);
    if (mine->number > 2 * CHUNK)
        offer(mine);
}

/* Looks at all threads, from one's own on. Who finds nothing is idle until somebody has nodes, or nobody. */
static int find(int self, int threads)
{
    for (int i = 0; i < threads; i++)
        if (take(&heaps[self], &heaps[(self + i) % threads]))
            return 1;
    return 0;
}

static void search(void *arg)
{
    struct heap *mine = arg;
    int self = (int)(mine - heaps), threads = glt_get_num_threads();

    for (;;) {
        while (mine->number > 0)
            visit(mine);
        if (find(self, threads))
            continue;
        atomic_fetch_sub(&busy, 1);
        for (;;) {
            if (atomic_load(&busy) == 0)
                return;
            atomic_fetch_add(&busy, 1); /* before it takes: nobody ends while there are nodes in no heap */
            if (find(self, threads))
                break;
            atomic_fetch_sub(&busy, 1);
        }
    }
}

int main(int argc, char **argv)
{
    unsigned char zeros[16] = {0};
    GLT_ult ults[MAX_THREADS];
    GLT_tasklet tasklets[MAX_THREADS];
    int use_ults = argc > 1 && strcmp(argv[1], "ults") == 0;
    long nodes = 0;

    glt_init(argc, argv);
    int threads = glt_get_num_threads();
    log_p = log(1 - 1.0 / (1 + BRANCHES));
    atomic_store(&busy, threads);
    for (int i = 0; i < threads; i++)
        glt_mutex_create(&heaps[i].mutex);
    make_node(&heaps[0].own[heaps[0].number++], zeros, sizeof(zeros), SEED, 0);
    double begin = glt_get_wtime();
    for (int i = 0; i < threads; i++) {
        if (use_ults)
            glt_ult_create_to(search, &heaps[i], &ults[i], i);
        else
            glt_tasklet_create_to(search, &heaps[i], &tasklets[i], i);
    }
    for (int i = 0; i < threads; i++) {
        if (use_ults)
            glt_ult_join(&ults[i]);
        else
            glt_tasklet_join(&tasklets[i]);
        nodes += heaps[i].nodes;
    }
    printf("%ld nodes, %.6f s\n", nodes, glt_get_wtime() - begin);
    for (int i = 0; i < threads; i++)
        glt_mutex_free(&heaps[i].mutex);
    glt_finalize();
    return nodes == NODES ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UTS, the Unbalanced Tree Search benchmark: counts the nodes of a tree that nobody can foresee, because the number
 * of a node's children follows from its SHA-1 state. Each node that has children is a work unit, a tasklet by default
 * since it never waits; it makes its children and turns those with children of their own into units.
 * A unit that nobody joins has no handle and frees itself. The last one to end lets main() go on.
 */
#define OPENSSL_SUPPRESS_DEPRECATED /* the one-shot calls look the algorithm up anew for each hash */
#include "team.h"

#include <arpa/inet.h>
#include <math.h>
#include <openssl/sha.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 128, MAX_CHILDREN = 100, DEALT_DEPTH = 2 };

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

struct node {
    unsigned char state[SHA_DIGEST_LENGTH];
    int depth, num_children;
    struct node *next; /* list of nodes that become units */
};

/* What one stream has counted. Only units on that stream touch it, and they run one after the other. */
struct tally {
    _Alignas(64) long nodes, leaves, depth;
};

static const struct tree *tree = &trees[0];
static double log_p[MAX_LEVELS]; /* ln(1 - p) at each depth of a geometric tree, 0 where it has no more children */
static int use_ults;
static struct team team;
static struct tally tallies[TEAM_MAX_STREAMS];
static atomic_long outstanding; /* units created and not yet ended */
static ABT_thread gate;         /* the ULT that main() waits for; the last unit lets it run */

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

static int num_children(const struct node *node)
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
static void make_node(struct node *node, const void *state, size_t size, int number, int depth, struct tally *tally)
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

static void search_sequentially(const struct node *node, struct tally *tally)
{
    struct node child;
    for (int i = 0; i < node->num_children; i++) {
        make_node(&child, node->state, sizeof(node->state), i, node->depth + 1, tally);
        search_sequentially(&child, tally);
    }
}

static void search(void *arg);
static void create_unit(struct node *node)
{
    /* Near the root the units are dealt out to all streams, below they stay where they were made. */
    ABT_pool pool = node->depth <= DEALT_DEPTH ? team_pool_for(&team, node->state[0]) : team_pool(&team);
    if (use_ults)
        CHECK(ABT_thread_create(pool, search, node, ABT_THREAD_ATTR_NULL, NULL));
    else
        CHECK(ABT_task_create(pool, search, node, NULL));
}

static void search(void *arg)
{
    struct node *node = arg, *ready = NULL, child;
    struct tally *mine = &tallies[team_rank()];
    long created = 0;

    for (int i = 0; i < node->num_children; i++) {
        make_node(&child, node->state, sizeof(node->state), i, node->depth + 1, mine);
        if (child.num_children > 0) {
            child.next = ready;
            ready = team_alloc(sizeof(child));
            *ready = child;
            created++;
        }
    }
    free(node->depth > 0 ? node : NULL); /* the root is a variable of main() */
    /* One step counts the new units in and this one out, before any of them can end: zero is reached only once. */
    long before = atomic_fetch_add(&outstanding, created - 1);
    while (ready) {
        node = ready;
        ready = node->next; /* read it first: the unit may end, and free its node, at once */
        create_unit(node);
    }
    if (before + created - 1 == 0)
        CHECK(ABT_pool_push_thread(team_pool_for(&team, 0), gate));
}

static void nothing(void *arg)
{
    (void)arg;
}

static void search_in_parallel(struct node *root)
{
    ABT_pool lobby; /* served by no scheduler: here the gate can be made without running yet */
    CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &lobby));
    CHECK(ABT_thread_create(lobby, nothing, NULL, ABT_THREAD_ATTR_NULL, &gate));
    CHECK(ABT_pool_pop_thread(lobby, &gate));
    atomic_store(&outstanding, 1);
    create_unit(root);
    CHECK(ABT_thread_join(gate));
    CHECK(ABT_thread_free(&gate));
    CHECK(ABT_pool_free(&lobby));
}

static int handle_option(int option, const char *value)
{
    if (option == 'u') {
        use_ults = 1;
        return 0;
    }
    for (tree = trees; tree->name && strcmp(tree->name, value) != 0; tree++)
        ;
    return tree->name == NULL;
}

int main(int argc, char **argv)
{
    static const unsigned char zeros[16];
    struct team_config config;
    struct node root;
    struct tally sum = {0, 0, 0};
    char job[32], answer[64];

    team_options(argc, argv, &config, "t:u", "[-t T1|T1L|T2|T3|T5] [-u (ULTs in place of tasklets)]", handle_option);
    set_shape();
    make_node(&root, zeros, sizeof(zeros), tree->seed, 0, &tallies[0]);
    team_start(&team, &config);
    double seconds = team_seconds();
    if (config.num_streams > 0)
        search_in_parallel(&root);
    else
        search_sequentially(&root, &tallies[0]);
    seconds = team_seconds() - seconds;
    team_stop(&team);
    for (int i = 0; i < TEAM_MAX_STREAMS; i++) {
        sum.nodes += tallies[i].nodes;
        sum.leaves += tallies[i].leaves;
        sum.depth = tallies[i].depth > sum.depth ? tallies[i].depth : sum.depth;
    }
    snprintf(job, sizeof(job), "UTS %s", tree->name);
    snprintf(answer, sizeof(answer), "%ld/%ld/%ld", sum.nodes, sum.depth, sum.leaves);
    return team_report(&(struct report){job, answer, tree->published, sum.nodes - sum.leaves, seconds});
}

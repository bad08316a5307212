/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An unbalanced tree like UTS's T1, smaller and with a simpler hash, searched by 16 ESs under every scheduler, every
 * kind of pool and every layout, with ULTs and tasklets. The number of nodes must be right.
 */
#include "stress.h"

enum { NUM_ES = 16, DEPTH = SCALED(8, 6, 4), BRANCHING = 4 };

static struct team team;
static atomic_long nodes, pending;

/* Geometric, with the mean BRANCHING. */
static int num_children(uint64_t state, int depth)
{
    int n = 0;

    if (depth >= DEPTH)
        return 0;
    while (n < 40 && mix(state + 77 + (uint64_t)n) % (BRANCHING + 1) != 0)
        n++;
    return n;
}

static long count_alone(uint64_t state, int depth)
{
    long sum = 1;

    for (int i = 0, n = num_children(state, depth); i < n; i++)
        sum += count_alone(mix(state ^ mix((uint64_t)i + 1)), depth + 1);
    return sum;
}

struct node {
    uint64_t state;
    int depth;
    bool tasklets, join;
};

static void visit(void *arg);

static ABT_pool some_pool(uint64_t state)
{
    return team.pools[state % (uint64_t)team.size];
}

/* Unnamed units: each takes its description with it. */
static void spawn_unnamed(const struct node *node, int n)
{
    for (int i = 0; i < n; i++) {
        struct node *child = malloc(sizeof(*child));
        *child = *node;
        child->state = mix(node->state ^ mix((uint64_t)i + 1));
        child->depth++;
        atomic_fetch_add(&pending, 1);
        if (node->tasklets)
            must(ABT_task_create(some_pool(child->state), visit, child, NULL));
        else
            must(ABT_thread_create(some_pool(child->state), visit, child, ABT_THREAD_ATTR_NULL, NULL));
    }
}

static void spawn_and_join(const struct node *node, int n)
{
    struct node children[40];
    ABT_thread threads[40];

    for (int i = 0; i < n; i++) {
        children[i] = *node;
        children[i].state = mix(node->state ^ mix((uint64_t)i + 1));
        children[i].depth++;
        must(ABT_thread_create(some_pool(children[i].state), visit, &children[i], ABT_THREAD_ATTR_NULL, &threads[i]));
    }
    must(ABT_thread_free_many(n, threads));
}

static void visit(void *arg)
{
    struct node *node = arg;
    int n = num_children(node->state, node->depth);

    atomic_fetch_add(&nodes, 1);
    if (node->join) {
        spawn_and_join(node, n);
        return;
    }
    spawn_unnamed(node, n);
    free(node);
    atomic_fetch_sub(&pending, 1);
}

static long search(uint64_t root, bool tasklets, bool join)
{
    struct node node = {root, 0, tasklets, join};
    ABT_thread thread;

    atomic_store(&nodes, 0);
    atomic_store(&pending, 1);
    if (join) {
        must(ABT_thread_create(team.pools[0], visit, &node, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
    } else {
        struct node *own = malloc(sizeof(*own));
        *own = node;
        visit(own);
        while (atomic_load(&pending) > 0)
            must(ABT_self_yield());
    }
    return atomic_load(&nodes);
}

int main(void)
{
    static const char *const ways[] = {"joined ULTs", "unnamed ULTs", "tasklets"};

    stress_begin();
    uint64_t root = 19;
    while (count_alone(root, 0) < SCALED(20000, 2000, 300))
        root++;
    long expected = count_alone(root, 0);
    diag("root %" PRIu64 ", %ld nodes", root, expected);
    for (int s = 0; s < 4; s++) {
        for (int k = 0; k < 3; k++) {
            for (int l = SHARED; l <= STEAL; l++) {
                team_begin(&team, NUM_ES, (enum layout)l, all_scheds[s], all_kinds[k]);
                for (int w = 0; w < 3; w++)
                    is_int(search(root, w == 2, w == 0), expected, "%s, %s over %s, %s", ways[w],
                           sched_name(all_scheds[s]), kind_name(all_kinds[k]), layout_names[l]);
                team_end(&team);
            }
        }
    }
    return done_testing();
}

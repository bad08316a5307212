/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UTS, the Unbalanced Tree Search benchmark: counts the nodes of a tree that nobody can foresee. Each node that has
 * children is a work unit, a tasklet by default since it never waits; it makes its children and turns those with
 * children of their own into units. A unit that nobody joins has no handle and frees itself. The last one to end lets
 * main() go on.
 */
#include "team.h"
#include "uts_tree.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEALT_DEPTH = 2 };

/* What one stream has counted. Only units on that stream touch it, and they run one after the other. */
struct tally {
    _Alignas(64) struct uts_tally counts;
};

static const char *tree = "T1", *published;
static int use_ults;
static struct team team;
static struct tally tallies[TEAM_MAX_STREAMS];
static atomic_long outstanding; /* units created and not yet ended */
static ABT_thread gate;         /* the ULT that main() waits for; the last unit lets it run */

static void search(void *arg);
static void create_unit(struct uts_node *node)
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
    struct uts_node *node = arg, *ready = NULL, child;
    struct uts_tally *mine = &tallies[team_rank()].counts;
    long created = 0;

    for (int i = 0; i < node->num_children; i++) {
        uts_make_child(&child, node, i, mine);
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

static void search_in_parallel(struct uts_node *root)
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
    tree = value;
    return uts_choose(tree) == NULL;
}

int main(int argc, char **argv)
{
    struct team_config config;
    struct uts_node root;
    struct uts_tally sum = {0, 0, 0};
    char job[32], answer[64];

    team_options(argc, argv, &config, "t:u", "[-t T1|T1L|T2|T3|T5] [-u (ULTs in place of tasklets)]", handle_option);
    published = uts_choose(tree);
    uts_make_root(&root, &tallies[0].counts);
    team_start(&team, &config);
    double seconds = team_seconds();
    if (config.num_streams > 0)
        search_in_parallel(&root);
    else
        uts_search(&root, &tallies[0].counts);
    seconds = team_seconds() - seconds;
    team_stop(&team);
    for (int i = 0; i < TEAM_MAX_STREAMS; i++)
        uts_add(&sum, &tallies[i].counts);
    snprintf(job, sizeof(job), "UTS %s", tree);
    snprintf(answer, sizeof(answer), "%ld/%ld/%ld", sum.nodes, sum.depth, sum.leaves);
    return team_report(&(struct report){job, answer, published, sum.nodes - sum.leaves, seconds});
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which victims a thief has with several NUMA nodes: another node's only after misses in its own. */
#include <stdlib.h>

#include "os/nodes.h"
#include "pool/pool.h"
#include "pool/thief.h"
#include "tap.h"

enum { POOLS = 16, LOOKS = 10000 };

static abti_pool pools[POOLS];
static abti_pool *order[POOLS];
static struct abti_robber robber;

/* All CPUs are in one of the nodes, which is that of the test, and pools in that many nodes in turn. */
static void begin(uint32_t num_nodes)
{
    struct abti_cpu_list *list = NULL;
    char text[64];
    snprintf(text, sizeof(text), "{0:4096},4096:%d", num_nodes > 1 ? (int)num_nodes - 1 : 1);
    if (abti_parse_cpu_list(text, &list) != 0)
        bail_out("list");
    abti_nodes_init(num_nodes > 1, list);
    free(list);
    is_int(abti_num_nodes, num_nodes, "nodes");
    for (int i = 0; i < POOLS; i++) {
        order[i] = &pools[i];
        abti_store_relaxed(&pools[i].node, (uint8_t)(num_nodes > 1 ? (uint32_t)i % num_nodes + 1 : 0));
    }
    robber = (struct abti_robber){.random = 1};
}

static bool is_near(int at)
{
    return abti_load_relaxed(&order[at]->node) <= 1;
}

static int look(bool found)
{
    int at = abti_robber_aim(&robber, order, POOLS);
    abti_robber_learn(&robber, at, found);
    return at;
}

static bool is_permutation(void)
{
    for (int i = 0; i < POOLS; i++) {
        int times = 0;
        for (int k = 0; k < POOLS; k++)
            times += order[k] == &pools[i];
        if (times != 1)
            return false;
    }
    return order[0] == &pools[0];
}

static void test_one_node(void)
{
    int times[POOLS] = {0};
    bool all = true;
    begin(1);
    for (int i = 0; i < LOOKS; i++)
        times[look(false)]++;
    for (int i = 1; i < POOLS; i++)
        all = all && times[i] > LOOKS / POOLS / 2 && order[i] == &pools[i];
    ok(all && times[0] == 0, "one node: each pool of others, as often as any other");
}

static void test_misses(uint32_t num_nodes)
{
    int near = 0, far = 0, row = 0, seen[POOLS] = {0};
    bool after_misses = true, all = true;
    begin(num_nodes);
    for (int i = 0; i < LOOKS; i++) {
        int at = look(false);
        seen[order[at] - pools]++;
        if (is_near(at)) {
            near++;
            row++;
        } else {
            far++;
            after_misses = after_misses && row == ABTI_REACH_MISSES;
            row = 0;
        }
    }
    ok(is_permutation(), "%d nodes: no pool is lost", (int)num_nodes);
    ok(after_misses, "another node's only after four misses in one's own");
    is_int(far, near / ABTI_REACH_MISSES, "and then at once");
    for (int i = 1; i < POOLS; i++)
        all = all && seen[i] > 0;
    ok(all && seen[0] == 0, "all others have their turn");
}

/* A thief that finds something in its node, now and then, does not look elsewhere. */
static void test_found(void)
{
    bool stays = true;
    begin(2);
    for (int i = 0; i < LOOKS; i++)
        stays = stays && is_near(look(i % ABTI_REACH_MISSES == 0));
    ok(stays, "who finds something within four looks stays in its node");

    begin(2);
    for (int i = 0; i < ABTI_REACH_MISSES; i++)
        (void)look(false);
    ok(!is_near(look(true)), "it goes further after four misses");
    ok(is_near(look(false)), "and back when it has found something there");

    begin(2);
    robber.thief.rest_ns = UINT64_MAX;
    for (int i = 0; i < LOOKS; i++)
        stays = stays && is_near(look(false));
    ok(stays, "a thief that rests does not look, and misses nothing");
    robber.seen = 3;
    is_int(abti_robber_aim(&robber, order, POOLS), 3, "what it has seen comes first");
    is_int(robber.seen, 0, "once");
}

static void test_alone(void)
{
    bool far = true;
    begin(16);
    for (int i = 0; i < LOOKS; i++)
        far = far && !is_near(look(false));
    ok(far, "who is alone in its node looks at others at once");
    begin(2);
    for (int i = 1; i < POOLS; i++)
        abti_store_relaxed(&pools[i].node, 0);
    far = false;
    for (int i = 0; i < LOOKS; i++)
        far = far || (uint32_t)look(false) > robber.reach.num_near;
    ok(!far && robber.reach.num_near == POOLS - 1, "pools of which nothing is known are near");
    is_int(abti_load_relaxed(&pools[0].node), 1, "its own is in its node");
}

/* Another stream begins in another node, or moves there. */
static void test_changes(void)
{
    struct abti_reach other = {0};
    abti_pool *others[] = {&pools[2], &pools[0]};
    begin(2);
    (void)look(false);
    is_int(robber.reach.num_near, POOLS / 2 - 1, "half of the pools are near");
    abti_store_relaxed(&pools[2].node, 2);
    (void)look(false);
    is_int(robber.reach.num_near, POOLS / 2 - 1, "a pool that says nothing stays where it was");
    abti_reach_update(&other, others, 2);
    is_int(abti_load_relaxed(&pools[2].node), 1, "a stream says where it is");
    abti_store_relaxed(&pools[2].node, 2);
    (void)look(false);
    is_int(robber.reach.num_near, POOLS / 2 - 2, "then the pools are sorted again");
}

int main(void)
{
    test_one_node();
    test_misses(2);
    test_misses(3);
    test_misses(8);
    test_found();
    test_alone();
    test_changes();
    return done_testing();
}

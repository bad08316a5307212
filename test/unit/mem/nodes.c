/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slabs on a machine with two NUMA nodes. One thread has a cache in each, and is made to be in the one whose cache it
 * uses: by lists that put all CPUs into this node or the other. Then a bound of memory on a machine without nodes.
 */
#include <stdlib.h>

#include "mem/slab.h"
#include "os/nodes.h"
#include "tap.h"

enum { CELL = 64, RUN = 16, BATCH = 8, CELLS = 256, MOST = 4096, KEPT = 4096 };

static int maps_left = 1000000;
static struct abti_slab slab;
static struct abti_cache caches[2];
static void *objects[2][MOST];

static bool map(struct abti_chunk *chunk, size_t size, bool huge)
{
    return maps_left-- > 0 && abti_chunk_map(chunk, size, huge);
}

static const struct abti_slab_spec spec = {
    .arena = {.cell = CELL, .block = CELL * CELLS, .span = CELL * CELLS, .chunk = CELL * CELLS, .map = map},
    .run = RUN,
    .batch = BATCH,
    .spares = 1,
    .kept = KEPT,
};

static void go_to(int node)
{
    struct abti_cpu_list *list = NULL;
    if (abti_parse_cpu_list(node == 0 ? "{0:4096},{4096:4096}" : "{4096:4096},{0:4096}", &list) != 0)
        bail_out("list");
    abti_nodes_init(true, list);
    free(list);
    if (abti_num_nodes != 2 || (int)abti_nodes_here() != node)
        bail_out("two nodes");
}

static void begin(void)
{
    go_to(0);
    abti_slab_init(&slab, &spec);
    bool good = abti_cache_init(&caches[0], &slab) == 0;
    go_to(1);
    ok(good && abti_cache_init(&caches[1], &slab) == 0, "a cache in each node");
}

static void end(void)
{
    for (int node = 0; node < 2; node++)
        abti_cache_fini(&caches[node]);
    abti_slab_fini(&slab);
    abti_nodes_init(false, NULL);
}

/* The node for whose streams the object's memory was taken. */
static int node_of(const void *object)
{
    for (size_t i = 0; i < slab.cells.num_extents; i++) {
        const struct abti_extent *extent = slab.cells.extents[i];
        if ((uintptr_t)object - (uintptr_t)extent->chunk.base < extent->chunk.size)
            return (int)extent->node;
    }
    return -1;
}

static int node_of_shelf(const struct abti_cache *cache)
{
    return (int)((cache->shelf - slab.shelves) % 2);
}

/* Returns how many are of another node. */
static int take(int node, int first, int num)
{
    int strange = 0;
    go_to(node);
    for (int i = first; i < first + num; i++) {
        objects[node][i] = abti_cache_get(&caches[node]);
        if (objects[node][i])
            memset(objects[node][i], node, CELL);
        strange += node_of(objects[node][i]) != node;
    }
    return strange;
}

/* To the cache of the node `to`, what was taken by that of `from`. */
static void put(int to, int from, int first, int num)
{
    go_to(to);
    for (int i = first; i < first + num; i++)
        abti_cache_put(&caches[to], objects[from][i]);
}

/* Rounds of creations and frees, of other sizes each time, on both nodes in turn. */
static void test_own(void)
{
    int strange = 0, all = 0;
    begin();
    ok(node_of_shelf(&caches[0]) == 0 && node_of_shelf(&caches[1]) == 1, "each has a shelf of its node");
    for (int round = 0; round < 100; round++) {
        for (int node = 0; node < 2; node++) {
            int num = 1 + (round * 37 + node * 501) % 1000;
            strange += take(node, 0, num);
            all += num;
            put(node, node, 0, num);
        }
    }
    ok(strange * 100 < all * 5, "under 5 %% of the objects are of the other node: %d of %d", strange, all);
    ok(slab.made < MOST, "and what was freed is used again: %d cells", (int)slab.made);
    end();
}

/* What is made in one node and freed in the other comes back: memory does not grow with the rounds. */
static void test_passed(void)
{
    begin();
    for (int round = 0; round < 200; round++) {
        (void)take(0, 0, 500);
        put(1, 0, 0, 500);
    }
    ok(slab.made <= KEPT, "objects that go from node to node come back: %d cells for 100000", (int)slab.made);
    end();
}

/* The system may move a stream, and then its cache follows. */
static void test_moved(void)
{
    begin();
    (void)take(0, 0, 1000);
    go_to(1);
    for (int i = 0; i < 1000; i++)
        abti_cache_put(&caches[0], objects[0][i]);
    is_int(node_of_shelf(&caches[0]), 1, "a cache follows its stream to another node");
    go_to(0);
    for (int i = 0; i < 1000; i++)
        objects[0][i] = abti_cache_get(&caches[0]);
    is_int(node_of_shelf(&caches[0]), 0, "and back");
    put(0, 0, 0, 1000);
    end();
}

static bool has_all(int node, int first, int num)
{
    for (int i = first; i < first + num; i++) {
        if (!objects[node][i])
            return false;
    }
    return true;
}

/* Without memory a node gets what there is in the other one: unused cells, and free objects. */
static void test_no_memory(void)
{
    begin();
    (void)take(1, 0, 1);
    int left = CELLS - RUN;
    maps_left = 0;
    (void)take(0, 0, left);
    ok(has_all(0, 0, left), "cells of the other node");
    ok(node_of(objects[0][0]) == 1, "are taken where there is no memory");
    put(1, 0, 0, left);
    (void)take(0, 0, left - 4 * BATCH);
    ok(has_all(0, 0, left - 4 * BATCH), "so are free objects");
    put(0, 0, 0, left - 4 * BATCH);
    put(1, 1, 0, 1);
    maps_left = 1000000;
    end();
}

/* Streams that make and free in turn do not each keep what they needed: memory is bounded by what was in use at a time.
 */
static void test_in_turn(void)
{
    enum { STREAMS = 8, UNITS = 1000, PIECE = 16 * RUN };
    struct abti_cache cache[STREAMS];
    abti_nodes_init(false, NULL);
    abti_slab_init(&slab, &spec);
    for (int i = 0; i < STREAMS; i++) {
        if (abti_cache_init(&cache[i], &slab) != 0)
            bail_out("no memory");
    }
    for (int i = 0; i < 4 * STREAMS; i++) {
        for (int k = 0; k < UNITS; k++)
            objects[0][k] = abti_cache_get(&cache[i % STREAMS]);
        for (int k = 0; k < UNITS; k++)
            abti_cache_put(&cache[i % STREAMS], objects[0][k]);
    }
    int most = 2 * (UNITS + STREAMS * 2 * BATCH) + STREAMS * PIECE;
    ok((int)slab.made <= most, "%d cells for %d objects of %d streams in turn", (int)slab.made, UNITS, STREAMS);
    for (int i = 0; i < STREAMS; i++)
        abti_cache_fini(&cache[i]);
    abti_slab_fini(&slab);
}

int main(void)
{
    test_own();
    test_passed();
    test_moved();
    test_no_memory();
    test_in_turn();
    return done_testing();
}

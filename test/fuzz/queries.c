/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library says of itself, while it works. */
#include "world.h"

static void print_take(struct actor *actor)
{
    switch (dice(actor, 6)) {
    case 0: must(ABT_info_print_all_xstreams(nowhere)); return;
    case 1: must(ABT_info_print_config(nowhere)); return;
    case 2: must(ABT_info_print_pool(nowhere, any_pool(actor))); return;
    case 3: must(ABT_info_print_xstream(nowhere, any_stream(actor))); return;
    case 4: must(ABTX_stats_enable(chance(actor, 2) ? ABT_TRUE : ABT_FALSE)); return;
    default: must(ABTX_stats_print(nowhere));
    }
}

static void stacks_take(struct actor *actor)
{
    must(ABT_info_trigger_print_all_thread_stacks(nowhere, 0.01, NULL, NULL));
}

static void sizes_take(struct actor *actor)
{
    size_t size, total;
    int num;

    for (int i = 0; i < world.num_pools; i++) {
        must(ABT_pool_get_size(world.pools[i], &size));
        must(ABT_pool_get_total_size(world.pools[i], &total));
    }
    for (int i = 1; i < world.num_streams; i++)
        must(ABT_sched_get_total_size(world.scheds[i], &total));
    must(ABT_xstream_get_num(&num));
    expect(num >= world.num_streams);
}

/* The place and size of the caller's own stack, which it is on. */
static void stack_take(struct actor *actor)
{
    ABT_thread self;
    ABT_thread_attr attr;
    void *stack, *here = &self;
    size_t size;

    must(ABT_self_get_thread(&self));
    must(ABT_thread_get_attr(self, &attr));
    must(ABT_thread_attr_get_stack(attr, &stack, &size));
    must(ABT_thread_attr_free(&attr));
    expect(!stack || ((uintptr_t)here >= (uintptr_t)stack && (uintptr_t)here < (uintptr_t)stack + size));
}

const struct step query_steps[] = {
    {"print", print_take, 0},
    {"stacks", stacks_take, 0},
    {"sizes", sizes_take, LEAF},
    {"stack", stack_take, BY_ULT | LEAF},
    {NULL, NULL, 0},
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Units that are made, revived, joined and freed. */
#include "world.h"

static void yield_take(struct actor *actor)
{
    for (unsigned i = dice(actor, 20); i > 0; i--)
        relax(actor);
}

static void children_take(struct actor *actor)
{
    struct child *children[6];
    unsigned num = 1 + dice(actor, 6);

    for (unsigned i = 0; i < num; i++) {
        children[i] = child_make(actor, chance(actor, 3));
        child_start(actor, children[i], any_pool(actor));
    }
    for (unsigned i = dice(actor, 4); i > 0; i--)
        relax(actor);
    for (unsigned i = 0; i < num; i++) {
        while (chance(actor, 2)) {
            ABT_thread_state state;
            must(ABT_thread_join(children[i]->thread));
            child_check(children[i]);
            must(ABT_thread_get_state(children[i]->thread, &state));
            expect(state == ABT_THREAD_STATE_TERMINATED);
            child_revive(children[i], any_pool(actor));
        }
        child_free(children[i]);
    }
}

/* All at once, by one call. */
static void many_take(struct actor *actor)
{
    enum { MAX = 12 };
    ABT_pool pools[MAX];
    void (*funcs[MAX])(void *);
    void *args[MAX];
    ABT_thread threads[MAX];
    int num = 2 + (int)dice(actor, MAX - 1);

    for (int i = 0; i < num; i++) {
        struct child *child = child_make(actor, false);
        child->num_steps = 1;
        child->expected = 1;
        pools[i] = any_pool(actor);
        funcs[i] = child_main;
        args[i] = child;
    }
    must(ABT_thread_create_many(num, pools, funcs, args, ABT_THREAD_ATTR_NULL, threads));
    if (chance(actor, 2))
        must(ABT_thread_join_many(num, threads));
    must(ABT_thread_free_many(num, threads));
    for (int i = 0; i < num; i++) {
        expect(threads[i] == ABT_THREAD_NULL);
        child_check(args[i]);
        free(args[i]);
    }
}

static void unnamed_take(struct actor *actor)
{
    for (unsigned i = 1 + dice(actor, 5); i > 0; i--) {
        ABT_pool pool = any_pool(actor);
        if (!actor->external && chance(actor, 2))
            must(ABT_self_get_last_pool(&pool));
        unnamed_start(actor, pool);
    }
}

/* By stream, where they may be pushed to whatever pool comes first. */
static void on_stream_take(struct actor *actor)
{
    struct child *child = child_make(actor, chance(actor, 3));
    ABT_xstream stream = any_stream(actor);

    child->expected = 1;
    if (child->is_task)
        must(ABT_task_create_on_xstream(stream, child_main, child, (ABT_task *)&child->thread));
    else
        must(ABT_thread_create_on_xstream(stream, child_main, child, ABT_THREAD_ATTR_NULL, &child->thread));
    child_free(child);
}

/* On a stack that the user provides, which is the user's again when the unit is freed. */
static void own_stack_take(struct actor *actor)
{
    enum { SIZE = 131072 };
    struct child *child = child_make(actor, false);
    ABT_thread_attr attr;
    void *stack, *place;
    size_t size;

    expect(posix_memalign(&stack, 4096, SIZE) == 0);
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stack(attr, stack, SIZE));
    child->expected = 1;
    must(ABT_thread_create(any_pool(actor), child_main, child, attr, &child->thread));
    must(ABT_thread_attr_free(&attr));
    must(ABT_thread_get_stack(child->thread, &place, &size));
    expect(place == stack && size == SIZE);
    if (chance(actor, 2)) {
        must(ABT_thread_join(child->thread));
        child_revive(child, any_pool(actor));
    }
    child_free(child);
    memset(stack, 0x55, SIZE);
    free(stack);
}

/* ---- Several that wait for one unit ------------------------------------------------------------------------------ */

struct joined {
    ABT_eventual go;
    ABT_thread thread;
};

static void joined_live(struct actor *actor, void *arg)
{
    struct joined *joined = arg;

    must(ABT_eventual_wait(joined->go, NULL));
    if (chance(actor, 2))
        relax(actor);
}

static void joiner_live(struct actor *actor, void *arg)
{
    struct joined *joined = arg;
    ABT_thread_state state;

    must(ABT_thread_join(joined->thread));
    must(ABT_thread_get_state(joined->thread, &state));
    expect(state == ABT_THREAD_STATE_TERMINATED);
}

/* All joiners but one may yield until the unit has ended, so that they stand behind all others. */
static void joiners_take(struct actor *actor)
{
    struct joined joined;
    struct crew target = {0}, joiners = {0};

    must(ABT_eventual_create(0, &joined.go));
    crew_add(actor, &target, joined_live, &joined, 0);
    joined.thread = target.members[0].thread;
    for (unsigned i = 1 + dice(actor, 4); i > 0; i--)
        if (!chance(actor, 4) || !crew_add_native(actor, &joiners, joiner_live, &joined))
            crew_add_to(actor, &joiners, joiner_live, &joined, last_pool());
    for (unsigned i = dice(actor, 4); i > 0; i--)
        relax(actor);
    must(ABT_eventual_set(joined.go, NULL, 0));
    crew_join(actor, &joiners);
    crew_join(actor, &target);
    must(ABT_eventual_free(&joined.go));
}

/* ---- Handles ----------------------------------------------------------------------------------------------------- */

/* What a unit says of itself is what others say of it. */
static void handles_take(struct actor *actor)
{
    struct child *child = child_make(actor, chance(actor, 2));
    ABT_unit unit;
    ABT_unit_id id, again;
    ABT_thread thread;
    ABT_pool pool = any_pool(actor), last;
    ABT_bool equal, unnamed, primary;
    void *arg;

    child->num_steps = 0;
    child_start(actor, child, pool);
    must(ABT_thread_get_id(child->thread, &id));
    must(ABT_thread_get_arg(child->thread, &arg));
    expect(arg == child);
    must(ABT_thread_join(child->thread));
    must(ABT_thread_get_last_pool(child->thread, &last));
    must(ABT_thread_get_unit(child->thread, &unit));
    must(ABT_unit_get_thread(unit, &thread));
    must(ABT_thread_equal(thread, child->thread, &equal));
    expect(equal == ABT_TRUE);
    must(ABT_thread_get_id(child->thread, &again));
    expect(id == again);
    must(ABT_thread_is_unnamed(child->thread, &unnamed));
    must(ABT_thread_is_primary(child->thread, &primary));
    expect(!unnamed && !primary);
    child_free(child);
    if (actor->external)
        return;
    must(ABT_self_get_thread(&thread));
    must(ABT_self_get_thread_id(&id));
    relax(actor);
    must(ABT_thread_get_id(thread, &again));
    expect(id == again);
}

const struct step unit_steps[] = {
    {"yield", yield_take, LEAF},     {"children", children_take, 0},   {"many", many_take, 0},
    {"unnamed", unnamed_take, LEAF}, {"on_stream", on_stream_take, 0}, {"own_stack", own_stack_take, 0},
    {"joiners", joiners_take, 0},    {"handles", handles_take, 0},     {NULL, NULL, 0},
};

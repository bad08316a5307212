/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>

#include "world.h"

/* ---- Who runs next ----------------------------------------------------------------------------------------------- */

/* Ranks of streams that native threads have entered are large. */
enum { ENTERED = 65536, MAX_RANK = 256 };

/* How often units have got the stream of a rank, as far as they have noted it. */
static atomic_long gains[2 * MAX_RANK];

static atomic_long *gains_of(int rank)
{
    int is_entered = rank >= ENTERED, low = rank - is_entered * ENTERED;

    expect(low >= 0 && low < MAX_RANK);
    return &gains[is_entered * MAX_RANK + low];
}

static int own_rank(void)
{
    int rank;

    must(ABT_self_get_xstream_rank(&rank));
    return rank;
}

void gain_note(void)
{
    atomic_fetch_add_explicit(gains_of(own_rank()), 1, memory_order_relaxed);
}

void heading_begin(struct heading *heading)
{
    heading->rank = own_rank();
    heading->gains = atomic_load(gains_of(heading->rank));
}

void heading_end(const struct heading *heading)
{
    int rank = own_rank();
    long others = atomic_load(gains_of(rank)) - heading->gains;

    if (rank != heading->rank)
        fuzz_fail("a switch on stream %d arrives on stream %d", heading->rank, rank);
    if (others != 0)
        fuzz_fail("others run %ld times before the target of a switch", others);
    gain_note();
}

void relax(struct actor *actor)
{
    if (actor->external) {
        sched_yield();
        return;
    }
    must(ABT_thread_yield());
    gain_note();
}

void await_blocked(struct actor *actor, ABT_thread thread)
{
    ABT_thread_state state;

    must(ABT_thread_get_state(thread, &state));
    while (state != ABT_THREAD_STATE_BLOCKED) {
        relax(actor);
        must(ABT_thread_get_state(thread, &state));
    }
}

/* ---- Children ---------------------------------------------------------------------------------------------------- */

enum { MARK = 0x600d };

/* Units that free themselves, and how many of them have ended. */
static atomic_long unnamed_made, unnamed_ended;
static atomic_int unnamed_wait; /* 1: somebody waits until all have ended; 2: they have */
static ABT_eventual unnamed_gone;

/* One that ends has made its own before. */
static void unnamed_look(void)
{
    int waits = 1;

    if (atomic_load(&unnamed_wait) == 1 && atomic_load(&unnamed_ended) == atomic_load(&unnamed_made) &&
        atomic_compare_exchange_strong(&unnamed_wait, &waits, 2))
        must(ABT_eventual_set(unnamed_gone, NULL, 0));
}

/* What a tasklet may do: it waits for nothing that needs its stream. */
static void task_live(struct actor *actor)
{
    ABT_unit_type type;

    must(ABT_self_get_type(&type));
    expect(type == ABT_UNIT_TYPE_TASK);
    for (unsigned i = dice(actor, 4); i > 0; i--) {
        unsigned spin = dice(actor, NUM_SPINS);
        if (chance(actor, 2)) {
            must(ABT_mutex_spinlock(world.spins[spin]));
            world.spin_counts[spin].value++;
            must(ABT_mutex_unlock(world.spins[spin]));
            atomic_fetch_add(&world.spin_counts[spin].added, 1);
        } else if (actor->depth < MAX_DEPTH) {
            actor->depth += 2;
            unnamed_start(actor, any_pool(actor));
        }
    }
}

void child_main(void *arg)
{
    struct child *child = arg;

    if (child->heading)
        heading_end(child->heading);
    else
        gain_note();
    expect(child->mark == MARK);
    struct actor actor = child->actor;
    actor.rng.state = mix(actor.rng.state + (uint64_t)atomic_fetch_add(&child->begun, 1));
    if (child->is_task)
        task_live(&actor);
    else
        steps_take(&actor, child->num_steps);
    atomic_fetch_add(&child->ended, 1);
    if (!child->is_unnamed)
        return;
    child->mark = 0;
    free(child);
    atomic_fetch_add(&unnamed_ended, 1);
    unnamed_look();
}

struct child *child_make(struct actor *actor, bool is_task)
{
    struct child *child = calloc(1, sizeof(*child));

    expect(child);
    child->mark = MARK;
    child->is_task = is_task;
    child->actor = actor_make(actor);
    child->num_steps = actor->depth >= 2 ? 1 : 1 + (int)dice(actor, 3);
    return child;
}

ABT_thread_attr random_attr(struct actor *actor)
{
    static const size_t sizes[] = {65536, 70000, 131072, 200000, 1 << 20};
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;

    if (!chance(actor, 4))
        return attr;
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, sizes[dice(actor, 5)]));
    return attr;
}

void child_start(struct actor *actor, struct child *child, ABT_pool pool)
{
    child->expected++;
    if (child->is_task) {
        must(ABT_task_create(pool, child_main, child, (ABT_task *)&child->thread));
        return;
    }
    ABT_thread_attr attr = random_attr(actor);
    must(ABT_thread_create(pool, child_main, child, attr, &child->thread));
    if (attr != ABT_THREAD_ATTR_NULL)
        must(ABT_thread_attr_free(&attr));
}

void child_revive(struct child *child, ABT_pool pool)
{
    child->expected++;
    if (child->is_task)
        must(ABT_task_revive(pool, child_main, child, (ABT_task *)&child->thread));
    else
        must(ABT_thread_revive(pool, child_main, child, &child->thread));
}

void child_check(struct child *child)
{
    int begun = atomic_load(&child->begun), ended = atomic_load(&child->ended);

    expect(child->mark == MARK);
    if (begun != child->expected || ended != child->expected)
        fuzz_fail("a unit has begun %d and ended %d times, not %d", begun, ended, child->expected);
}

void child_free(struct child *child)
{
    if (child->is_task)
        must(ABT_task_free((ABT_task *)&child->thread));
    else
        must(ABT_thread_free(&child->thread));
    child_check(child);
    free(child);
}

void unnamed_start(struct actor *actor, ABT_pool pool)
{
    struct child *child = child_make(actor, chance(actor, 2));

    child->is_unnamed = true;
    child->num_steps = 1;
    child->actor.depth = MAX_DEPTH - 1;
    child->expected = 1;
    atomic_fetch_add(&unnamed_made, 1);
    if (child->is_task)
        must(ABT_task_create(pool, child_main, child, NULL));
    else
        must(ABT_thread_create(pool, child_main, child, ABT_THREAD_ATTR_NULL, NULL));
}

/* A loop of yields would keep pools that come behind that of the caller from being served. */
void unnamed_wait_all(void)
{
    must(ABT_eventual_create(0, &unnamed_gone));
    atomic_store(&unnamed_wait, 1);
    unnamed_look();
    must(ABT_eventual_wait(unnamed_gone, NULL));
    must(ABT_eventual_free(&unnamed_gone));
    atomic_store(&unnamed_wait, 0);
    atomic_store(&unnamed_made, 0);
    atomic_store(&unnamed_ended, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Native threads: outside of streams, entered, and blocked below units. */
#include <sys/syscall.h>
#include <unistd.h>

#include "world.h"

static void native_live(struct actor *actor, void *arg)
{
    steps_take(actor, 1 + (int)dice(actor, 3));
}

static void native_take(struct actor *actor)
{
    struct crew crew = {0};

    for (unsigned i = 1 + dice(actor, 2); i > 0; i--)
        (void)crew_add_native(actor, &crew, native_live, NULL);
    crew_join(actor, &crew);
}

/* A scheduler whose first pool is its own, and others that all serve. */
static ABT_sched entered_sched(struct actor *actor, ABT_pool *own)
{
    ABT_pool pools[3];
    int num = 1;

    *own = pools[0] = pool_make(&actor->rng, false);
    for (int i = 0; i < 2; i++) {
        pools[num] = open_pool(actor);
        if (pools[num] != ABT_POOL_NULL && pools[num] != last_pool() && (num == 1 || pools[num] != pools[1]))
            num++;
    }
    return sched_make(&actor->rng, num, pools, false);
}

/*
 * One with a scheduler of its own may leave by ending: on its own thread. The ULT may be on another one, which has
 * carried the stream while a unit was in a region.
 */
static void entered_live(struct actor *actor, void *arg)
{
    ABT_xstream stream, self;
    ABT_sched sched = ABT_SCHED_NULL;
    ABT_pool own = ABT_POOL_NULL;
    long thread = syscall(SYS_gettid); /* pthread_self is const to compilers: they call it once */

    if (chance(actor, 2))
        sched = entered_sched(actor, &own);
    must(ABTX_xstream_enter(sched, &stream));
    actor->external = false;
    steps_take(actor, 1 + (int)dice(actor, 3));
    must(ABT_self_get_xstream(&self));
    expect(self == stream);
    if (sched == ABT_SCHED_NULL && syscall(SYS_gettid) == thread && chance(actor, 2))
        return;
    must(ABTX_xstream_leave(&stream));
    expect(stream == ABT_XSTREAM_NULL);
    if (sched == ABT_SCHED_NULL)
        return;
    must(ABT_sched_free(&sched));
    must(ABT_pool_free(&own));
}

static void enter_take(struct actor *actor)
{
    struct crew crew = {0};

    (void)crew_add_native(actor, &crew, entered_live, NULL);
    crew_join(actor, &crew);
}

/* In the region the caller is as outside of streams. It waits only where streams can be handed over. */
static void region_take(struct actor *actor)
{
    struct actor outside = actor_make(actor);
    int rank;

    outside.external = true;
    must(ABTX_blocking_begin());
    if (!ABT_NULL)
        expect(actor->external || ABT_self_get_xstream_rank(&rank) == ABT_ERR_INV_XSTREAM);
    usleep((useconds_t)dice(actor, 500));
    if (!world.is_bound && chance(actor, 2))
        steps_take(&outside, 1);
    must(ABTX_blocking_end());
    if (!actor->external)
        gain_note();
}

const struct step entered_steps[] = {
    {"native", native_take, 0},
    {"enter", enter_take, 0},
    {"region", region_take, BY_ULT},
    {NULL, NULL, 0},
};

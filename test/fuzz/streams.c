/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that come and go. */
#include "world.h"

void be_elsewhere(struct actor *actor, ABT_xstream stream)
{
    ABT_xstream self;

    while (ABT_self_get_xstream(&self) == ABT_SUCCESS && self == stream)
        relax(actor);
}

static void stream_join(struct actor *actor, ABT_xstream stream)
{
    ABT_xstream_state state;

    be_elsewhere(actor, stream);
    must(ABT_xstream_join(stream));
    must(ABT_xstream_get_state(stream, &state));
    expect(state == ABT_XSTREAM_STATE_TERMINATED);
}

static void exit_live(struct actor *actor, void *arg)
{
    relax(actor);
    must(ABT_xstream_exit());
    fuzz_fail("ABT_xstream_exit returns");
}

/* The stream ends with units in its pools, and goes on when it is revived. */
static void stream_stop(struct actor *actor, ABT_xstream stream, ABT_pool own)
{
    struct crew crew = {0};

    if (chance(actor, 2)) {
        must(ABT_xstream_cancel(stream));
    } else {
        crew_add_to(actor, &crew, exit_live, NULL, own);
        crew_join(actor, &crew);
    }
    stream_join(actor, stream);
    must(ABT_xstream_revive(stream));
}

static void stream_live(struct actor *actor, ABT_xstream stream, ABT_pool own)
{
    struct child *children[5];
    unsigned num = dice(actor, 6);

    for (unsigned i = 0; i < num; i++) {
        children[i] = child_make(actor, chance(actor, 3));
        child_start(actor, children[i], own);
    }
    if (chance(actor, 3))
        stream_stop(actor, stream, own);
    for (unsigned i = 0; i < num; i++)
        child_free(children[i]);
    if (chance(actor, 2))
        unnamed_start(actor, own);
    stream_join(actor, stream);
}

/* Pools that have stacked schedulers are not for a stream that may stop before they have ended. */
static void stream_take(struct actor *actor)
{
    if (!own_stream_begin())
        return;
    ABT_pool own = pool_make(&actor->rng, false), pools[] = {own, open_pool(actor)};
    int num = pools[1] != ABT_POOL_NULL && pools[1] != last_pool() && chance(actor, 2) ? 2 : 1;
    ABT_sched sched = sched_make(&actor->rng, num, pools, false);
    ABT_xstream stream;

    must(ABT_xstream_create(sched, &stream));
    stream_live(actor, stream, own);
    for (unsigned lives = dice(actor, 3); lives > 0; lives--) {
        must(ABT_xstream_revive(stream));
        stream_live(actor, stream, own);
    }
    be_elsewhere(actor, stream);
    must(ABT_xstream_free(&stream));
    must(ABT_sched_free(&sched));
    must(ABT_pool_free(&own));
    own_stream_end();
}

/* Its pool is private, and others push to it. */
static void private_take(struct actor *actor)
{
    ABT_pool own;
    ABT_xstream stream;

    if (!own_stream_begin())
        return;
    must(ABT_pool_create_basic(chance(actor, 2) ? ABT_POOL_FIFO : ABT_POOL_RANDWS, ABT_POOL_ACCESS_PRIV, ABT_TRUE,
                               &own));
    must(ABT_xstream_create(sched_make(&actor->rng, 1, &own, true), &stream));
    stream_live(actor, stream, own);
    be_elsewhere(actor, stream);
    must(ABT_xstream_free(&stream));
    own_stream_end();
}

/* Ranks are those of streams that are there. */
static void ranks_take(struct actor *actor)
{
    static atomic_uint made;
    ABT_xstream stream;
    int rank, num, high = 100 + (int)(atomic_fetch_add(&made, 1) % 100);

    if (!own_stream_begin())
        return;
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 0, NULL, ABT_SCHED_CONFIG_NULL, &stream));
    must(ABT_xstream_get_rank(stream, &rank));
    must(ABT_xstream_get_num(&num));
    expect(rank >= world.num_streams && num > world.num_streams);
    must(ABT_xstream_set_rank(stream, high));
    if (chance(actor, 2)) {
        struct child *child = child_make(actor, chance(actor, 2));
        ABT_pool pool;
        must(ABT_xstream_get_main_pools(stream, 1, &pool));
        child_start(actor, child, pool);
        child_free(child);
    }
    must(ABT_xstream_get_rank(stream, &num));
    expect(num == high);
    be_elsewhere(actor, stream);
    must(ABT_xstream_free(&stream));
    own_stream_end();
}

const struct step stream_steps[] = {
    {"stream", stream_take, BY_ULT},
    {"private", private_take, BY_ULT | UNCHECKED},
    {"ranks", ranks_take, BY_ULT},
    {NULL, NULL, 0},
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Directed switches, whose target runs next; suspending and resuming. */
#include "world.h"

/* ---- To new, revived and ready units ----------------------------------------------------------------------------- */

static void create_to_take(struct actor *actor)
{
    struct child *child = child_make(actor, false);
    struct heading heading;

    child->heading = &heading;
    child->expected = 1;
    heading_begin(&heading);
    must(ABT_thread_create_to(any_pool(actor), child_main, child, ABT_THREAD_ATTR_NULL, &child->thread));
    gain_note();
    if (chance(actor, 2)) {
        must(ABT_thread_join(child->thread));
        ABT_pool pool = any_pool(actor);
        child->expected++;
        heading_begin(&heading);
        must(ABT_thread_revive_to(pool, child_main, child, &child->thread));
        gain_note();
    }
    child_free(child);
}

/* The target may be running, or have ended. */
static void yield_to_take(struct actor *actor)
{
    struct child *child = child_make(actor, false);

    child_start(actor, child, any_pool(actor));
    int code = ABT_thread_yield_to(child->thread);
    expect(code == ABT_SUCCESS || code == ABT_ERR_POOL);
    gain_note();
    child_free(child);
}

/* ---- To a unit of a pool that nobody serves, by yielding, suspending or ending ----------------------------------- */

enum way { BY_YIELD, BY_SUSPEND, BY_EXIT };

struct hop {
    enum way way;
    struct heading heading;
    ABT_pool hidden;
    ABT_thread from;
    bool goes_on;
};

/* It wakes the one that has suspended itself to come here. */
static void hop_target(void *arg)
{
    struct hop *hop = arg;

    heading_end(&hop->heading);
    if (hop->way == BY_SUSPEND)
        must(ABT_thread_resume(hop->from));
}

/* The target is in no pool: it has been popped. */
static void hop_live(struct actor *actor, void *arg)
{
    struct hop *hop = arg;
    ABT_thread target, popped;

    must(ABT_thread_create(hop->hidden, hop_target, hop, ABT_THREAD_ATTR_NULL, &target));
    must(ABT_pool_pop_thread(hop->hidden, &popped));
    expect(popped == target);
    must(ABT_thread_set_associated_pool(popped, any_pool(actor)));
    must(ABT_self_get_thread(&hop->from));
    heading_begin(&hop->heading);
    if (hop->way == BY_YIELD)
        must(ABT_self_yield_to(target));
    else if (hop->way == BY_SUSPEND)
        must(ABT_self_suspend_to(target));
    gain_note();
    must(ABT_thread_free(&target));
    hop->goes_on = true;
}

/* The one that ends does not free its target. */
static void hop_exit_live(struct actor *actor, void *arg)
{
    struct hop *hop = arg;
    ABT_thread target;

    must(ABT_pool_pop_thread(hop->hidden, &target));
    heading_begin(&hop->heading);
    must(ABT_self_exit_to(target));
    fuzz_fail("ABT_self_exit_to returns");
}

static void hop_take(struct actor *actor)
{
    struct hop hop = {.way = dice(actor, 3)};
    struct crew crew = {0};
    ABT_thread target = ABT_THREAD_NULL;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &hop.hidden));
    if (hop.way == BY_EXIT)
        must(ABT_thread_create(hop.hidden, hop_target, &hop, ABT_THREAD_ATTR_NULL, &target));
    crew_add(actor, &crew, hop.way == BY_EXIT ? hop_exit_live : hop_live, &hop, 0);
    crew_join(actor, &crew);
    expect(hop.goes_on == (hop.way != BY_EXIT));
    if (target != ABT_THREAD_NULL)
        must(ABT_thread_free(&target));
    must(ABT_pool_free(&hop.hidden));
}

/* ---- Suspending and resuming ------------------------------------------------------------------------------------- */

struct sleeper {
    ABT_eventual soon; /* it is about to suspend itself */
    unsigned rounds;
    struct heading heading;
    bool is_headed; /* it is resumed by a switch to it */
    atomic_uint woken;
};

static void sleeper_live(struct actor *actor, void *arg)
{
    struct sleeper *sleeper = arg;

    for (unsigned i = 0; i < sleeper->rounds; i++) {
        must(ABT_eventual_set(sleeper->soon, NULL, 0));
        must(ABT_self_suspend());
        if (sleeper->is_headed)
            heading_end(&sleeper->heading);
        else
            gain_note();
        atomic_fetch_add(&sleeper->woken, 1);
    }
}

static void suspend_take(struct actor *actor)
{
    struct sleeper sleeper = {.rounds = 1 + dice(actor, 4)};
    struct crew crew = {0};

    must(ABT_eventual_create(0, &sleeper.soon));
    crew_add(actor, &crew, sleeper_live, &sleeper, 0);
    ABT_thread thread = crew.members[0].thread;
    for (unsigned i = 0; i < sleeper.rounds; i++) {
        must(ABT_eventual_wait(sleeper.soon, NULL));
        must(ABT_eventual_reset(sleeper.soon));
        await_blocked(actor, thread);
        expect(atomic_load(&sleeper.woken) == i);
        sleeper.is_headed = !actor->external && chance(actor, 2);
        if (sleeper.is_headed) {
            heading_begin(&sleeper.heading);
            must(ABT_self_resume_yield_to(thread));
            gain_note();
        } else {
            must(ABT_thread_resume(thread));
        }
    }
    crew_join(actor, &crew);
    expect(atomic_load(&sleeper.woken) == sleeper.rounds);
    must(ABT_eventual_free(&sleeper.soon));
}

/* Two that hand over to each other: each wakes the other one and suspends itself; the first one ends first. */
struct player {
    struct player *other;
    ABT_thread self;
    ABT_eventual ready;
    struct heading heading; /* of the switch to it */
    bool is_headed, exits;
    int left;
};

static void player_arrive(struct player *player)
{
    if (player->is_headed)
        heading_end(&player->heading);
    else
        gain_note();
}

static void player_live(struct actor *actor, void *arg)
{
    struct player *player = arg;

    must(ABT_self_get_thread(&player->self));
    must(ABT_eventual_set(player->ready, NULL, 0));
    must(ABT_self_suspend());
    player_arrive(player);
    for (; player->left > 0; player->left--) {
        player->other->is_headed = true;
        heading_begin(&player->other->heading);
        must(ABT_self_resume_suspend_to(player->other->self));
        player_arrive(player);
    }
    if (!player->exits)
        return;
    player->other->is_headed = true;
    heading_begin(&player->other->heading);
    must(ABT_self_resume_exit_to(player->other->self));
    fuzz_fail("ABT_self_resume_exit_to returns");
}

static void ping_pong_take(struct actor *actor)
{
    struct player players[2] = {{.exits = true}};
    struct crew crew = {0};
    int rounds = 1 + (int)dice(actor, 20);

    for (int i = 0; i < 2; i++) {
        players[i].other = &players[1 - i];
        players[i].left = rounds;
        must(ABT_eventual_create(0, &players[i].ready));
        crew_add(actor, &crew, player_live, &players[i], 0);
    }
    for (int i = 0; i < 2; i++) {
        must(ABT_eventual_wait(players[i].ready, NULL));
        await_blocked(actor, players[i].self);
    }
    must(ABT_thread_resume(players[0].self));
    crew_join(actor, &crew);
    for (int i = 0; i < 2; i++) {
        expect(players[i].left == 0);
        must(ABT_eventual_free(&players[i].ready));
    }
}

const struct step switch_steps[] = {
    {"create_to", create_to_take, BY_ULT}, {"yield_to", yield_to_take, BY_ULT}, {"hop", hop_take, 0},
    {"suspend", suspend_take, 0},          {"ping_pong", ping_pong_take, 0},    {NULL, NULL, 0},
};

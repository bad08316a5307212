/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to a unit from outside: migration, another pool, cancellation; and its keys. */
#include <time.h>

#include "world.h"

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

enum { VALUE_MARK = 0x7a1 };

struct value {
    int mark;
};

void value_destroy(void *arg)
{
    struct value *value = arg;

    expect(value->mark == VALUE_MARK);
    value->mark = 0;
    free(value);
    atomic_fetch_add(&world.values_gone, 1);
}

static void value_set(ABT_key key)
{
    struct value *value = malloc(sizeof(*value));
    void *old;

    expect(value);
    value->mark = VALUE_MARK;
    atomic_fetch_add(&world.values_made, 1);
    must(ABT_key_get(key, &old));
    must(ABT_key_set(key, value));
    if (old)
        value_destroy(old);
    must(ABT_self_get_specific(key, &old));
    expect(old == value);
}

/* The value of a key that is freed is destroyed with its unit. */
static void keys_take(struct actor *actor)
{
    for (unsigned i = 1 + dice(actor, 6); i > 0; i--) {
        value_set(world.keys[dice(actor, NUM_KEYS)]);
        if (chance(actor, 3))
            relax(actor);
    }
    if (!chance(actor, 3))
        return;
    ABT_key key;
    must(ABT_key_create(value_destroy, &key));
    value_set(key);
    if (chance(actor, 2))
        relax(actor);
    must(ABT_key_free(&key));
}

/* ---- Migration --------------------------------------------------------------------------------------------------- */

struct move {
    ABT_eventual go, done;
    unsigned rounds;
    ABT_pool to; /* or the null handle: to one that is not known */
};

static void move_noted(ABT_thread thread, void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void mover_live(struct actor *actor, void *arg)
{
    struct move *move = arg;
    ABT_pool pool;

    for (unsigned i = 0; i < move->rounds; i++) {
        must(ABT_eventual_wait(move->go, NULL));
        must(ABT_eventual_reset(move->go));
        relax(actor);
        must(ABT_self_get_last_pool(&pool));
        expect(move->to == ABT_POOL_NULL || move->to == pool);
        must(ABT_eventual_set(move->done, NULL, 0));
    }
}

/* Not to any stream (ABT_thread_migrate): that may be one which ends before the unit gets there. */
static int move_request(struct actor *actor, struct move *move, ABT_thread thread)
{
    unsigned stream = 1 + dice(actor, MAX_STREAMS);
    int code;

    move->to = ABT_POOL_NULL;
    switch (dice(actor, 3)) {
    case 0: return ABT_thread_migrate_to_xstream(thread, any_stream(actor));
    case 1:
        if (stream < (unsigned)world.num_streams)
            return ABT_thread_migrate_to_sched(thread, world.scheds[stream]);
        /* fall through */
    default:
        move->to = any_pool(actor);
        code = ABT_thread_migrate_to_pool(thread, move->to);
        if (code != ABT_SUCCESS)
            move->to = ABT_POOL_NULL;
        return code;
    }
}

static void migrate_take(struct actor *actor)
{
    struct move move = {.rounds = 1 + dice(actor, 4)};
    struct crew crew = {0};
    atomic_int moves = 0;
    int requests = 0;

    must(ABT_eventual_create(0, &move.go));
    must(ABT_eventual_create(0, &move.done));
    crew_add(actor, &crew, mover_live, &move, 0);
    must(ABT_thread_set_callback(crew.members[0].thread, move_noted, &moves));
    for (unsigned i = 0; i < move.rounds; i++) {
        int code = move_request(actor, &move, crew.members[0].thread);
        expect(code == ABT_SUCCESS || code == ABT_ERR_MIGRATION_TARGET || code == ABT_ERR_MIGRATION_NA);
        requests += code == ABT_SUCCESS;
        must(ABT_eventual_set(move.go, NULL, 0));
        must(ABT_eventual_wait(move.done, NULL));
        must(ABT_eventual_reset(move.done));
    }
    crew_join(actor, &crew);
    expect(atomic_load(&moves) <= requests);
    must(ABT_eventual_free(&move.go));
    must(ABT_eventual_free(&move.done));
}

/* The unit of a native thread that has entered a stream stays there. */
static bool is_bound(void)
{
    void (*func)(void *);

    must(ABT_self_get_thread_func(&func));
    return !func;
}

static void associate_take(struct actor *actor)
{
    if (is_bound())
        return;
    must(ABT_self_set_associated_pool(any_pool(actor)));
    relax(actor);
    if (chance(actor, 2))
        must(ABT_self_set_associated_pool(any_pool(actor)));
}

/* ---- Cancellation ------------------------------------------------------------------------------------------------ */

enum ending { SUSPENDED, WAITING, TIMED, SLEEPING, ANY_OF, PUT_OFF, RUNNING, NUM_ENDINGS };

enum { HOUR = 3600 };

struct victim {
    enum ending ending;
    unsigned yields;
    ABT_eventual begun, never;
    atomic_int passed;
};

static void deadline_wait(ABT_eventual eventual)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec += HOUR;
    (void)ABT_eventual_timedwait(eventual, NULL, &ts);
}

/* A cancel is put off over a sleep, which it ends, and a wait, which it does not end. */
static void put_off_live(struct victim *victim)
{
    ABT_bool before;

    must(ABTX_self_put_off_cancel(ABT_TRUE, &before));
    expect(!before);
    must(ABTX_self_sleep(HOUR * INT64_C(1000000000)));
    atomic_store(&victim->passed, 1);
    must(ABT_thread_yield());
    must(ABT_eventual_wait(victim->never, NULL));
    atomic_store(&victim->passed, 2);
    must(ABTX_self_put_off_cancel(ABT_FALSE, NULL));
}

static void victim_live(struct actor *actor, void *arg)
{
    struct victim *victim = arg;
    int index;

    must(ABT_eventual_set(victim->begun, NULL, 0));
    for (unsigned i = 0; i < victim->yields; i++)
        relax(actor);
    switch (victim->ending) {
    case SUSPENDED: must(ABT_self_suspend()); return;
    case WAITING: must(ABT_eventual_wait(victim->never, NULL)); return;
    case TIMED: deadline_wait(victim->never); break;
    case SLEEPING: must(ABTX_self_sleep(HOUR * INT64_C(1000000000))); break;
    case ANY_OF:
        (void)ABTX_eventual_wait_any_until(1, &victim->never, &index, ABTX_after(HOUR * INT64_C(1000000000)));
        break;
    case PUT_OFF: put_off_live(victim); break;
    default: return;
    }
    fuzz_fail("a ULT goes on, cancelled in a wait with a deadline or after it was put off (%d)", victim->ending);
}

/* It is cancelled before it begins, or where it waits; a wait without a deadline goes on till its event. */
static void cancel_take(struct actor *actor)
{
    struct victim victim = {.ending = dice(actor, NUM_ENDINGS)};
    struct crew crew = {0};
    bool early = victim.ending != SUSPENDED && victim.ending != PUT_OFF && chance(actor, 3);

    victim.yields = victim.ending == SUSPENDED ? 0 : dice(actor, 5);
    must(ABT_eventual_create(0, &victim.begun));
    must(ABT_eventual_create(0, &victim.never));
    crew_add(actor, &crew, victim_live, &victim, 0);
    ABT_thread thread = crew.members[0].thread;
    if (!early) {
        must(ABT_eventual_wait(victim.begun, NULL));
        for (unsigned i = dice(actor, 6); i > 0; i--)
            relax(actor);
    }
    if (victim.ending == SUSPENDED)
        await_blocked(actor, thread);
    must(ABT_thread_cancel(thread));
    if (victim.ending == SUSPENDED)
        must(ABT_thread_resume(thread));
    if (victim.ending == WAITING || victim.ending == PUT_OFF)
        must(ABT_eventual_set(victim.never, NULL, 0));
    crew_join(actor, &crew);
    expect(atomic_load(&victim.passed) != 1);
    must(ABT_eventual_free(&victim.begun));
    must(ABT_eventual_free(&victim.never));
}

const struct step life_steps[] = {
    {"keys", keys_take, BY_ULT},
    {"migrate", migrate_take, MIGRATES},
    {"associate", associate_take, BY_ULT},
    {"cancel", cancel_take, CANCELS},
    {NULL, NULL, 0},
};

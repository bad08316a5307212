/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeps, deadlines and timers. */
#include <time.h>

#include "world.h"

static void sleep_take(struct actor *actor)
{
    int64_t duration = chance(actor, 3) ? -(int64_t)(rng_next(&actor->rng) >> 1) : (int64_t)dice(actor, 2000000);
    int64_t before = ABTX_after(0);

    must(ABTX_self_sleep(duration));
    if (!actor->external)
        gain_note();
    expect(duration < 1000 || ABTX_after(0) - before >= duration);
}

static void timer_take(struct actor *actor)
{
    ABT_timer timer, copy;
    double seconds, sum = 1;

    must(ABT_timer_create(&timer));
    must(ABT_timer_start(timer));
    relax(actor);
    must(ABT_timer_stop_and_read(timer, &seconds));
    must(ABT_timer_dup(timer, &copy));
    must(ABT_timer_stop_and_add(copy, &sum));
    expect(seconds >= 0 && sum >= 1 + seconds);
    must(ABT_timer_free(&timer));
    must(ABT_timer_free(&copy));
}

/* A wait for what never comes is over when its time is, and no sooner. */
static void late_take(struct actor *actor)
{
    ABT_eventual never;
    int64_t deadline = ABTX_after((int64_t)dice(actor, 3000000) - 500000);
    int index;

    must(ABT_eventual_create(0, &never));
    expect(ABTX_eventual_wait_any_until(1, &never, &index, deadline) == ABT_ERR_COND_TIMEDOUT);
    expect(ABTX_after(0) >= deadline);
    must(ABT_eventual_free(&never));
}

/* ---- Sleepers that others wake, or their deadlines do, at about the same time ------------------------------------ */

struct race {
    ABT_eventual eventuals[3];
    int64_t deadline;
    atomic_int done;
};

static void racer_live(struct actor *actor, void *arg)
{
    struct race *race = arg;
    int64_t deadline = race->deadline + (int64_t)dice(actor, 100000) - 50000;
    int index = -1, code = ABTX_eventual_wait_any_until(3, race->eventuals, &index, deadline);

    expect(code == ABT_ERR_COND_TIMEDOUT || (code == ABT_SUCCESS && index >= 0 && index < 3));
    expect(code == ABT_SUCCESS || ABTX_after(0) >= deadline);
    atomic_fetch_add(&race->done, 1);
}

static void race_take(struct actor *actor)
{
    struct race race = {.deadline = ABTX_after((int64_t)dice(actor, 500000))};
    struct crew crew = {0};
    int num = 1 + (int)dice(actor, MAX_CREW);

    for (int i = 0; i < 3; i++)
        must(ABT_eventual_create(0, &race.eventuals[i]));
    for (int i = 0; i < num; i++)
        crew_add(actor, &crew, racer_live, &race, NATIVES);
    must(ABTX_self_sleep(race.deadline - ABTX_after(0)));
    must(ABT_eventual_set(race.eventuals[dice(actor, 3)], NULL, 0));
    crew_join(actor, &crew);
    expect(atomic_load(&race.done) == num);
    for (int i = 0; i < 3; i++)
        must(ABT_eventual_free(&race.eventuals[i]));
}

const struct step time_steps[] = {
    {"sleep", sleep_take, 0}, {"timer", timer_take, LEAF}, {"late", late_take, 0}, {"race", race_take, 0},
    {NULL, NULL, 0},
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Eventuals and futures. */
#include <time.h>

#include "world.h"

struct news {
    ABT_eventual eventual;
    long value;
    unsigned delay;
};

static bool is_yieldable(void)
{
    ABT_unit_type type;

    ABT_self_get_type(&type);
    return type == ABT_UNIT_TYPE_THREAD;
}

static void setter_live(struct actor *actor, void *arg)
{
    struct news *news = arg;

    for (unsigned i = 0; i < news->delay && (actor->external || is_yieldable()); i++)
        relax(actor);
    must(ABT_eventual_set(news->eventual, &news->value, sizeof(news->value)));
}

/* Until it is ready, with many deadlines, alone or among others. */
static void eventual_wait_late(struct actor *actor, ABT_eventual eventual)
{
    ABT_eventual list[] = {ABT_EVENTUAL_NULL, eventual, ABT_EVENTUAL_NULL};
    struct timespec ts;
    int code, index = -1;

    do {
        if (chance(actor, 2)) {
            code = ABTX_eventual_wait_any_until(3, list, &index, ABTX_after((int64_t)dice(actor, 500000)));
            expect(code != ABT_SUCCESS || index == 1);
        } else {
            clock_gettime(CLOCK_REALTIME, &ts);
            ts.tv_nsec += (long)dice(actor, 500000);
            ts.tv_sec += ts.tv_nsec / 1000000000;
            ts.tv_nsec %= 1000000000;
            code = ABT_eventual_timedwait(eventual, NULL, &ts);
        }
        expect(code == ABT_SUCCESS || code == ABT_ERR_COND_TIMEDOUT);
    } while (code != ABT_SUCCESS);
}

static void eventual_take(struct actor *actor)
{
    struct news news;
    struct crew crew = {0};
    ABT_bool ready;
    long *value;

    must(ABT_eventual_create(sizeof(long), &news.eventual));
    for (unsigned i = 1 + dice(actor, 4); i > 0; i--) {
        news.value = (long)rng_next(&actor->rng);
        news.delay = dice(actor, 4);
        crew_add(actor, &crew, setter_live, &news, NATIVES | TASKS);
        if (chance(actor, 2))
            eventual_wait_late(actor, news.eventual);
        must(ABT_eventual_wait(news.eventual, (void **)&value));
        expect(value && *value == news.value);
        crew_join(actor, &crew);
        must(ABT_eventual_test(news.eventual, NULL, &ready));
        expect(ready);
        must(ABT_eventual_reset(news.eventual));
    }
    must(ABT_eventual_free(&news.eventual));
}

/* ---- One that many wait for, in memory of the program ------------------------------------------------------------ */

struct gate {
    ABT_eventual_memory eventual;
    atomic_int passed;
};

static void gate_live(struct actor *actor, void *arg)
{
    struct gate *gate = arg;
    ABT_eventual eventual = ABT_EVENTUAL_MEMORY_GET_HANDLE(&gate->eventual);

    if (chance(actor, 3))
        eventual_wait_late(actor, eventual);
    else
        must(ABT_eventual_wait(eventual, NULL));
    atomic_fetch_add(&gate->passed, 1);
}

static void gate_take(struct actor *actor)
{
    struct gate gate = {.eventual = ABT_EVENTUAL_INITIALIZER};
    struct crew crew = {0};
    int num = 1 + (int)dice(actor, MAX_CREW);

    for (int i = 0; i < num; i++)
        crew_add(actor, &crew, gate_live, &gate, NATIVES);
    for (unsigned i = dice(actor, 4); i > 0; i--)
        relax(actor);
    expect(atomic_load(&gate.passed) == 0);
    must(ABT_eventual_set(ABT_EVENTUAL_MEMORY_GET_HANDLE(&gate.eventual), NULL, 0));
    crew_join(actor, &crew);
    expect(atomic_load(&gate.passed) == num);
}

/* ---- Futures ----------------------------------------------------------------------------------------------------- */

/* Of all rounds that play at a time; the callback gets nothing but the values. */
static atomic_long futures_filled;

static void future_filled(void **values)
{
    expect(values[0]);
    atomic_fetch_add(&futures_filled, 1);
}

static void filler_live(struct actor *actor, void *arg)
{
    must(ABT_future_set(*(ABT_future *)arg, arg));
}

static void future_take(struct actor *actor)
{
    ABT_future future;
    ABT_bool ready;
    struct crew crew = {0};
    unsigned num = 1 + dice(actor, 5);
    long before = atomic_load(&futures_filled);

    must(ABT_future_create(num, future_filled, &future));
    for (unsigned again = 1 + dice(actor, 2); again > 0; again--) {
        for (unsigned i = 0; i < num; i++)
            crew_add(actor, &crew, filler_live, &future, NATIVES | TASKS);
        must(ABT_future_wait(future));
        must(ABT_future_test(future, &ready));
        expect(ready && atomic_load(&futures_filled) > before);
        crew_join(actor, &crew);
        must(ABT_future_reset(future));
    }
    must(ABT_future_free(&future));
}

const struct step event_steps[] = {
    {"eventual", eventual_take, 0},
    {"gate", gate_take, 0},
    {"future", future_take, 0},
    {NULL, NULL, 0},
};

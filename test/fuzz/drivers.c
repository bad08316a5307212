/* SPDX-License-Identifier: BSD-3-Clause */
/* What streams call beside their units: drivers, pollers and idle hooks. */
#include <poll.h>

#include "world.h"

struct called {
    atomic_int calls, starts, ends, is_gone;
    ABT_eventual seen; /* or the null handle */
};

static void called_note(struct called *called)
{
    expect(!atomic_load(&called->is_gone));
    if (atomic_fetch_add(&called->calls, 1) == 0 && called->seen != ABT_EVENTUAL_NULL)
        must(ABT_eventual_set(called->seen, NULL, 0));
}

static void idle_wait(void *data, int fd, int64_t deadline)
{
    int64_t left = deadline == ABTX_FOREVER ? 1000000000 : deadline - ABTX_after(0);
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};
    struct timespec ts = {.tv_sec = left < 0 ? 0 : left / 1000000000, .tv_nsec = left < 0 ? 0 : left % 1000000000};

    called_note(data);
    ppoll(&pollfd, 1, &ts, NULL);
}

static int64_t any_period(struct actor *actor)
{
    static const int64_t periods[] = {1, 1000, 100000, 5000000, ABTX_FOREVER};

    return periods[dice(actor, 5)];
}

/* ---- Pollers and idle hooks -------------------------------------------------------------------------------------- */

static int poller_poll(void *arg)
{
    called_note(arg);
    return 0;
}

static void poller_take(struct actor *actor)
{
    struct called called = {.seen = ABT_EVENTUAL_NULL};
    ABT_xstream stream = any_stream(actor);
    bool waits = chance(actor, 2);

    must(ABT_eventual_create(0, &called.seen));
    must(
        ABTX_poller_add_every(stream, poller_poll, &called, waits ? (int64_t)dice(actor, 5000000) : any_period(actor)));
    if (waits)
        must(ABT_eventual_wait(called.seen, NULL));
    must(ABTX_poller_remove(stream, poller_poll, &called));
    atomic_store(&called.is_gone, 1);
    relax(actor);
    must(ABT_eventual_free(&called.seen));
}

/* A stream has one hook. */
static void idle_hook_take(struct actor *actor)
{
    struct called called = {.seen = ABT_EVENTUAL_NULL};
    unsigned one = dice(actor, (unsigned)world.num_streams);

    if (atomic_exchange(&world.has_hook[one], 1))
        return;
    must(ABTX_xstream_set_idle_wait(world.streams[one], idle_wait, &called));
    for (unsigned i = dice(actor, 10); i > 0; i--)
        relax(actor);
    if (chance(actor, 2)) {
        must(ABTX_self_sleep(200000));
        must(ABTX_xstream_wake(world.streams[one]));
    }
    must(ABTX_xstream_set_idle_wait(world.streams[one], NULL, NULL));
    atomic_store(&called.is_gone, 1);
    atomic_store(&world.has_hook[one], 0);
}

/* ---- Drivers ----------------------------------------------------------------------------------------------------- */

static int driver_start(void *arg, void **data)
{
    struct called *called = arg;

    atomic_fetch_add(&called->starts, 1);
    *data = called;
    return ABT_SUCCESS;
}

static void driver_end(void *data)
{
    struct called *called = data;

    expect(!atomic_load(&called->is_gone));
    atomic_fetch_add(&called->ends, 1);
}

static ABT_bool driver_poll(void *data, ABT_bool about_to_sleep)
{
    (void)about_to_sleep;
    called_note(data);
    return ABT_FALSE;
}

/* False: the stream has been handed over, and cannot have a driver that is bound to its thread. */
static bool driver_attach(struct actor *actor, ABTX_driver driver, bool any_thread)
{
    if (chance(actor, 3)) {
        must(ABTX_driver_attach_all(driver));
        return true;
    }
    ABT_xstream stream = any_stream(actor);
    int code = ABTX_driver_attach(driver, stream);
    if (code == ABT_ERR_INV_XSTREAM && !any_thread)
        return false;
    must(code);
    if (!chance(actor, 2))
        return true;
    for (unsigned i = dice(actor, 10); i > 0; i--)
        relax(actor);
    must(ABTX_driver_detach(driver, stream));
    return true;
}

static void driver_use(struct actor *actor, ABTX_driver driver)
{
    ABT_bool found;

    for (unsigned i = dice(actor, 3); i > 0; i--) {
        int code = ABTX_driver_look(driver, &found);
        expect(code == ABT_SUCCESS || code == ABT_ERR_INV_ARG);
        code = ABTX_driver_lead(driver);
        expect(code == ABT_SUCCESS || code == ABT_ERR_INV_ARG);
        must(ABTX_driver_set_max_sleep(driver, any_period(actor)));
        for (unsigned yields = dice(actor, 10); yields > 0; yields--)
            relax(actor);
    }
}

static void driver_take(struct actor *actor)
{
    struct called called = {.seen = ABT_EVENTUAL_NULL};
    ABTX_driver_ops ops = {.start = driver_start, .end = driver_end, .poll = driver_poll};
    ABTX_driver driver;
    static atomic_int drivers;

    ops.wait = chance(actor, 2) ? idle_wait : NULL;
    ops.one_leader = chance(actor, 2);
    ops.any_thread = !world.is_bound || chance(actor, 2);
    if (atomic_fetch_add(&drivers, 1) < ABTX_MAX_DRIVERS / 2) {
        must(ABTX_driver_create(&ops, &called, &driver));
        must(ABTX_driver_set_period(driver, any_period(actor)));
        if (driver_attach(actor, driver, ops.any_thread))
            driver_use(actor, driver);
        must(ABTX_driver_free(&driver));
        atomic_store(&called.is_gone, 1);
        expect(atomic_load(&called.starts) == atomic_load(&called.ends));
    }
    atomic_fetch_sub(&drivers, 1);
}

const struct step driver_steps[] = {
    {"poller", poller_take, 0},
    {"idle_hook", idle_hook_take, 0},
    {"driver", driver_take, BY_ULT},
    {NULL, NULL, 0},
};

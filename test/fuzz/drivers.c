/* SPDX-License-Identifier: BSD-3-Clause */
/* What streams call beside their units: drivers. */
#include <poll.h>

#include "world.h"

struct called {
    atomic_int calls, starts, ends, is_gone;
    ABT_eventual seen;
};

static void called_note(struct called *called)
{
    expect(!atomic_load(&called->is_gone));
    if (atomic_fetch_add(&called->calls, 1) == 0)
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
    called_note(data);
    return ABT_FALSE;
}

/* False: the stream has been handed over, and cannot have a driver that is bound to its thread. */
static bool driver_attach(struct actor *actor, ABTX_driver driver, ABT_eventual seen, bool any_thread)
{
    ABT_xstream stream = chance(actor, 3) ? ABT_XSTREAM_NULL : any_stream(actor);
    int code = stream == ABT_XSTREAM_NULL ? ABTX_driver_attach_all(driver) : ABTX_driver_attach(driver, stream);
    if (code == ABT_ERR_INV_XSTREAM && !any_thread)
        return false;
    must(code);
    if (chance(actor, 2))
        must(ABT_eventual_wait(seen, NULL));
    if (stream == ABT_XSTREAM_NULL || !chance(actor, 2))
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
    struct called called = {0};
    ABTX_driver_ops ops = {.start = driver_start, .end = driver_end, .poll = driver_poll};
    ABTX_driver driver;
    static atomic_int drivers;

    ops.wait = chance(actor, 2) ? idle_wait : NULL;
    ops.one_leader = chance(actor, 2);
    ops.any_thread = !world.is_bound || chance(actor, 2);
    if (atomic_fetch_add(&drivers, 1) < ABTX_MAX_DRIVERS / 2) {
        must(ABT_eventual_create(0, &called.seen));
        must(ABTX_driver_create(&ops, &called, &driver));
        must(ABTX_driver_set_period(driver, any_period(actor)));
        if (driver_attach(actor, driver, called.seen, ops.any_thread))
            driver_use(actor, driver);
        must(ABTX_driver_free(&driver));
        atomic_store(&called.is_gone, 1);
        must(ABT_eventual_free(&called.seen));
        expect(atomic_load(&called.starts) == atomic_load(&called.ends));
    }
    atomic_fetch_sub(&drivers, 1);
}

const struct step driver_steps[] = {
    {"driver", driver_take, BY_ULT},
    {NULL, NULL, 0},
};

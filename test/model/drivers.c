/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drivers: idle/idle.c and idle/driver.c with stream/park.c, stream/events.c and wait/sleeper.c as they are. A stream
 * sleeps in the wait of a driver, and calls others, while other threads attach and detach them, and wake it. What a
 * driver uses may be freed when it has been detached: it is written over then. No wake is lost, and nobody signals a
 * descriptor that is closed. The descriptor itself orders nothing here.
 */
#include "idle.h"

const char model_name[] = "drivers";
const char *const model_subjects[] = {"src/idle/idle.c", "src/idle/driver.c", "src/stream/events.c",
                                      "src/wait/sleeper.c", 0};

static void run_stream(void)
{
    abti_es *es = model_enter(0);
    while (run_once(es))
        ;
}

/* What a driver uses. */
struct used {
    int there;
    _Atomic(int) calls;
};
static struct used used[2];

static void with_used(void)
{
    reset();
    for (int i = 0; i < 2; i++)
        used[i] = (struct used){.there = 1};
}

static int start(void *arg, void **data)
{
    struct used *mine = arg;
    model_assert(mine->there == 1);
    mine->there = 3; /* the driver is at work. Only its stream may store this */
    *data = mine;
    return ABT_SUCCESS;
}

static void end(void *data)
{
    struct used *mine = data;
    model_assert(mine->there == 3);
    mine->there = 1;
}

static ABT_bool poll_of_driver(void *data, ABT_bool about_to_sleep)
{
    struct used *mine = data;
    model_assert(mine->there == 3);
    atomic_fetch_add_explicit(&mine->calls, 1, memory_order_relaxed);
    return ABT_FALSE;
}

static void wait_driver(void *data, int fd, int64_t deadline)
{
    struct used *mine = data;
    model_assert(mine->there == 3);
    abti_wakefd_wait(&(struct abti_wakefd){fd, fd}, -1);
    model_assert(mine->there == 3);
}

static struct ABTX_driver_opaque driver_objects[2];

static void with_drivers(void)
{
    with_used();
    for (unsigned i = 0; i < 2; i++)
        driver_objects[i] = (struct ABTX_driver_opaque){
            .ops = {start, end, poll_of_driver, wait_driver, 0}, .arg = &used[i], .index = i};
}

static void attach_and_detach(int which)
{
    model_assert(abti_driver_attach(&driver_objects[which], &model_es[0]) == ABT_SUCCESS);
    model_linger(60);
    model_assert(abti_driver_detach(&driver_objects[which], &model_es[0]) == ABT_SUCCESS);
    model_assert(used[which].there == 1);
    used[which].there = 2;
}

static void driver_stream(void)
{
    run_stream();
    abti_drivers_end(&model_es[0]);
}

/* A driver comes and goes, on a stream that may sleep, be in its wait, or end meanwhile. */
static void driver_comes(int index)
{
    if (index == 0) {
        driver_stream();
        return;
    }
    if (model_choose(2))
        stop(0);
    attach_and_detach(0);
    stop(0);
}

static void drivers_compete(int index)
{
    if (index == 0) {
        driver_stream();
        return;
    }
    attach_and_detach(index - 1);
    if (index == 1)
        stop(0);
}

static void with_driver(void)
{
    with_drivers();
    model_assert(abti_driver_attach(&driver_objects[0], &model_es[0]) == ABT_SUCCESS);
}

/* A wake's signal comes late: the stream ends, and closes its descriptor, when none is owed any more. */
static void woken_late(int index)
{
    if (index == 0) {
        driver_stream();
        abti_idle_fini(&model_es[0]);
    } else {
        model_linger(30);
        stop(0);
    }
}

const struct model_program model_programs[] = {
    {"a signal comes late", 2, 2000, with_driver, woken_late, 0},
    {"a driver comes and goes", 2, 3000, with_drivers, driver_comes, 0},
    {"two drivers come and go", 3, 2000, with_drivers, drivers_compete, 0},
    {0},
};

const struct model_kept model_kept[] = {
    {"serve_events", "atomic_load", "acquire", "abti_es_is_asked looks again, after the announcement"},
    {"abti_es_is_asked", "sched->requests", "acquire", "parking.c has it"},
    {"clear_check", "fetch_and", "acq_rel", "a read-modify-write sees the last request, and acquires it"},
    {"abti_sched_has_to_stop", "sched->requests", "acquire", "parking.c has it"},
    {"abti_sleeper_is_woken", "load", "acquire", "a look that is late costs a call: the signal ends the wait"},
    {"sleeper_claim", "compare_exchange", "acq_rel", "parking.c has it, and the next three"},
    {"abti_sleeper_cancel", "exchange", "acq_rel", "likewise"},
    {"abti_sleeper_sleep", "load", "acquire", "likewise"},
    {"abti_sleeper_sleep", "exchange", "acq_rel", "likewise"},
    {"abti_callees_update", "fetch_or", "acq_rel", "abti_es_notify, which follows, is the one that pairs"},
    {"abti_callees_update", "fetch_and", "acq_rel", "the sources say that it is of no use"},
    {0},
};

const char *const model_own_mutants[] = {0};

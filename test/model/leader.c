/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drivers with one leader: idle/leader.c with the rest of idle.h. Two streams have the driver. Its ring is one for
 * both, in which the leader sleeps: a signal of the leader's descriptor ends that sleep, and so does an event. Calls do
 * not overlap, and each sees what those before it did, also on the other stream. Each event is served, whoever leads
 * when it comes, gives up the lead, ends, or runs a long unit. A stream that sleeps in the ring notices what is asked
 * of it.
 */
#include "idle.h"

const char model_name[] = "leader";
const char *const model_subjects[] = {"src/idle/leader.c", 0};

/* --- The ring --- */

enum { EVENT = 0x10000, LONG_NS = 3 * ABTI_LEADER_PATIENCE_NS };

static struct {
    _Atomic(uint32_t) come, served;
    _Atomic(int) sleeper; /* 1 + the descriptor of the stream that sleeps in it; 0: none does */
    int calls;            /* the leader's: plain, so that calls that overlap are a race */
    bool inside;          /* likewise */
} ring;

static void come_in(void)
{
    model_assert(!ring.inside);
    ring.inside = true;
    ring.calls++;
}

static void go_out(void)
{
    model_assert(ring.inside);
    ring.inside = false;
}

/* The ring has a lock of its own in the system, which hands events over: so these order nothing for the streams. */
static bool serve_ring(void)
{
    uint32_t come = atomic_load_explicit(&ring.come, memory_order_relaxed);
    return atomic_exchange_explicit(&ring.served, come, memory_order_relaxed) != come;
}

static void event_comes(void)
{
    atomic_fetch_add_explicit(&ring.come, 1, memory_order_seq_cst);
    int sleeper = atomic_load_explicit(&ring.sleeper, memory_order_seq_cst);
    if (sleeper > 0) {
        atomic_fetch_add_explicit(&fds[sleeper - 1].signals, EVENT, memory_order_relaxed);
        abti_futex_wake_all((uint32_t *)&fds[sleeper - 1].signals);
    }
}

static ABT_bool poll(void *data, ABT_bool about_to_sleep)
{
    (void)data, (void)about_to_sleep;
    come_in();
    bool found = serve_ring();
    go_out();
    return found ? ABT_TRUE : ABT_FALSE;
}

static void wait_in_ring(void *data, int fd, int64_t deadline)
{
    (void)data, (void)deadline; /* there is no timer */
    come_in();
    atomic_store_explicit(&ring.sleeper, fd + 1, memory_order_seq_cst);
    uint32_t come = atomic_load_explicit(&ring.come, memory_order_seq_cst);
    if (come == atomic_load_explicit(&ring.served, memory_order_relaxed))
        abti_wakefd_wait(&(struct abti_wakefd){fd, fd}, -1);
    atomic_store_explicit(&ring.sleeper, 0, memory_order_seq_cst);
    serve_ring();
    go_out();
}

/* --- Streams --- */

static struct ABTX_driver_opaque driver;

static void anew(void)
{
    reset();
    memset(&ring, 0, sizeof ring);
    driver = (struct ABTX_driver_opaque){.ops = {.poll = poll, .wait = wait_in_ring, .one_leader = ABT_TRUE}};
    memset(&abti_rt.lock, 0, sizeof abti_rt.lock);
    abti_rt.xstreams = &model_es[0];
    model_es[0].next = &model_es[1];
}

/* A unit, which may take long. */
static void run_something(abti_es *es)
{
    abti_leaders_go_busy(es);
    if (model_choose(2))
        model_pass_time(LONG_NS);
    model_linger(40);
}

static void run_stream(int index, unsigned units)
{
    abti_es *es = model_enter(index);
    model_assert(abti_driver_attach(&driver, es) == ABT_SUCCESS);
    while (run_once(es)) {
        if (units > 0 && model_choose(2)) {
            units--;
            run_something(es);
        }
    }
    abti_drivers_end(es);
}

static void await_served(uint32_t events)
{
    while (atomic_load_explicit(&ring.served, memory_order_relaxed) != events)
        model_give_way();
}

/* --- Programs --- */

/* Both streams run until the third thread has seen all events served, one by one. */
static void serve_all(int index, unsigned units, uint32_t events)
{
    if (index < STREAMS) {
        run_stream(index, units);
        return;
    }
    for (uint32_t i = 1; i <= events; i++) {
        model_linger(60);
        event_comes();
        await_served(i);
    }
    stop(0);
    stop(1);
}

static void one_leads(int index)
{
    serve_all(index, 0, 2);
}

static void leader_is_busy(int index)
{
    serve_all(index, 2, 1);
}

/* The one that ends may be the leader, asleep or in a call, and the other one takes over. */
static void one_ends(int index)
{
    if (index < STREAMS) {
        run_stream(index, 1);
        return;
    }
    model_linger(60);
    stop(0);
    event_comes();
    await_served(1);
    stop(1);
}

static void is_detached(int index)
{
    if (index == 0) {
        abti_es *es = model_enter(0);
        while (run_once(es))
            ;
        abti_drivers_end(es);
    } else if (index == 1) {
        run_stream(1, 1);
    } else {
        model_assert(abti_driver_attach(&driver, &model_es[0]) == ABT_SUCCESS);
        model_linger(60);
        event_comes();
        model_assert(abti_driver_detach(&driver, &model_es[0]) == ABT_SUCCESS);
        stop(0);
        await_served(1);
        stop(1);
    }
}

static void none_inside(void)
{
    model_assert(!ring.inside && ring.calls > 0);
}

const struct model_program model_programs[] = {
    {"one of two leads", 3, 2000, anew, one_leads, none_inside},
    {"the leader is busy", 3, 3000, anew, leader_is_busy, none_inside},
    {"one of two ends", 3, 3000, anew, one_ends, none_inside},
    {"it is detached from one", 3, 2000, anew, is_detached, none_inside},
    {0},
};

const struct model_kept model_kept[] = {
    {"give_up", "compare_exchange", "relaxed", "a read-modify-write goes on with the release of abti_leader_leave"},
    {0},
};

const char *const model_own_mutants[] = {0};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits that several may end: sync/waiter.c, sync/timer.c, sync/gate.c and sync/eventual_any.c as they are, on the
 * streams of units.h. A ULT or a thread waits with a deadline, or for one of two eventuals, while those are set, its
 * time is up, and it is cancelled. It is woken once, sees what the one that woke it did, and nobody touches its frame
 * afterwards: the frame is written over then.
 */
#include "units.h"
#include "base/heap.c"
#include "run/block.c"
#include "run/begin.c"
#include "run/end.c"
#include "run/publish.c"
#include "run/sched.c"
#include "sync/eventual.c"
#include "sync/eventual_any.c"
#include "sync/gate.c"
#include "sync/timer.c"
#include "sync/waiter.c"
#include "run/cancel.c"
#include "wait/native.c"
#include "wait/sleeper.c"
#include "wait/word.c"

const char model_name[] = "waiting";
const char *const model_subjects[] = {"src/sync/waiter.c",
                                      "src/sync/waiter.h",
                                      "src/sync/waitq.h",
                                      "src/sync/gate.c",
                                      "src/sync/gate.h",
                                      "src/sync/timer.c",
                                      "src/sync/timer.h",
                                      "src/sync/eventual.c",
                                      "src/sync/eventual_any.c",
                                      "src/wait/native.c",
                                      0};

enum { DEADLINE_NS = 1500 };

static struct ABT_eventual_opaque eventuals[2];
static int values[2];
static bool in_time;

abti_pool *abti_pool_find(const abti_pool *address)
{
    return address == &model_pool ? &model_pool : NULL;
}

/* Each stream looks at its own timers here. */
void abti_parking_look_out_by(abti_pool *pool, uint64_t time_ns)
{
    (void)pool, (void)time_ns;
}

static void look_at_timers(abti_es *es)
{
    abti_timers_poll(es);
}

/* Writes over the stack below its caller's frame, where a wait has been. */
static __attribute__((noinline)) void write_over(void)
{
    volatile char room[3000];
    for (unsigned i = 0; i < sizeof room; i += 8)
        *(volatile uint64_t *)&room[i] = 1;
}

static __attribute__((noinline)) void wait_for_any(uint64_t deadline_ns)
{
    ABT_eventual both[] = {&eventuals[0], &eventuals[1]};
    int index = -1;
    abti_eventual_wait_any(2, both, deadline_ns, &index);
    in_time = index < 2;
    if (in_time)
        model_assert(values[index] == 1);
}

static void wait_for_ever(void *arg)
{
    wait_for_any(ABTI_CLOCK_NEVER);
    model_assert(in_time);
    write_over();
    model_unit_ends();
}

static void wait_with_deadline(void *arg)
{
    wait_for_any(DEADLINE_NS * (1 + model_choose(4)));
    write_over();
    model_unit_ends();
}

static __attribute__((noinline)) void wait_for_one(void)
{
    abti_gate_wait(&eventuals[0].gate, ABT_SYNC_EVENT_TYPE_EVENTUAL);
    model_assert(values[0] == 1);
}

static void wait_for_first(void *arg)
{
    wait_for_one();
    write_over();
    eventuals[0] = (struct ABT_eventual_opaque){0}; /* its memory may have gone */
    model_unit_ends();
}

static void set(int index)
{
    values[index] = 1;
    abti_eventual_set(&eventuals[index], NULL, 0);
}

static void reset(void (*func)(void *))
{
    model_reset();
    memset(eventuals, 0, sizeof eventuals);
    for (int i = 0; i < 2; i++) {
        eventuals[i] = (struct ABT_eventual_opaque){0};
        values[i] = 0;
    }
    model_idle = look_at_timers;
    abti_store_relaxed(&model_pool.lookout.timed, UINT64_MAX); /* nobody is to be informed of timers */
    for (int i = 0; i < MODEL_THREADS; i++) {
        abti_timers_forget((unsigned)i);
        model_es[i].timers = abti_timers_of((unsigned)i);
    }
    if (func)
        model_push(model_unit(0, func, NULL, 0));
}

static void for_ever(void)
{
    reset(wait_for_ever);
}

static void with_deadline(void)
{
    reset(wait_with_deadline);
}

static void for_first(void)
{
    reset(wait_for_first);
}

static void nobody(void)
{
    reset(NULL);
}

static void stream_and_setters(int index)
{
    if (index == 0)
        model_stream(0);
    else
        set(index - 1);
}

/* Two streams, so that the ULT may go on elsewhere than where its timer is. */
static void two_streams(int index)
{
    if (index == 1) {
        model_linger(80);
        set(0);
    }
    model_stream(index);
}

static void thread_and_setters(int index)
{
    if (index == 0) {
        wait_for_any(DEADLINE_NS);
        write_over();
    } else {
        set(index - 1);
    }
}

static void two_threads(int index)
{
    if (index < 2) {
        wait_for_one();
        write_over();
    } else {
        set(0);
    }
}

static void wait_for_cancel(void *arg)
{
    wait_for_any(ABTI_CLOCK_NEVER);
}

/* As ABT_thread_cancel: it asks, then looks whether the unit is held. The ULT then ends its wait, and goes on here. */
static void with_canceller(void)
{
    reset(NULL);
    model_push(model_unit(0, wait_for_cancel, NULL, ABTI_UNIT_NAMED));
    abti_rt.xstreams = &model_es[0];
    memset(&abti_rt.lock, 0, sizeof abti_rt.lock);
}

static void cancelled(int index)
{
    if (index == 0) {
        abti_es *es = model_enter(0);
        abti_unit *unit = model_pop();
        model_run(es, unit);
        while (!abti_unit_is_done(&model_units[0])) {
            abti_timers_poll(es);
            if ((unit = model_pop())) {
                model_run(es, unit);
                continue;
            }
            abti_sleeper_prepare(&es->sleeper);
            if (abti_timer_next(es) == ABTI_CLOCK_NEVER)
                abti_sleeper_sleep(&es->sleeper, ABTI_CLOCK_NEVER);
            else
                abti_sleeper_cancel(&es->sleeper);
        }
    } else {
        abti_unit *unit = &model_units[0];
        model_linger(80);
        atomic_fetch_or_explicit(&unit->requests, ABTI_REQ_CANCEL, memory_order_seq_cst);
        if (atomic_load_explicit(&unit->held, memory_order_seq_cst))
            abti_timers_recheck(&model_pool);
    }
}

const struct model_program model_programs[] = {
    {"a ULT waits for any", 3, 2000, for_ever, stream_and_setters, 0},
    {"a ULT waits until a deadline", 3, 2000, with_deadline, stream_and_setters, 0},
    {"a ULT goes on elsewhere", 2, 4000, for_ever, two_streams, 0},
    {"a ULT wanders off its timer", 2, 8000, with_deadline, two_streams, 0},
    {"a ULT waits for one", 2, 2000, for_first, two_streams, 0},
    {"a thread waits until a deadline", 3, 2000, nobody, thread_and_setters, 0},
    {"a ULT is cancelled", 2, 2000, with_canceller, cancelled, 0},
    {"two threads wait for one", 3, 2000, nobody, two_threads, 0},
    {0},
};

const struct model_kept model_kept[] = {
    {"abti_waiter_give_up", "compare_exchange", NULL, "the claim says who ends the wait; word orders what follows"},
    {"abti_waiter_claim_trunk", "compare_exchange", NULL, "likewise"},
    {"abti_timers_of", "highest", NULL, "abti_timers_at is not in this model"},
    {"expire_cancelled", "requests", "acquire", "the lock, which the canceller has had since, orders it"},
    {"after_park", "BLOCKED", "relaxed", "the lock orders it; for one that sees BLOCKED without, as join.c has it"},
    {"set_next", "timers->next", "release", "the store in tell_of_timer is the one that pairs"},
    {"after_await", "BLOCKED", "relaxed", "word orders it; for one that sees BLOCKED without, as join.c has it"},
    {0},
};

const char *const model_own_mutants[] = {0};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams that halt for a request: stream/halt.c with stream/events.c and stream/park.c as they are, and of
 * stream/list.c and pool/pool.c how a stream and a pool go meanwhile. A thread posts a request while streams run, sleep
 * and end. What is done for the request has them to itself, without any order but the protocol's; they go on after it;
 * and nobody touches a stream or a pool that is freed: it is written over then.
 */
#define MODEL_REAL_POOLS
#include "units.h"
#include <errno.h>
#define ABTI_MAX_ES 4 /* a poster looks at each index */
static int errors[MODEL_THREADS];
#undef errno
#define errno errors[model_self()]
#include "lock/bias.c"
#include "pool/blocked.c"
#include "pool/pool.c"
#include "rt/self.c"
#include "run/sched.c"
#include "stream/events.c"
#include "stream/halt.c"
#include "idle/idle.c"
#include "stream/list.c"
#include "stream/park.c"
#include "wait/sleeper.c"
#include "wait/word.c"

const char model_name[] = "halt";
const char *const model_subjects[] = {"src/stream/halt.c", "src/stream/list.c", "src/pool/pool.c", "src/wait/word.c",
                                      0};

static struct abti_idle idles[2];
static struct abti_timers timers; /* there are none */
static struct ABT_sched_opaque scheds[2];
static int work[2], pool_of_second; /* what the streams do, plainly */
static _Atomic(int) acts, dones, posted;

static void reset(void)
{
    model_reset();
    abti_halt_forget();
    memset(&abti_rt.lock, 0, sizeof abti_rt.lock);
    abti_rt.up = true;
    abti_rt.lister = NULL;
    abti_rt.pools = NULL;
    abti_rt.xstreams = &model_es[0];
    abti_rt.last_ranked = model_es[0].next = &model_es[1];
    model_es[1].prev = &model_es[0];
    timers = (struct abti_timers){.next = ABTI_CLOCK_NEVER};
    for (int i = 0; i < MODEL_THREADS; i++)
        abti_rt.by_index[i] = i == 1 || i == 2 ? &model_es[i - 1] : NULL;
    for (int i = 0; i < 2; i++) {
        idles[i] = (struct abti_idle){.period_ns = ABTI_CLOCK_NEVER};
        scheds[i] = (struct ABT_sched_opaque){.es = &model_es[i], .use = ABTI_SCHED_MAIN};
        model_es[i].timers = &timers;
        model_es[i].idle = &idles[i];
        model_es[i].state = ABT_XSTREAM_STATE_RUNNING;
        work[i] = 0;
    }
    pool_of_second = 1;
    acts = dones = posted = 0;
}

/* All have halted: it may look at what they do, and at the pools of those that are there. */
static void look(const struct abti_halt_request *request, bool timed_out)
{
    bool second = false;
    model_assert(!timed_out && request->arg == &acts);
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        model_assert(abti_halt_is_still(es));
        work[es - model_es]++;
        second |= es == &model_es[1];
    }
    abti_spin_unlock(&abti_rt.lock);
    if (second)
        model_assert(pool_of_second == 1);
    atomic_fetch_add_explicit(&acts, 1, memory_order_relaxed);
}

static void tell_done(ABT_bool timed_out, void *arg)
{
    (void)timed_out, (void)arg;
    atomic_fetch_add_explicit(&dones, 1, memory_order_relaxed);
}

static void post(void)
{
    struct abti_halt_request request = {.timeout = -1.0, .act = look, .done = tell_done, .arg = &acts};
    abti_halt_post(&request);
}

/* A read-modify-write, which sees the last value. */
static int last(_Atomic(int) *count)
{
    return atomic_fetch_add_explicit(count, 0, memory_order_relaxed);
}

static void end_streams(void)
{
    for (int i = 0; i < 2; i++)
        abti_sched_request(&scheds[i], ABTI_SCHED_REQ_EXIT);
}

static void run_stream(int index)
{
    abti_es *es = model_enter(index);
    struct abti_park_set none = {.num = 0};
    for (;;) {
        work[index]++;
        abti_es_check_events(es, &scheds[index]);
        if (abti_sched_has_to_stop(&scheds[index]))
            break;
        abti_es_park_on(es, &scheds[index], &none, ABTI_CLOCK_NEVER);
    }
}

static void all_halt(int index)
{
    if (index < 2) {
        run_stream(index);
        return;
    }
    model_linger(30);
    post();
    while (last(&dones) == 0)
        model_give_way();
    end_streams();
}

/* The second request is dropped, or has a round of its own. */
static void two_post(int index)
{
    if (index < 2) {
        run_stream(index);
        return;
    }
    model_linger(60);
    post();
    while (atomic_fetch_or_explicit(&halt.phase, 0, memory_order_relaxed) != IDLE)
        model_give_way();
    if (atomic_fetch_add_explicit(&posted, 1, memory_order_relaxed) == 1) {
        model_assert(last(&acts) > 0);
        end_streams();
    }
}

/* The second stream ends, as es_thread in stream/xstream.c does, and its thread goes on without it. */
static void one_ends(int index)
{
    if (index == 1) {
        model_enter(1);
        work[1]++;
        abti_store_release(&model_es[1].state, ABT_XSTREAM_STATE_TERMINATED);
    } else {
        all_halt(index);
    }
}

/* What a poster would touch of it. */
static void write_over(abti_es *es)
{
    *(volatile uint32_t *)&es->requests = 0;
    *(volatile uint32_t *)&es->sleeper.word = 0;
}

/* The second stream has ended. A thread frees it, and its pool. */
static void with_ended(void)
{
    reset();
    model_es[1].state = ABT_XSTREAM_STATE_TERMINATED;
    scheds[1].es = NULL;
}

static void one_is_freed(int index)
{
    if (index != 1) {
        all_halt(index);
        return;
    }
    model_linger(60);
    abti_es_list_leave(&model_es[1]);
    write_over(&model_es[1]);
    wait_for_lister();
    pool_of_second = 2;
}

/* Nobody runs: what counts is whether the poster looks at a stream that is no more. */
static void poster_and_freer(int index)
{
    model_linger(8);
    if (index == 0) {
        post();
        return;
    }
    abti_es_list_leave(&model_es[1]);
    write_over(&model_es[1]);
}

const struct model_program model_programs[] = {
    {"all halt", 3, 2000, reset, all_halt, 0},
    {"two post", 4, 1000, reset, two_post, 0},
    {"one ends", 3, 2000, reset, one_ends, 0},
    {"one is freed", 3, 2000, with_ended, one_is_freed, 0},
    {"a poster meets a freer", 2, 4000, with_ended, poster_and_freer, 0},
    {0},
};

const struct model_kept model_kept[] = {
    {"abti_halt_post", "halt.phase, &idle", "acq_rel", "a read-modify-write sees the last phase"},
    {"abti_halt_post", "POSTED", "release",
     "the read-modify-writes of es->requests, which follow and precede, order it"},
    {"abti_halt_arrive", "fetch_and", "acq_rel", "likewise"},
    {"enter_round", "phase", "acquire", "likewise"},
    {"abti_halt_post", "fetch_sub", "acq_rel", "its release is what pairs"},
    {"halt_act", "IDLE", "release", "likewise"},
    {"halt_act", "ACTING", "release", "rt.lock orders it"},
    {"halt_act", "lister, es", "relaxed",
     "rt.lock, which the thread that has removed a stream has had since, orders it"},
    {"halt_act", "round", "relaxed", "rt.lock orders it, which is taken before the next look"},
    {"abti_word_await_change", "load", "relaxed", "likewise"},
    {0},
};

const char *const model_own_mutants[] = {0};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mutex and its hand-off: sync/mutex.c, sync/waiter.c and sync/timer.c as they are, on the streams of units.h. ULTs
 * of several streams, and threads, take it and drop it: nobody is in it beside another, what is done in it is ordered,
 * and nobody waits for ever.
 */
#include "units.h"
#include "base/heap.c"
#include "run/block.c"
#include "run/begin.c"
#include "run/end.c"
#include "run/publish.c"
#include "run/sched.c"
#include "sync/mutex.c"
#include "sync/timer.c"
#include "sync/waiter.c"
#include "wait/native.c"
#include "wait/sleeper.c"
#include "wait/word.c"

const char model_name[] = "mutex";
const char *const model_subjects[] = {"src/sync/mutex.c",
                                      "src/sync/mutex.h",
                                      "src/sync/waiter.c",
                                      "src/sync/waiter.h",
                                      "src/sync/waitq.h",
                                      "src/wait/native.c",
                                      0};

static struct ABT_mutex_opaque mutex;
static int guarded, holders;

static void use(void)
{
    abti_mutex_lock(&mutex);
    model_assert(holders++ == 0);
    guarded++;
    model_assert(holders-- == 1);
    abti_mutex_unlock(&mutex);
}

static void use_twice(void *arg)
{
    use();
    use();
    model_unit_ends();
}

static void look_at_timers(abti_es *es)
{
    model_pass_time(1000000);
    abti_timers_poll(es);
}

static void reset(int ults)
{
    model_reset();
    mutex = (struct ABT_mutex_opaque){0};
    guarded = holders = 0;
    model_idle = look_at_timers;
    for (int i = 0; i < MODEL_THREADS; i++) {
        abti_timers_forget((unsigned)i);
        model_es[i].timers = abti_timers_of((unsigned)i);
    }
    for (int i = 0; i < ults; i++)
        model_push(model_unit(i, use_twice, NULL, 0));
}

static void three_ults(void)
{
    reset(3);
}

static void one_ult(void)
{
    reset(1);
}

static void streams(int index)
{
    model_stream(index);
}

static void stream_and_threads(int index)
{
    if (index == 0)
        model_stream(0);
    else
        use();
}

/* A main scheduler's ULT waits natively. */
static void stream_and_main(int index)
{
    if (index == 0) {
        model_stream(0);
    } else {
        abti_es *es = model_enter(index);
        es->parent = NULL;
        use();
    }
}

static void after(void)
{
    model_assert(holders == 0 && !(mutex.word & ~(uint32_t)(ABTI_MUTEX_SUCCESSOR | ABTI_MUTEX_WAITERS)));
    model_assert(abti_waitq_is_empty(&mutex.near) && abti_waitq_is_empty(&mutex.waiters));
}

const struct model_program model_programs[] = {
    {"ULTs of three streams", 3, 2000, three_ults, streams, after},
    {"a ULT and two threads", 3, 2000, one_ult, stream_and_threads, after},
    {"a ULT and two native threads of streams", 3, 2000, one_ult, stream_and_main, after},
    {0},
};

const struct model_kept model_kept[] = {
    {"abti_mutex_take_plain", "compare_exchange", "acquire",
     "abti_cas_word has one order, and a caller that takes the mutex publishes nothing"},
    {"abti_mutex_take_plain", "compare_exchange", "failure relaxed", "likewise, one that fails reads nothing"},
    {"take_or_announce", "compare_exchange", "acquire", "likewise"},
    {"take_or_announce", "compare_exchange", "failure relaxed", "likewise"},
    {"abti_mutex_drop_plain", "compare_exchange", "release", "likewise, one that drops it acquires nothing"},
    {"abti_mutex_drop_plain", "compare_exchange", "failure relaxed", "likewise, then the lock orders what is read"},
    {"after_park", "BLOCKED", "relaxed", "the lock orders it; for one that sees BLOCKED without, as join.c has it"},
    {0},
};

const char *const model_own_mutants[] = {0};

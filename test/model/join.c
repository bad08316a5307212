/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The join word (unit/unit.h): run/join.c, run/end.c, run/publish.c, run/block.c and wait/sleeper.c as they are, on the
 * streams of units.h. A unit ends while a ULT, a native thread or both wait for it, or free it; what it has done is
 * seen by each of them. And the state BLOCKED, by which a ULT is handed over: `abti_ctx_switch_store` of the machine is
 * in units.h.
 */
#include "units.h"
#include "run/join.c"
#include "run/begin.c"
#include "run/end.c"
#include "run/publish.c"
#include "run/block.c"
#include "unit/unit.c"
#include "wait/sleeper.c"
#include "wait/word.c"

const char model_name[] = "join";
const char *const model_subjects[] = {
    "src/run/join.c",     "src/run/join.h",  "src/run/end.c",     "src/run/publish.c",  "src/run/publish.h",
    "src/run/block.c",    "src/run/block.h", "src/run/switch.h",  "src/unit/unit.h",    "src/unit/unit.c",
    "src/wait/sleeper.c", "src/wait/word.c", "src/base/atomic.h", "test/model/units.h", 0};

static abti_unit *target;
static int effect;
static ABT_thread handle;

static void push(void *unit)
{
    model_push(unit);
}

int abti_yield_slow(abti_es *es, ABT_pool_context context)
{
    if (es)
        return abti_leave_to(es, es->cur, NULL, push, es->cur);
    model_give_way();
    return ABT_SUCCESS;
}

static void act(void *arg)
{
    effect++;
    model_unit_ends();
}

static void join(void *arg)
{
    abti_join(abti_es_self, target, NULL);
    model_assert(effect == 1);
    model_unit_ends();
}

static void join_and_free(void *arg)
{
    abti_join(abti_es_self, target, &handle);
    model_assert(effect == 1 && handle == ABT_THREAD_NULL);
    model_unit_ends();
}

static void make(abti_unit *joiner)
{
    effect = 0;
    target = model_unit(0, act, NULL, ABTI_UNIT_NAMED);
    handle = target;
    if (joiner)
        model_push(joiner);
    model_push(target);
}

static void with_joiner(void)
{
    model_reset();
    make(model_unit(1, join, NULL, 0));
}

static void alone(void)
{
    model_reset();
    make(NULL);
}

/* A unit that has more than its descriptor, so that it does not end by the quick way of abti_end_ult. */
static void more_with_joiner(void)
{
    with_joiner();
    atomic_store_explicit(&target->cold, ABTI_COLD_READY, memory_order_relaxed);
}

static void more_alone(void)
{
    alone();
    atomic_store_explicit(&target->cold, ABTI_COLD_READY, memory_order_relaxed);
}

/*
 * The joiner has run on a stream before, which may be another one. Stream 0 owns the counts of the pool, so that a unit
 * which ends there may go on with the joiner at once.
 */
static void move_and_join(void *arg)
{
    abti_yield_slow(abti_es_self, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    join(arg);
}

static void with_mover(void)
{
    model_reset();
    atomic_store_explicit(&model_pool.blocked.keeper, &model_es[0], memory_order_relaxed);
    make(model_unit(1, move_and_join, NULL, 0));
}

static void with_freer(void)
{
    model_reset();
    make(model_unit(1, join_and_free, NULL, 0));
}

static void with_two_joiners(void)
{
    model_reset();
    model_push(model_unit(2, join, NULL, 0));
    make(model_unit(1, join, NULL, 0));
}

static void streams(int index)
{
    model_stream(index);
}

static void stream_and_thread(int index)
{
    if (index == 0) {
        model_stream(0);
    } else {
        abti_join(NULL, target, NULL);
        model_assert(effect == 1);
    }
}

static void stream_and_freer(int index)
{
    if (index == 0) {
        model_stream(0);
    } else {
        abti_join(NULL, target, &handle);
        model_assert(effect == 1 && handle == ABT_THREAD_NULL);
    }
}

/* --- Handing over --- */

/* The first suspends itself; the second hands over to it and is handed over to by the third, whom it resumes. */
static abti_unit *first, *second, *third;

static void suspend(void *arg)
{
    abti_suspend(abti_es_self, first);
    model_unit_ends();
}

static void hand_over(void *arg)
{
    abti_unit *self = arg, *next = self == second ? first : second;
    for (int i = 0; !abti_may_hand_over(abti_es_self, self, next); i++)
        abti_yield_slow(abti_es_self, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    effect++;
    abti_hand_over(abti_es_self, self, next);
    if (self == second) {
        model_assert(effect == 2);
        abti_resume_joiner(third); /* waits for BLOCKED, as a resume does */
    }
    model_unit_ends();
}

static void with_partners(void)
{
    model_reset();
    effect = 0;
    first = model_unit(0, suspend, NULL, 0);
    second = model_unit(1, hand_over, &model_units[1], 0);
    third = model_unit(2, hand_over, &model_units[2], 0);
    model_push(first);
    model_push(second);
    model_push(third);
}

/* --- A thread that asks for the stack of a unit which starts and ends, and does so again in a second life --- */

enum { JOINERS_ROOM = 1000 };

static void unstarted(void)
{
    model_reset();
    target = model_unit(0, act, NULL, ABTI_UNIT_NAMED);
    target->stack = &model_stacks[3].header; /* uninitialised */
    first = model_unit(1, act, NULL, 0);     /* the joiner in place */
    first->ctx = (char *)first->stack - JOINERS_ROOM + ABTI_CTX_BELOW;
}

static void ask(void)
{
    bool first_life_is_over = abti_unit_is_done(target);
    char *end = abti_unit_stack_end(target);
    model_assert(!end || end == (char *)first->stack - JOINERS_ROOM ||
                 (!first_life_is_over && end == (char *)&model_stacks[0].header));
}

static void live_and_ask(int index)
{
    if (index == 1) {
        ask();
        ask();
        return;
    }
    abti_es *es = model_enter(0);
    abti_unit_set_stack(target, &model_stacks[0].header);
    abti_set_running(es, target);
    model_assert(!abti_publish_end(es, target));
    abti_unit_renew(target, act, NULL);
    model_assert(abti_register_unstarted(target, first, NULL,
                                         ABTI_JOIN_IN_PLACE)); /* as abti_join_in_place and abti_run_in_place do */
    abti_unit_set_stack(target, first->stack);
    abti_set_running(es, target);
}

/* --- A main scheduler that suspends itself: its native thread sleeps --- */

static _Atomic(int) suspended;

static void alone_in_suspension(void)
{
    model_reset();
    effect = 0;
    suspended = 0;
}

static void suspend_natively(int index)
{
    if (index == 2) { /* wakes it for another reason, so that it sleeps a second time */
        abti_es_wake(&model_es[0]);
        return;
    }
    abti_es *es = model_enter(index);
    if (index == 0) {
        atomic_store_explicit(&suspended, 1, memory_order_relaxed);
        abti_suspend_native(es);
        model_assert(effect == 1);
        return;
    }
    while (!abti_unit_is_blocked(&model_parents[0])) /* its resumer asks so */
        model_give_way();
    effect = 1;
    abti_unblock(&model_parents[0], ABT_POOL_CONTEXT_OP_THREAD_RESUME);
}

const struct model_program model_programs[] = {
    {"a ULT joins", 3, 2000, with_joiner, streams, 0},
    {"a ULT frees", 3, 2000, with_freer, streams, 0},
    {"a thread joins", 2, 2000, alone, stream_and_thread, 0},
    {"a thread frees", 2, 2000, alone, stream_and_freer, 0},
    {"two ULTs join", 3, 2000, with_two_joiners, streams, 0},
    {"a ULT that has moved joins", 3, 2000, with_mover, streams, 0},
    {"a ULT joins a unit that has more", 3, 2000, more_with_joiner, streams, 0},
    {"a thread joins a unit that has more", 2, 2000, more_alone, stream_and_thread, 0},
    {"a ULT and a thread join", 3, 2000, with_joiner, stream_and_thread, 0},
    {"a ULT is handed over", 3, 2000, with_partners, streams, 0},
    {"a unit lives twice", 2, 4000, unstarted, live_and_ask, 0},
    {"a main scheduler suspends itself", 3, 2000, alone_in_suspension, suspend_natively, 0},
    {0},
};

const struct model_kept model_kept[] = {
    {"join_register", "compare_exchange", "release", "abti_cas_word has one order; a caller that fails looks again"},
    {"join_register", "compare_exchange", "failure relaxed", "likewise"},
    {"abti_end_ult", "load", "relaxed",
     "it matters while a joiner that has moved is about to leave its stack, which the search does not hit upon"},
    {"end_ult_as_handle", "load", "relaxed",
     "it matters for units of user-defined pools, of which there are none here"},
    {"abti_end_ult", "compare_exchange", "release",
     "abti_cas_word has one order; end_ult_slow looks at the word again"},
    {"abti_end_ult", "compare_exchange", "failure relaxed", "likewise"},
    {"abti_register_unstarted", "compare_exchange", "acquire",
     "a read-modify-write goes on with what abti_unit_renew or the creation has released"},
    {"abti_register_unstarted", "compare_exchange", "release", "abti_cas_word has one order"},
    {"abti_register_unstarted", "compare_exchange", "failure relaxed", "likewise"},
    {"default_stack_end", "joiner->ctx", "relaxed",
     "it keeps the processor from looking at the join word first; C11 knows no such order of two loads"},
    {"abti_sleeper_sleep", "load", "acquire", "a look that is late costs a call: the system compares the word again"},
    {"abti_sleeper_sleep", "exchange", "acq_rel", "what is looked at next is looked at after the next announcement"},
    {"abti_sleeper_cancel", "exchange", "acq_rel", "likewise"},
    {"sleeper_claim", "compare_exchange", "acq_rel", "the load before it is the one that pairs"},
    {"abti_suspend_native", "store", "release", "the announcement before it, and the load behind, are what pairs"},
    {0},
};

const char *const model_own_mutants[] = {0};

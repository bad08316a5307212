/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for words: sync/wordq.c as it is, on the streams of units.h. ULTs, native threads and streams in docks wait for
 * one word while others change it and wake one or all, or wake a docked stream to ask it for something. No wake is
 * lost, each waiter sees what was done before the change, and the waker touches no frame of a waiter that goes on: the
 * frame is written over then.
 */
#include "units.h"
#include "run/block.c"
#include "run/begin.c"
#include "run/cancel.c"
#include "run/end.c"
#include "run/publish.c"
#include "run/sched.c"
#include "sync/waiter.c"
#include "sync/wordq.c"
#include "wait/group.c"
#include "wait/native.c"
#include "wait/sleeper.c"
#include "wait/adaptive.c"
#include "wait/word.c"

const char model_name[] = "words";
const char *const model_subjects[] = {"src/sync/wordq.c", 0};

static _Atomic(uint32_t) word;
static int plain; /* what is done before the change */

/* Writes over the stack below its caller's frame, where a wait has been. */
static __attribute__((noinline)) void write_over(void)
{
    volatile char room[2000];
    for (unsigned i = 0; i < sizeof room; i += 8)
        *(volatile uint64_t *)&room[i] = 1;
}

/* Two native threads have docks: as stream/dock.c, without drivers. */
static struct abti_sleeper sleepers[2];
static _Atomic(uint32_t) asked;

static bool has_none(abti_es *es)
{
    return false;
}

static bool has_dock(abti_es *es)
{
    return true;
}

static void sleep_in(struct abti_sleeper *sleeper, const _Atomic(uint32_t) *at, uint32_t value)
{
    struct abti_docked docked;
    atomic_fetch_and(&asked, 0);
    abti_sleeper_prepare(sleeper);
    abti_wordq_enter(&docked, at, sleeper);
    if (abti_word_is_changed(at, value) || atomic_load(&asked))
        abti_sleeper_cancel(sleeper);
    else
        abti_sleeper_sleep(sleeper, ABTI_CLOCK_NEVER);
    abti_wordq_leave(&docked);
}

static void sleep_first(abti_es *es, const _Atomic(uint32_t) *at, uint32_t value)
{
    sleep_in(&sleepers[0], at, value);
}

static void sleep_second(abti_es *es, const _Atomic(uint32_t) *at, uint32_t value)
{
    sleep_in(&sleepers[1], at, value);
}

static const struct abti_word_dock no_dock = {has_none, 0},
                                   docks[] = {{has_dock, sleep_first}, {has_dock, sleep_second}};

static __attribute__((noinline)) void wait_by(const struct abti_word_dock *dock)
{
    enum { NUM = 1000 }; /* more than can run at once: with what `reset` says they sleep at once */
    abti_wordq_wait(&word, 0, NUM, false, NULL, dock);
    model_assert(plain == 1);
}

static __attribute__((noinline)) void wait_for_word(void)
{
    wait_by(&no_dock);
}

static __attribute__((noinline)) void wait_in_dock(int index)
{
    wait_by(&docks[index]);
}

static void ult_waits(void *arg)
{
    wait_for_word();
    write_over();
    model_unit_ends();
}

static void change(uint32_t num)
{
    plain = 1;
    atomic_store_explicit(&word, 1, memory_order_release);
    abti_wordq_wake(&word, num);
}

static void reset(int ults)
{
    model_reset();
    abti_wordq_forget();
    atomic_init(&word, 0);
    atomic_init(&asked, 0);
    for (int i = 0; i < 2; i++)
        atomic_init(&sleepers[i].word, ABTI_AWAKE);
    atomic_init(&wordq_bucket_of(&word)->adaptive.level, ABTI_ADAPTIVE_MOST + 1000);
    plain = 0;
    for (int i = 0; i < ults; i++)
        model_push(model_unit(i, ult_waits, NULL, 0));
}

static void one_ult(void)
{
    reset(1);
}

static void two_ults(void)
{
    reset(2);
}

static void nobody(void)
{
    reset(0);
}

static void stream_and_waker(int index)
{
    if (index == 0) {
        model_stream(0);
    } else {
        model_linger(60);
        change(1);
    }
}

/* The first wake is for one of the two. */
static void stream_and_two_wakes(int index)
{
    if (index == 0) {
        model_stream(0);
    } else {
        model_linger(60);
        change(1);
        abti_wordq_wake(&word, 1);
    }
}

/* Of two streams the ULT may go on at the other one. */
static void two_streams(int index)
{
    if (index == 1) {
        model_linger(60);
        change(UINT32_MAX);
    }
    model_stream(index);
}

static void natives_and_waker(int index)
{
    if (index < 2) {
        wait_for_word();
        write_over();
    } else {
        change(UINT32_MAX);
    }
}

static void both_and_waker(int index)
{
    if (index == 0)
        model_stream(0);
    else if (index == 1)
        wait_for_word();
    else
        change(2);
}

static void docks_and_waker(int index)
{
    if (index < 2) {
        wait_in_dock(index);
        write_over();
    } else {
        change(UINT32_MAX);
    }
}

/* Who asks for something wakes the stream, which sleeps again, and is not missed by who changes the word. */
static void dock_is_asked(int index)
{
    if (index == 0) {
        wait_in_dock(0);
        write_over();
    } else if (index == 1) {
        atomic_fetch_or(&asked, 1);
        abti_sleeper_wake(&sleepers[0]);
    } else {
        change(1);
    }
}

static void dock_and_native(int index)
{
    if (index == 0)
        wait_in_dock(0);
    else if (index == 1)
        wait_for_word();
    else
        change(2);
}

const struct model_program model_programs[] = {
    {"a ULT is woken", 2, 3000, one_ult, stream_and_waker, 0},
    {"two ULTs, one after the other", 2, 2000, two_ults, stream_and_two_wakes, 0},
    {"a ULT goes on elsewhere", 2, 2000, one_ult, two_streams, 0},
    {"native threads", 3, 3000, nobody, natives_and_waker, 0},
    {"a ULT and a native thread", 3, 2000, one_ult, both_and_waker, 0},
    {"two docks", 3, 3000, nobody, docks_and_waker, 0},
    {"a dock that is asked for something", 3, 3000, nobody, dock_is_asked, 0},
    {"a dock and a native thread", 3, 2000, nobody, dock_and_native, 0},
    {0},
};

const struct model_kept model_kept[] = {
    {0},
};

const char *const model_own_mutants[] = {0};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of wakes: wait/waketree.c and wait/sleeper.c as they are. Two threads sleep, and what they wait for comes
 * while others have been woken and are still to arrive: none sleeps on, which relacy calls a deadlock. Two wakers have
 * one tree, as a thread and its handler, or a tree each.
 */
#include <stdlib.h>
#include <string.h>
#include "checker.h"
#include "wait/waketree.c"
#include "wait/sleeper.c"
#include "wait/word.c"

const char model_name[] = "waketree";
const char *const model_subjects[] = {"src/wait/waketree.c", 0};

static struct abti_sleeper sleepers[2];
static _Atomic(int) told[2];
static uint32_t own, last; /* the numbers of the running thread's tree, and of the last thread's */

/* All threads have one such variable here: no access to it counts. */
__attribute__((no_sanitize("thread"))) void model_arrive(int index)
{
    own = index < 2 ? 3 : index == 2 ? 1 : last;
}

__attribute__((no_sanitize("thread"))) uint64_t abti_thread_hash(void)
{
    return (uint64_t)(own - 1) << (64 - WAKETREE_BITS);
}

/* No thread has words of its own, and none sleeps in a loop. */
void *abti_thread_word(enum abti_thread_word which)
{
    return NULL;
}

void abti_wakefd_signal(int signal_fd)
{
    abort();
}

static void reset(void)
{
    memset(trees, 0, sizeof(trees));
    memset(sleepers, 0, sizeof(sleepers));
    memset(told, 0, sizeof(told));
    abti_store_relaxed(&trees[1].state, WAKETREE_ENOUGH * WAKETREE_ONE);
    last = 1;
}

static void reset_two(void)
{
    reset();
    abti_store_relaxed(&trees[2].state, WAKETREE_ENOUGH * WAKETREE_ONE);
    last = 2;
}

static void sleep_until_told(int i)
{
    while (!atomic_load(&told[i])) {
        abti_sleeper_prepare(&sleepers[i]);
        if (atomic_load(&told[i]))
            abti_sleeper_cancel(&sleepers[i]);
        else
            abti_sleeper_sleep(&sleepers[i], ABTI_CLOCK_NEVER);
    }
}

static void tell(int i)
{
    atomic_store(&told[i], 1);
    abti_sleeper_wake(&sleepers[i]);
}

/* Those who were to come to the tree, one after the other. */
static void arrive(uint32_t number, int num)
{
    for (int i = 0; i < num; i++)
        abti_waketree_arrive(number);
}

static void one_wakes(int index)
{
    if (index < 2) {
        sleep_until_told(index);
    } else if (index == 2) {
        tell(0);
        tell(1);
    } else {
        arrive(1, WAKETREE_ENOUGH);
    }
}

static void two_wake(int index)
{
    if (index < 2) {
        sleep_until_told(index);
    } else {
        tell(index - 2);
        arrive(1, index == 2 ? 1 : WAKETREE_ENOUGH - 1);
    }
}

/* Each has those arrive that the other waits for. */
static void each_wakes(int index)
{
    if (index < 2) {
        sleep_until_told(index);
    } else {
        tell(index - 2);
        arrive(4 - (uint32_t)index, WAKETREE_ENOUGH);
    }
}

static void after(void)
{
    for (int i = 0; i < MODEL_THREADS; i++)
        model_assert(trees[i].state == 0 && !trees[i].slots[0] && !trees[i].slots[1]);
}

const struct model_program model_programs[] = {
    {"one wakes", 4, 4000, reset, one_wakes, after},
    {"two wake by one tree", 4, 4000, reset, two_wake, after},
    {"each by its own", 4, 4000, reset_two, each_wakes, after},
    {0},
};

/* relacy makes no access before one that stands before it; a processor may, and a compiler. */
const struct model_kept model_kept[] = {
    {"abti_waketree_wake", "slots", "relaxed", "a bit would be set that is not cleared yet"},
    {"abti_waketree_wake", "((uint64_t)1 << i)", "relaxed", "a bit would be seen whose slot is not filled yet"},
    {"abti_waketree_help", "compare_exchange", "relaxed", "likewise"},
    {"abti_waketree_help", "slots", "relaxed", "as the first"},
    {0},
};

const char *const model_own_mutants[] = {0};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/crowd.h"

#include <sched.h>
#include "arch/cpu.h"
#include "base/assert.h"
#include "base/hash.h"
#include "os/clock.h"
#include "wait/cpus.h"
#include "wait/native.h"
#include "wait/sleeper.h"
#include "wait/thrift.h"
#include "wait/word.h"

/*
 * The words that crowds sleep on, by a hash of their objects; each counts how often it was woken. Crowds that share one
 * by chance wake each other now and then, which costs time and nothing else. They are not in the objects, since an
 * object may be gone as soon as one thread of its crowd knows that it is woken.
 */
static struct abti_crowd {
    _Atomic(uint32_t) wakes;
    struct abti_thrift thrift;
} ABTI_ALIGNED(ABTI_CACHE_LINE) crowds[64];

struct abti_crowd *abti_crowd_of(const void *object)
{
    return &crowds[abti_hash((uintptr_t)object >> 4) >> 58];
}

void abti_crowd_sleep(struct abti_thrift *thrift, uint32_t learnt, _Atomic(uint32_t) *word, uint32_t value)
{
    if (learnt == ABTI_LEARNT_BEFORE) {
        abti_word_wait(word, value, ABTI_CLOCK_NEVER);
        return;
    }
    uint64_t since_ns = abti_clock_mono_ns();
    abti_word_wait(word, value, ABTI_CLOCK_NEVER);
    abti_thrift_learn_sleep(thrift, learnt, abti_clock_mono_ns() - since_ns);
}

/*
 * Sleeps with the crowd. No wake is lost: if the waker has made this thread's word WOKEN after the look at it, the
 * waker counts after this thread has read the count, so that the sleep ends or does not begin.
 */
static void sleep_in_crowd(struct abti_crowd *crowd, _Atomic(uint32_t) *word, uint32_t learnt)
{
    uint32_t awake = ABTI_AWAKE;
    /*
     * This fails when the word is WOKEN. acquire: pairs with the exchange in wake_waiter (sync/waiter.c). release:
     * pairs with the same exchange; the waker, which reads IN_CROWD there, knows by it that the thread sleeps on the
     * crowd's word.
     */
    if (!abti_cas_acq_rel(word, &awake, ABTI_IN_CROWD))
        return;
    for (;;) {
        /* acquire: pairs with abti_crowd_wake, and keeps the look at the word behind it */
        uint32_t wakes = abti_load_acquire(&crowd->wakes);
        if (abti_native_is_woken(word))
            return;
        abti_crowd_sleep(&crowd->thrift, learnt, &crowd->wakes, wakes);
    }
}

/*
 * Gives way in the midst of looks: the thread that is waited for may be on this very CPU, where it was woken, and would
 * run only when the looks have ended. False: another program had the CPU for long, so that the looks are to end.
 */
static bool crowd_gives_way(void)
{
    enum { LONG_NS = 100000 };
    uint64_t since_ns = abti_clock_mono_ns();
    sched_yield();
    return abti_clock_mono_ns() - since_ns < LONG_NS;
}

/*
 * Looks for a while, by which threads that meet again and again keep step without any system call. Where another
 * program had the CPU for long, the last look is at what has come meanwhile: a sleep for that would end at once, and be
 * learnt as one that was better looked away, while what is to be learnt is that looks take the CPU from others.
 */
static bool looks_with_crowd(struct abti_thrift *thrift, uint32_t sleeps, const _Atomic(uint32_t) *word, uint32_t value,
                             const struct abti_meanwhile *meanwhile, uint32_t *learnt)
{
    enum { LOOKS_EACH = 16 }; /* that number of looks at the word for each at what may be done meanwhile */
    struct abti_thrift_leave leave = abti_thrift_allow_looks(thrift, sleeps);
    bool changed = abti_word_is_changed(word, value), goes_on = true;
    for (uint32_t i = 0; i < leave.times && !changed && goes_on; i++) {
        if (i % LOOKS_EACH == LOOKS_EACH - 1 && abti_meanwhile_look(meanwhile))
            i = 0;
        else if (i == ABTI_THRIFT_LOOKS_AT_FIRST - 1 ||
                 i % ABTI_THRIFT_LOOKS_TO_YIELD == ABTI_THRIFT_LOOKS_TO_YIELD - 1)
            goes_on = crowd_gives_way();
        else
            abti_cpu_relax();
        changed = abti_word_is_changed(word, value);
    }
    *learnt = goes_on ? leave.level : ABTI_LEARNT_BEFORE;
    if (changed || !goes_on)
        abti_thrift_learn_looks(thrift, leave.level, goes_on);
    return changed;
}

/*
 * Gives way for a while. In a crowd of more threads than can run at once, those that are still to come need the CPU,
 * and to give way to them costs less than to sleep and be woken. But a CPU that is given to another program comes back
 * a time slice later, while a thread that sleeps gets it as soon as it is woken. So there is a limit to the time that
 * yields may take.
 */
static bool yields_with_crowd(struct abti_thrift *thrift, uint32_t sleeps, const _Atomic(uint32_t) *word,
                              uint32_t value, uint32_t num, const struct abti_meanwhile *meanwhile)
{
    /* relaxed: only time depends on it */
    struct abti_thrift_leave leave = abti_thrift_allow_yields(thrift, sleeps, num, abti_load_relaxed(&abti_num_cpus));
    if (leave.times == 0)
        return false;
    uint64_t since_ns = abti_clock_mono_ns(), now_ns = since_ns, alone_ns = 0;
    bool changed = abti_word_is_changed(word, value);
    for (uint32_t i = 0;
         !changed && now_ns - since_ns <= leave.limit_ns && (i < leave.times || alone_ns < leave.least_ns); i++) {
        if (abti_meanwhile_look(meanwhile)) {
            i = 0;
            since_ns = now_ns = abti_clock_mono_ns();
        }
        uint64_t before_ns = now_ns;
        sched_yield();
        now_ns = abti_clock_mono_ns();
        if (now_ns - before_ns < ABTI_THRIFT_YIELD_ALONE_NS)
            alone_ns += now_ns - before_ns;
        changed = abti_word_is_changed(word, value);
    }
    abti_thrift_learn_yields(thrift, leave, num, changed, now_ns - since_ns);
    return changed;
}

bool abti_crowd_await_soon(struct abti_thrift *thrift, uint32_t sleeps, const _Atomic(uint32_t) *word, uint32_t value,
                           uint32_t num, const struct abti_meanwhile *meanwhile, uint32_t *learnt)
{
    abti_assert(thrift && word && learnt);
    *learnt = ABTI_LEARNT_BEFORE;
    return abti_runs_at_once(num) ? looks_with_crowd(thrift, sleeps, word, value, meanwhile, learnt)
                                  : yields_with_crowd(thrift, sleeps, word, value, num, meanwhile);
}

void abti_crowd_wait(const void *object, _Atomic(uint32_t) *word, uint32_t num)
{
    abti_assert(word);
    struct abti_crowd *crowd = abti_crowd_of(object);
    /* The word is AWAKE until the waker makes it WOKEN. relaxed: the number only has to change now and then */
    uint32_t learnt;
    if (!abti_crowd_await_soon(&crowd->thrift, abti_load_relaxed(&crowd->wakes), word, ABTI_AWAKE, num, NULL, &learnt))
        sleep_in_crowd(crowd, word, learnt);
}

void abti_crowd_wake(struct abti_crowd *crowd)
{
    abti_assert(crowd);
    /*
     * release: pairs with the acquire in sleep_in_crowd. A thread that reads this count sees which words were made
     * WOKEN before it.
     */
    abti_fetch_add_release(&crowd->wakes, 1);
    abti_word_wake_all(&crowd->wakes);
}

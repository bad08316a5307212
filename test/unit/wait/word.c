/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of native threads for a word: by the policy, by the system whatever the policy, and for one wake. */
#include <pthread.h>

#include "base/atomic.h"
#include "os/clock.h"
#include "tap.h"
#include "wait/native.h"
#include "wait/sleeper.h"
#include "wait/word.h"
#include "watchdog.h"

enum { ROUNDS = 5000 };

static uint64_t in_ms(unsigned ms)
{
    return abti_clock_mono_ns() + (uint64_t)ms * 1000000;
}

static void test_no_wait(void)
{
    _Atomic uint32_t word = 1;
    uint64_t deadline = in_ms(5);
    ok(abti_word_wait(&word, 0, ABTI_CLOCK_NEVER), "a word that has changed is not waited for");
    ok(abti_word_await_change(&word, 0, ABTI_CLOCK_NEVER), "by neither wait");
    while (abti_word_wait(&word, 1, deadline))
        ;
    ok(abti_clock_mono_ns() >= deadline, "one that has not is, until the deadline");
    deadline = in_ms(5);
    ok(!abti_word_await_change(&word, 1, deadline) && abti_clock_mono_ns() >= deadline, "by both");
    abti_word_wake(&word);
    abti_word_wake_all(&word);
    pass("a wake of nobody is in vain");
}

static void test_native(void)
{
    _Atomic uint32_t word = ABTI_AWAKE;
    ok(!abti_native_is_woken(&word), "no wake has come");
    ok(!abti_native_wait(&word, in_ms(5)), "nor comes before the deadline");
    is_int(abti_load_relaxed(&word), ABTI_ASLEEP, "the waker is to make the system call");
    ok(!abti_native_wait(&word, in_ms(1)), "a second wait for the same wake");
    is_int(abti_exchange_acq_rel(&word, ABTI_WOKEN), ABTI_ASLEEP, "still asleep, for its waker");
    ok(abti_native_is_woken(&word), "the wake has come");
    ok(abti_native_wait(&word, 0), "though the deadline is over");
}

static void await_past(_Atomic uint32_t *word, uint32_t count)
{
    for (uint32_t now; (int32_t)((now = abti_load_acquire(word)) - count) <= 0;)
        abti_word_wait(word, now, ABTI_CLOCK_NEVER);
}

/* Two threads: one counts up when the other has seen the last number. */
static _Atomic uint32_t given = UINT32_MAX - ROUNDS / 2, seen = UINT32_MAX - ROUNDS / 2, change;
static _Atomic uint32_t wakes[ROUNDS];

static void *count(void *arg)
{
    uint32_t number = abti_load_relaxed(&given);
    for (int i = 0; i < ROUNDS; i++, number++) {
        abti_store_release(&given, number + 1);
        abti_word_wake_all(&given);
        await_past(&seen, number);
    }
    for (int i = 0; i < ROUNDS; i++) {
        (void)abti_word_await_change(&change, (uint32_t)i, ABTI_CLOCK_NEVER);
        if (abti_exchange_acq_rel(&wakes[i], ABTI_WOKEN) == ABTI_ASLEEP)
            abti_word_wake(&wakes[i]);
    }
    return arg;
}

static void test_two(void)
{
    pthread_t thread;
    uint32_t number = abti_load_relaxed(&given);
    bool right = true;
    pthread_create(&thread, NULL, count, NULL);
    for (int i = 0; i < ROUNDS; i++, number++) {
        await_past(&given, number);
        right &= abti_load_relaxed(&given) == number + 1;
        abti_store_release(&seen, number + 1);
        abti_word_wake_all(&seen);
    }
    ok(right, "two threads count in turn, past the largest number");
    for (int i = 0; i < ROUNDS; i++) {
        abti_store_release(&change, (uint32_t)i + 1);
        abti_futex_wake(&change);
        right &= abti_native_wait(&wakes[i], ABTI_CLOCK_NEVER);
    }
    ok(right, "each wake that is asked for comes");
    pthread_join(thread, NULL);
}

int main(void)
{
    watchdog_begin(0);
    test_no_wait();
    test_native();
    test_two();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Spinning on a word, as the active wait policy does, and the steps of a wait. */
#include <pthread.h>

#include "lock/spin.h"
#include "os/clock.h"
#include "tap.h"

static _Atomic(uint32_t) word;

static void *change(void *arg)
{
    struct timespec ts = {.tv_nsec = 20000000};

    nanosleep(&ts, NULL);
    abti_store_release(&word, 1);
    return arg;
}

static void test_spin_on(void)
{
    uint64_t begin = abti_clock_mono_ns();
    pthread_t native;

    ok(abti_spin_on(&word, 7, ABTI_CLOCK_NEVER), "another value ends it at once");
    ok(abti_spin_on(&word, 7, 0), "also when the time is up");
    ok(!abti_spin_on(&word, 0, 0), "the time is up");
    ok(!abti_spin_on(&word, 0, begin + 5000000), "after a time");
    ok(abti_clock_mono_ns() >= begin + 5000000, "and not before");
    pthread_create(&native, NULL, change, NULL);
    ok(abti_spin_on(&word, 0, ABTI_CLOCK_NEVER), "the value changes");
    is_int(abti_load_relaxed(&word), 1, "and not before");
    pthread_join(native, NULL);
}

static void test_backoff(void)
{
    uint64_t begin = abti_clock_mono_ns(), soon;

    abti_backoff(0);
    soon = abti_clock_mono_ns();
    abti_backoff(ABTI_BACKOFF_LONGEST);
    ok(abti_clock_mono_ns() - soon >= 25600000, "the longest sleep is told");
    ok(soon >= begin, "an early one took %d ns", (int)(soon - begin));
}

static void *count_locked(void *arg)
{
    static struct abti_spin lock;

    for (int i = 0; i < 20000; i++) {
        abti_spin_lock(&lock);
        ++*(int *)arg;
        abti_spin_unlock(&lock);
    }
    return NULL;
}

static void test_lock(void)
{
    pthread_t natives[3];
    int count = 0;

    for (int i = 0; i < 3; i++)
        pthread_create(&natives[i], NULL, count_locked, &count);
    for (int i = 0; i < 3; i++)
        pthread_join(natives[i], NULL);
    is_int(count, 60000, "one at a time holds the lock");
}

int main(void)
{
    test_spin_on();
    test_backoff();
    test_lock();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleepers: every wake is seen once, none is lost, none is slept through; also by way of a descriptor. */
#include <pthread.h>

#include "os/affinity.h"
#include "os/clock.h"
#include "os/wakefd.h"
#include "tap.h"
#include "wait/sleeper.h"
#include "watchdog.h"

enum { PASSES = 20000 };

static uint64_t in_ms(unsigned ms)
{
    return abti_clock_mono_ns() + (uint64_t)ms * 1000000;
}

/* --- One thread --- */

static void test_word(void)
{
    struct abti_sleeper s = {.word = ABTI_AWAKE};
    ok(!abti_sleeper_wake(&s), "a thread that is awake is not woken");
    abti_sleeper_prepare(&s);
    ok(!abti_sleeper_is_woken(&s), "nor has it been woken when it announces its sleep");
    ok(!abti_sleeper_sleep(&s, in_ms(5)), "a sleep that no wake ends");
    ok(!abti_sleeper_wake(&s), "leaves it awake");
    abti_sleeper_prepare(&s);
    ok(abti_sleeper_wake(&s), "a wake before the sleep");
    ok(abti_sleeper_is_woken(&s), "is there to be seen");
    ok(!abti_sleeper_wake(&s), "counts once");
    ok(abti_sleeper_sleep(&s, ABTI_CLOCK_NEVER), "and ends it at once");
    abti_sleeper_prepare(&s);
    ok(!abti_sleeper_cancel(&s), "taken back in time");
    abti_sleeper_prepare(&s);
    abti_sleeper_wake(&s);
    ok(abti_sleeper_cancel(&s), "taken back after a wake: it is told");
    ok(!abti_sleeper_wake(&s), "and is awake");
    ok(!abti_sleeper_sleep(&s, in_ms(0)), "a sleep without an announcement does not sleep");
}

/* The two halves of a wake. */
static void test_claim(void)
{
    struct abti_sleeper s = {.word = ABTI_AWAKE};
    ok(!abti_sleeper_claim(&s), "a thread that is awake is not claimed");
    abti_wakeup_send(NULL);
    abti_sleeper_prepare(&s);
    abti_wakeup wakeup = abti_sleeper_claim(&s);
    ok(wakeup && abti_wakeup_is_sure(wakeup), "one that is about to sleep is");
    ok(!abti_sleeper_claim(&s), "by one waker only");
    ok(abti_sleeper_cancel(&s), "its thread knows of it before the system call");
    abti_wakeup_send(wakeup);
    ok(!abti_sleeper_is_woken(&s), "a system call that comes late changes nothing");
}

static void test_descriptor(void)
{
    struct abti_sleeper s = {.word = ABTI_AWAKE};
    struct abti_wakefd fd;
    if (abti_wakefd_open(&fd))
        bail_out("abti_wakefd_open");
    abti_sleeper_prepare_fd(&s, fd.signal_fd);
    ok(!abti_sleeper_cancel(&s), "a sleep in a loop, taken back in time");
    is_int(abti_wakefd_drain(&fd), 0, "gives no signal");
    abti_sleeper_prepare_fd(&s, fd.signal_fd);
    abti_wakeup wakeup = abti_sleeper_claim(&s);
    ok(wakeup && !abti_wakeup_is_sure(wakeup), "when the loop comes back is the user's to say");
    is_int(abti_wakefd_drain(&fd), 0, "a claim gives no signal yet");
    ok(abti_sleeper_cancel(&s), "though the thread may know of it");
    abti_wakeup_send(wakeup);
    is_int(abti_wakefd_drain(&fd), 1, "the signal comes all the same, once");
    abti_sleeper_prepare_fd(&s, fd.signal_fd);
    ok(abti_sleeper_wake(&s) && !abti_sleeper_wake(&s), "both halves at once, by one waker");
    is_int(abti_wakefd_drain(&fd), 1, "are one signal");
    ok(abti_sleeper_cancel(&s), "and one wake");
    abti_wakefd_close(&fd);
}

/* The thread goes to a CPU, is woken there, and sees that on the same or on another one. */
static void test_beside(void)
{
    struct abti_sleeper s = {.word = ABTI_AWAKE};
    struct abti_cpuset set;
    if (abti_affinity_get(pthread_self(), &set))
        bail_out("abti_affinity_get");
    for (size_t i = 0; i < set.num && i < 2; i++) {
        bool moved = abti_affinity_set(pthread_self(), &set.cpus[0], 1) == 0;
        abti_sleeper_prepare(&s);
        abti_sleeper_wake(&s);
        moved = abti_affinity_set(pthread_self(), &set.cpus[i], 1) == 0 && moved;
        ok(abti_sleeper_cancel(&s) && moved && s.beside == (i == 0), "woken by a thread on %s CPU",
           i ? "another" : "its");
    }
    abti_sleeper_prepare(&s);
    ok(!abti_sleeper_cancel(&s) && !s.beside, "without a wake it is beside nobody");
    if (abti_affinity_set(pthread_self(), set.cpus, set.num))
        bail_out("abti_affinity_set");
    abti_cpuset_fini(&set);
}

/* --- Two threads --- */

static struct abti_sleeper ping = {.word = ABTI_AWAKE}, pong = {.word = ABTI_AWAKE};
static atomic_int turn;

/* Waits for its turn by the protocol: announce, look, sleep. */
static void wait_turn(struct abti_sleeper *s, int mine)
{
    while (atomic_load(&turn) != mine) {
        abti_sleeper_prepare(s);
        if (atomic_load(&turn) != mine)
            abti_sleeper_sleep(s, ABTI_CLOCK_NEVER);
        else
            abti_sleeper_cancel(s);
    }
}

static void *play_pong(void *arg)
{
    for (int i = 0; i < PASSES; i++) {
        wait_turn(&pong, 1);
        atomic_store(&turn, 0);
        abti_sleeper_wake(&ping);
    }
    return arg;
}

static void test_ping_pong(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, play_pong, NULL);
    for (int i = 0; i < PASSES; i++) {
        wait_turn(&ping, 0);
        atomic_store(&turn, 1);
        abti_sleeper_wake(&pong);
    }
    pthread_join(thread, NULL);
    pass("two threads wake each other %d times", PASSES);
}

int main(void)
{
    watchdog_begin(0);
    test_word();
    test_claim();
    test_descriptor();
    test_beside();
    test_ping_pong();
    return done_testing();
}

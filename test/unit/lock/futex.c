/* SPDX-License-Identifier: BSD-3-Clause */
/* The one system primitive that every wait rests on, in whichever variant was built. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "lock/futex.h"
#include "os/clock.h"
#include "tap.h"

static uint64_t in_ms(unsigned ms)
{
    return abti_clock_mono_ns() + (uint64_t)ms * 1000000;
}

static void nap_ms(long ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&ts, &ts) && errno == EINTR)
        ;
}

/* --- One thread --- */

static void test_returns(void)
{
    _Atomic uint32_t word = 7;

    ok(abti_futex_wait(&word, 8, ABTI_CLOCK_NEVER), "another value: no sleep");
    ok(abti_futex_wait(&word, 8, 0), "nor with a deadline that is over");
    ok(!abti_futex_wait(&word, 7, 0), "the expected value and a deadline that is over");
    uint64_t deadline = in_ms(20);
    while (abti_futex_wait(&word, 7, deadline))
        ;
    ok(abti_clock_mono_ns() >= deadline, "a sleep lasts until its deadline");
    abti_futex_wake(&word);
    abti_futex_wake_all(&word);
    ok(!abti_futex_wait(&word, 7, in_ms(2)), "a wake of nobody is not kept");
}

/* --- Who is woken --- */

enum { SLEEPERS = 6 };

struct team {
    _Atomic uint32_t word;
    atomic_int asleep, returned;
    uint64_t deadline;
};

/* Sleeps once, in one wait: a wake that it gets without being meant counts. */
static void *sleep_once(void *arg)
{
    struct team *team = arg;

    atomic_fetch_add(&team->asleep, 1);
    while (abti_futex_wait(&team->word, 0, team->deadline) && atomic_load(&team->word) == 0)
        ;
    atomic_fetch_add(&team->returned, 1);
    return NULL;
}

static void await(atomic_int *count, int n)
{
    for (int i = 0; i < 50000 && atomic_load(count) < n; i++)
        nap_ms(1);
}

static void test_wake_all(void)
{
    pthread_t threads[SLEEPERS];
    struct team team = {.deadline = ABTI_CLOCK_NEVER};

    for (int i = 0; i < SLEEPERS; i++)
        pthread_create(&threads[i], NULL, sleep_once, &team);
    await(&team.asleep, SLEEPERS);
    nap_ms(20);
    is_int(atomic_load(&team.returned), 0, "all sleep");
    atomic_store(&team.word, 1);
    abti_futex_wake_all(&team.word);
    await(&team.returned, SLEEPERS);
    is_int(atomic_load(&team.returned), SLEEPERS, "all are woken");
    for (int i = 0; i < SLEEPERS; i++)
        pthread_join(threads[i], NULL);
}

/* Words side by side and far apart: some of them share a bucket, where there are buckets. */
enum { WORDS = 200 };

static struct team teams[WORDS];

static void test_wake_one(void)
{
    static pthread_t threads[WORDS];
    int wrong = 0;

    for (int i = 0; i < WORDS; i++) {
        teams[i].deadline = ABTI_CLOCK_NEVER;
        pthread_create(&threads[i], NULL, sleep_once, &teams[i]);
    }
    for (int i = 0; i < WORDS; i++)
        await(&teams[i].asleep, 1);
    nap_ms(20);
    for (int i = WORDS - 1; i >= 0; i--) {
        atomic_store(&teams[i].word, 1);
        abti_futex_wake(&teams[i].word);
        await(&teams[i].returned, 1);
        wrong += atomic_load(&teams[i].returned) != 1;
        wrong += i > 0 && atomic_load(&teams[i - 1].returned) != 0;
    }
    is_int(wrong, 0, "each of %d sleepers is woken by its own word only", WORDS);
    for (int i = 0; i < WORDS; i++)
        pthread_join(threads[i], NULL);
}

/* --- Many times --- */

/* Fewer if the two have to wait for a CPU that others want: whose turn it is then ends it. */
enum { PASSES = 20000, PASS_SECONDS = 10 };

static _Atomic uint32_t turn;
static atomic_bool passed_enough;

static void take_turns(uint32_t mine)
{
    uint64_t end = in_ms(PASS_SECONDS * 1000);

    for (bool last = false; !last;) {
        uint32_t now;
        while (((now = atomic_load(&turn)) & 1) != mine)
            abti_futex_wait(&turn, now, ABTI_CLOCK_NEVER);
        if (mine == 0 && (now == 2 * (PASSES - 1) || abti_clock_mono_ns() > end))
            atomic_store(&passed_enough, true);
        last = atomic_load(&passed_enough);
        atomic_fetch_add(&turn, 1);
        abti_futex_wake(&turn);
    }
}

static void *second_player(void *arg)
{
    take_turns(1);
    return arg;
}

static void test_ping_pong(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, second_player, NULL);
    take_turns(0);
    pthread_join(thread, NULL);
    ok(atomic_load(&turn) % 2 == 0, "two threads take %" PRIu32 " turns, no wake is lost", atomic_load(&turn));
}

/* --- Signals --- */

static _Atomic uint32_t bell;
static atomic_int handled;

static void ring(int sig)
{
    atomic_fetch_add(&handled, 1);
    atomic_store(&bell, 1);
    abti_futex_wake(&bell);
}

static void *answer(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++) {
        while (atomic_load(&bell) == 0)
            abti_futex_wait(&bell, 0, ABTI_CLOCK_NEVER);
        atomic_store(&bell, 0);
    }
    return NULL;
}

/* TSan keeps a signal back until the thread makes a call that it knows to block. */
#if defined(__SANITIZE_THREAD__)
#define HANDLERS_RUN 0
#elif defined(__has_feature)
#define HANDLERS_RUN !__has_feature(thread_sanitizer)
#else
#define HANDLERS_RUN 1
#endif

/* A handler wakes, perhaps the thread that it has interrupted, in the middle of a wait or of a wake. */
static void test_handler(void)
{
    struct sigaction action = {.sa_handler = ring, .sa_flags = SA_RESTART};
    int rings = 5;
    pthread_t thread;

    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, answer, &rings);
    for (int i = 0; i < rings; i++) {
        nap_ms(5);
        pthread_kill(thread, SIGUSR1);
        await(&handled, i + 1);
        for (int j = 0; j < 50000 && atomic_load(&bell); j++)
            nap_ms(1);
    }
    pthread_join(thread, NULL);
    is_int(atomic_load(&handled), rings, "a handler wakes the thread that it interrupts");
}

static void *many_wakes(void *arg)
{
    while (!atomic_load((atomic_int *)arg)) {
        abti_futex_wake(&bell);
        abti_futex_wake(&turn);
    }
    return NULL;
}

static void test_handler_in_wake(void)
{
    atomic_int stop = 0;
    pthread_t thread;
    int before = atomic_load(&handled);

    pthread_create(&thread, NULL, many_wakes, &stop);
    for (int i = 0; i < 2000; i++) {
        pthread_kill(thread, SIGUSR1);
        for (int j = 0; j < 200000 && atomic_load(&handled) == before + i; j++)
            ;
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    pass("a handler that wakes does not hang in a wake that it has interrupted");
}

int main(void)
{
    test_returns();
    test_wake_all();
    test_wake_one();
    test_ping_pong();
    if (HANDLERS_RUN) {
        test_handler();
        test_handler_in_wake();
    }
    return done_testing();
}

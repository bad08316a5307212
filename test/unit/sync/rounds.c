/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds: all threads that wait for the end of one go on, whether they look, give way or sleep. A yield of this program
 * takes as long as it is to take, as if another program had the CPU meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "os/clock.h"
#include "sync/rounds.h"
#include "tap.h"
#include "wait/cpus.h"
#include "wait/word.h"
#include "watchdog.h"

enum { THREADS = 4, ROUNDS = 2000, LONG_ROUNDS = 20, LONG_NS = 2000000 };

/* A busy machine takes long for a round. After that time there are no more. */
static const uint64_t enough_ns = 5000000000;

static uint32_t num_told; /* of threads */
static _Atomic(uint32_t) rounds, sleepers;
static struct abti_adaptive adaptive;
static atomic_int come, early;
static atomic_bool over; /* set before the last round is counted */

static void *take_part(void *arg)
{
    uint32_t round = abti_load_relaxed(&rounds);
    while (!atomic_load(&over)) {
        atomic_fetch_add(&come, 1);
        uint32_t learnt;
        if (!abti_round_await_soon(&rounds, round, num_told, &adaptive, &learnt)) {
            abti_fetch_add_relaxed(&sleepers, 1);
            abti_fence_seq_cst();
            abti_round_sleep(&rounds, round, &adaptive, learnt);
            abti_fetch_add_relaxed(&sleepers, (uint32_t)-1);
        }
        round++;
        atomic_fetch_add(&early, abti_load_relaxed(&rounds) != round);
    }
    return arg;
}

static struct {
    uint64_t ns;             /* that a yield takes, 0: as the system has it */
    _Atomic(uint32_t) *word; /* that changes meanwhile, or NULL */
    int times;
} long_yield;

int sched_yield(void)
{
    if (long_yield.ns == 0)
        return (int)syscall(SYS_sched_yield);
    long_yield.times++;
    usleep((useconds_t)(long_yield.ns / 1000));
    if (long_yield.word)
        abti_store_release(long_yield.word, 1);
    return 0;
}

static void pause_for(uint64_t ns)
{
    for (uint64_t end = abti_clock_mono_ns() + ns; abti_clock_mono_ns() < end;)
        sched_yield();
}

static void run_rounds(const char *how, uint32_t num, int most, uint64_t pause_ns)
{
    pthread_t threads[THREADS];
    int asleep = 0, done = 0;
    uint64_t end_ns = abti_clock_mono_ns() + enough_ns;

    num_told = num;
    atomic_store(&over, false);
    atomic_store(&come, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_part, NULL);
    while (!atomic_load(&over)) {
        done++;
        while (atomic_load(&come) < THREADS * done)
            sched_yield();
        pause_for(pause_ns);
        asleep += (int)abti_load_relaxed(&sleepers);
        atomic_store(&over, done == most || abti_clock_mono_ns() > end_ns);
        abti_fetch_add_acq_rel(&rounds, 1);
        abti_fence_seq_cst();
        if (abti_load_relaxed(&sleepers) > 0)
            abti_word_wake_all(&rounds);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    is_int(atomic_load(&early), 0, "%s: all go on, %d of %d times out of a sleep", how, asleep, done * THREADS);
    is_int((long)abti_load_relaxed(&sleepers), 0, "%s: and nobody sleeps", how);
}

/* Whether the word changes meanwhile or not: some waits are to begin with sleep, and a sleep adds nothing to that. */
static void lose_cpu(const char *how, bool changes)
{
    struct abti_adaptive adaptive = {0};
    _Atomic(uint32_t) word = 0;
    uint32_t learnt = 0;

    long_yield.ns = LONG_NS;
    long_yield.word = changes ? &word : NULL;
    long_yield.times = 0;
    ok(abti_group_await_soon(&adaptive, 1, &word, 0, 2, NULL, &learnt) == changes, "%s: it is seen", how);
    is_int(long_yield.times, 1, "%s: the looks end", how);
    long_yield.ns = 0;
    if (!changes) {
        abti_store_release(&word, 1);
        abti_group_sleep(&adaptive, learnt, &word, 0);
    }
    is_int(abti_load_relaxed(&adaptive.level), ABTI_ADAPTIVE_MOST + 2 * ABTI_ADAPTIVE_LEAST_MEETINGS,
           "%s: the next waits begin with sleep", how);
}

int main(void)
{
    watchdog_begin(0);
    abti_store_relaxed(&abti_num_cpus, 2);
    lose_cpu("a word that changes while another program has the CPU", true);
    lose_cpu("one that does not", false);
    abti_store_relaxed(&rounds, UINT32_MAX - 5); /* the count begins anew in the first */
    run_rounds("threads that are few", 2, ROUNDS, 0);
    run_rounds("that wait longer than they look", 2, LONG_ROUNDS, LONG_NS);
    run_rounds("of more than there are CPUs", 2 * THREADS, ROUNDS, 0);
    run_rounds("that wait longer than they give way", 2 * THREADS, LONG_ROUNDS, LONG_NS);
    run_rounds("of an unknown number", 0, ROUNDS, 0);
    return done_testing();
}

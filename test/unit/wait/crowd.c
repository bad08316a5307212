/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Crowds: all threads that wait are woken, whether they look, give way or sleep, and by whatever word they share. A
 * yield of this program takes as long as it is to take, as if another program had the CPU meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "os/clock.h"
#include "tap.h"
#include "wait/cpus.h"
#include "wait/crowd.h"
#include "wait/sleeper.h"
#include "watchdog.h"

enum { THREADS = 4, ROUNDS = 2000, LONG_ROUNDS = 20, LONG_NS = 2000000 };

/* A busy machine takes long for a round. After that time there are no more. */
static const uint64_t enough_ns = 5000000000;

struct crowd {
    char object; /* its address says where the crowd sleeps */
    uint32_t num;
    uint64_t pause_ns; /* between the arrival of the last and the wake */
    atomic_int come, left, round, missed;
    atomic_bool over; /* set before the last round is counted */
    _Atomic(uint32_t) words[THREADS];
};

struct member {
    struct crowd *crowd;
    int place;
};

static void await(atomic_int *count, int least)
{
    while (atomic_load(count) < least)
        sched_yield();
}

static void *take_part(void *arg)
{
    struct member *me = arg;
    struct crowd *crowd = me->crowd;
    _Atomic(uint32_t) *word = &crowd->words[me->place];

    for (int i = 0; !atomic_load(&crowd->over); i++) {
        atomic_fetch_add(&crowd->come, 1);
        abti_crowd_wait(&crowd->object, word, crowd->num);
        atomic_fetch_add(&crowd->missed, atomic_load(word) != ABTI_WOKEN);
        abti_store_seq_cst(word, ABTI_AWAKE);
        atomic_fetch_add(&crowd->left, 1);
        await(&crowd->round, i + 1);
    }
    return NULL;
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
        abti_store_release(long_yield.word, ABTI_WOKEN);
    return 0;
}

static void pause_for(uint64_t ns)
{
    for (uint64_t end = abti_clock_mono_ns() + ns; abti_clock_mono_ns() < end;)
        sched_yield();
}

/* How many of them slept. */
static int wake_all(struct crowd *crowd)
{
    int asleep = 0;
    for (int i = 0; i < THREADS; i++)
        asleep += atomic_exchange(&crowd->words[i], ABTI_WOKEN) == ABTI_IN_CROWD;
    if (asleep > 0)
        abti_crowd_wake(abti_crowd_of(&crowd->object));
    return asleep;
}

static void run_crowd(const char *how, uint32_t num, int rounds, uint64_t pause_ns)
{
    struct crowd crowd = {.num = num, .pause_ns = pause_ns};
    struct member members[THREADS];
    pthread_t threads[THREADS];
    int asleep = 0, done = 0;
    uint64_t end_ns = abti_clock_mono_ns() + enough_ns;

    for (int i = 0; i < THREADS; i++) {
        members[i] = (struct member){&crowd, i};
        pthread_create(&threads[i], NULL, take_part, &members[i]);
    }
    while (!atomic_load(&crowd.over)) {
        done++;
        await(&crowd.come, THREADS * done);
        pause_for(pause_ns);
        asleep += wake_all(&crowd);
        await(&crowd.left, THREADS * done);
        atomic_store(&crowd.over, done == rounds || abti_clock_mono_ns() > end_ns);
        atomic_store(&crowd.round, done);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    is_int(atomic_load(&crowd.missed), 0, "%s: all are woken, %d of %d times out of a sleep", how, asleep,
           done * THREADS);
}

/* Whether the word changes meanwhile or not: the crowd learns to look less, and a sleep adds nothing to that. */
static void lose_cpu(const char *how, bool changes)
{
    struct abti_thrift thrift = {0};
    _Atomic(uint32_t) word = ABTI_AWAKE;
    uint32_t learnt = 0;

    long_yield.ns = LONG_NS;
    long_yield.word = changes ? &word : NULL;
    long_yield.times = 0;
    ok(abti_crowd_await_soon(&thrift, 1, &word, ABTI_AWAKE, 2, NULL, &learnt) == changes, "%s: it is seen", how);
    is_int(long_yield.times, 1, "%s: the looks end", how);
    long_yield.ns = 0;
    if (!changes) {
        abti_store_release(&word, ABTI_WOKEN);
        abti_crowd_sleep(&thrift, learnt, &word, ABTI_AWAKE);
    }
    is_int(abti_load_relaxed(&thrift.level), 1, "%s: it looks half as long the next time", how);
}

int main(void)
{
    watchdog_begin(0);
    static char objects[2];
    ok(abti_crowd_of(&objects[0]) == abti_crowd_of(&objects[0]), "an object has one crowd");
    abti_store_relaxed(&abti_num_cpus, 2);
    lose_cpu("a word that changes while another program has the CPU", true);
    lose_cpu("one that does not", false);
    run_crowd("a crowd that is woken at once", 2, ROUNDS, 0);
    run_crowd("one that waits longer than it looks", 2, LONG_ROUNDS, LONG_NS);
    run_crowd("one of more than there are CPUs", 2 * THREADS, ROUNDS, 0);
    run_crowd("such a one that waits longer than it gives way", 2 * THREADS, LONG_ROUNDS, LONG_NS);
    run_crowd("one of an unknown number", 0, ROUNDS, 0);
    abti_crowd_wake(abti_crowd_of(objects));
    pass("a wake of nobody is in vain");
    return done_testing();
}

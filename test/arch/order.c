/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of the processor, and of an emulator: of two threads that each store and then load what the other one
 * stores, both sequentially consistent, one sees the other's store. All sleeps of the library rest on that.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/clock.h"
#include "tap.h"
#include "watchdog.h"

/* One side: what it stores, what it has loaded of the other's, and the step that it has come to. */
static struct side {
    ABTI_ALIGNED(128) atomic_int word;
    int seen;
    ABTI_ALIGNED(128) _Atomic(uint64_t) step;
} sides[2];
static uint64_t rounds, misses;
static atomic_bool is_over;

/* Both are at the same step when this returns. */
static void meet(int me)
{
    uint64_t step = atomic_load(&sides[me].step) + 1;
    atomic_store(&sides[me].step, step);
    while (atomic_load(&sides[!me].step) < step)
        sched_yield();
}

static void store_and_load(int me)
{
    meet(me);
    abti_store_seq_cst(&sides[me].word, 1);
    sides[me].seen = abti_load_seq_cst(&sides[!me].word);
    meet(me);
}

static void *play_second(void *arg)
{
    do {
        store_and_load(1);
        meet(1);
    } while (!atomic_load(&is_over));
    return arg;
}

static void play_first(uint64_t deadline_ns)
{
    do {
        store_and_load(0);
        rounds++;
        misses += !sides[0].seen && !sides[1].seen;
        atomic_store(&sides[0].word, 0);
        atomic_store(&sides[1].word, 0);
        atomic_store(&is_over, abti_clock_mono_ns() > deadline_ns);
        meet(0);
    } while (!atomic_load(&is_over));
}

int main(void)
{
    pthread_t second;

    watchdog_begin(0);
    if (pthread_create(&second, NULL, play_second, NULL))
        bail_out("pthread_create");
    play_first(abti_clock_mono_ns() + 300000000);
    pthread_join(second, NULL);
    diag("%llu rounds", (unsigned long long)rounds);
    is_int((long long)misses, 0, "one of two threads sees what the other has stored");
    return done_testing();
}

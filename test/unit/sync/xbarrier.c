/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers of native threads from the inside: rounds by number, also past the last one, and who is still inside. */
#include "sync/xbarrier.h"
#include "sync/hazard.h"
#include "sync_test.h"
#include "wait/word.h"

enum { MEET = 4, ROUNDS = 2000, BEFORE_WRAP = 3 };

static struct ABT_xstream_barrier_opaque barrier;
static atomic_int num_come[2], last_round, errors;
static atomic_bool has_returned;

static void meet_often(void *arg)
{
    bool leads = (intptr_t)arg == 0;

    for (int i = 0; i < atomic_load(&last_round); i++) {
        if (leads && !race_goes_on())
            atomic_store(&last_round, i + 1); /* all see it when they have met once more, in this round */
        atomic_fetch_add(&num_come[i % 2], 1);
        abti_xbarrier_wait(&barrier);
        int come = atomic_load(&num_come[i % 2]);
        atomic_fetch_add(&errors, come != (i / 2 + 1) * MEET);
    }
}

/* They are native threads: a ULT would keep those of its stream from coming. */
static void meet(const char *when)
{
    struct actor actors[MEET];

    atomic_store(&num_come[0], 0);
    atomic_store(&num_come[1], 0);
    atomic_store(&last_round, ROUNDS);
    race_end_ns = in_us(RACE_SECONDS * 1000000);
    for (int i = 0; i < MEET; i++)
        start(&actors[i], NATIVE, meet_often, (void *)(intptr_t)i);
    for (int i = 0; i < MEET; i++)
        finish(&actors[i]);
    is_int(atomic_load(&errors), 0, "%s: all come to each of %d rounds", when, atomic_load(&last_round));
    ok(barrier.arrived % MEET == 0 && barrier.rounds == (uint32_t)(barrier.arrived / MEET), "all are counted");
    abti_xbarrier_fini(&barrier);
    is_int(atomic_load(&barrier.outsiders), 0, "nobody is inside");
    is_int(atomic_load(&barrier.sleepers), 0, "nor asleep");
}

static void wait_once(void *arg)
{
    abti_xbarrier_wait(&barrier);
    atomic_store(&has_returned, true);
}

static void end(void *arg)
{
    abti_xbarrier_fini(&barrier);
    atomic_store(&has_returned, true);
}

static void test_one(void)
{
    abti_xbarrier_init(&barrier, 1);
    abti_xbarrier_wait(&barrier);
    ok(barrier.arrived == 0 && barrier.rounds == 0 && barrier.outsiders == 0, "one thread needs no barrier");
}

/* A thread has come for the next round before the last one of this round says that it is complete. */
static void test_early(uint32_t round)
{
    struct actor actor;

    abti_xbarrier_init(&barrier, 2);
    atomic_store(&barrier.rounds, round);
    atomic_store(&barrier.arrived, 2 * ((uint64_t)round + 1));
    atomic_store(&has_returned, false);
    start(&actor, NATIVE, wait_once, NULL);
    nap_us(20000);
    ok(!atomic_load(&has_returned), "one that is early after round %u waits", round);
    atomic_fetch_add(&barrier.rounds, 1);
    abti_word_wake_all(&barrier.rounds);
    nap_us(20000);
    ok(!atomic_load(&has_returned), "until its own round is complete");
    abti_xbarrier_wait(&barrier);
    finish(&actor);
    is_int(barrier.rounds, round + 2, "it is");
}

static void test_end(void)
{
    struct actor actor;

    abti_xbarrier_init(&barrier, 2);
    atomic_store(&has_returned, false);
    atomic_store(&barrier.outsiders, 1);
    start(&actor, NATIVE, end, NULL);
    nap_us(20000);
    ok(!atomic_load(&has_returned), "a barrier does not end while a thread is inside");
    atomic_store(&barrier.outsiders, 0);
    finish(&actor);
    ok(atomic_load(&has_returned), "and then it does");
    atomic_store(&has_returned, false);
    abti_hazard_begin(abti_es_self, &barrier);
    start(&actor, NATIVE, end, NULL);
    nap_us(20000);
    ok(!atomic_load(&has_returned), "nor while a stream is inside");
    abti_hazard_end(abti_es_self);
    finish(&actor);
    ok(atomic_load(&has_returned), "and then it does");
}

int main(void)
{
    sync_begin();
    test_one();
    test_early(0);
    test_early(UINT32_MAX);
    test_early(UINT32_MAX - 1);
    test_end();
    abti_xbarrier_init(&barrier, MEET);
    meet("new");
    abti_xbarrier_init(&barrier, MEET);
    atomic_store(&barrier.rounds, -(uint32_t)BEFORE_WRAP);
    atomic_store(&barrier.arrived, (uint64_t) - (uint32_t)BEFORE_WRAP * MEET);
    meet("past the last number");
    return sync_end();
}

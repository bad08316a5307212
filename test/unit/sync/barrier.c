/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers from the inside: who waits in which place, who comes last, and rounds of all kinds together. */
#include "sync/barrier.h"
#include "sync/looks.h"
#include "sync_test.h"

enum { ROUNDS = 2000, MEET = 6, LARGE = 5000 };

static ABT_barrier barrier;
static atomic_int num_through;

static void wait_once(void *arg)
{
    (void)arg;
    abti_barrier_wait(barrier);
    atomic_fetch_add(&num_through, 1);
}

static void begin(uint32_t num)
{
    barrier = abti_barrier_create(num);
    if (!barrier)
        bail_out("no barrier");
    atomic_store(&num_through, 0);
}

static void end(void)
{
    ok(barrier->arrived == 0 && barrier->num_local == 0 && !barrier->local_pool && !barrier->waiters.head &&
           !is_held(&barrier->lock),
       "the barrier is as new");
    free(barrier);
}

static uint32_t num_arrived(void)
{
    abti_spin_lock(&barrier->lock);
    uint32_t num = barrier->arrived;
    abti_spin_unlock(&barrier->lock);
    return num;
}

static void start_waiter(struct actor *actor, enum kind kind)
{
    uint32_t num = num_arrived();

    start(actor, kind, wait_once, NULL);
    while (num_arrived() == num)
        give_way();
}

/* Where there are quick paths ULTs of one private pool wait in an array, all others in the queue. */
static void test_places(enum kind last)
{
    bool quick = abti_es_self->fast == home_pool;
    struct actor actors[NUM_KINDS + 2];
    int num = 0;

    begin(NUM_KINDS + 2);
    start_waiter(&actors[num++], HOME);
    start_waiter(&actors[num++], HOME);
    /* One whose stream is due to look at its events takes the longer way, and queues. */
    ok(quick ? barrier->num_local > 0 : barrier->num_local == 0, "ULTs of one private pool have a place of their own");
    ok(barrier->local_pool == (quick ? home_pool : NULL), "where there are quick paths");
    for (enum kind kind = HOME; kind < NUM_KINDS; kind++) {
        if (kind != last)
            start_waiter(&actors[num++], kind);
    }
    is_int(num_queued(&barrier->lock, &barrier->waiters) + (int)barrier->num_local, num, "the others in the queue");
    is_int(atomic_load(&num_through), 0, "nobody is through");
    start(&actors[num++], last, wait_once, NULL);
    while (num > 0)
        finish(&actors[--num]);
    is_int(atomic_load(&num_through), NUM_KINDS + 2, "all are through when %s comes last", kind_names[last]);
    end();
}

/* Of more than there is room for: all are in the queue. */
static void test_large(void)
{
    struct actor actor;

    begin(LARGE);
    start_waiter(&actor, HOME);
    ok(barrier->num_local == 0 && num_queued(&barrier->lock, &barrier->waiters) == 1,
       "a barrier of %d has no room for ULTs", (int)barrier->num);
    abti_spin_lock(&barrier->lock);
    barrier->arrived = LARGE - 1;
    abti_spin_unlock(&barrier->lock);
    abti_barrier_wait(barrier);
    finish(&actor);
    end();
    begin(2);
    abti_barrier_init(barrier, LARGE);
    start_waiter(&actor, HOME);
    is_int(barrier->num_local, 0, "nor has one that has been made for fewer");
    abti_spin_lock(&barrier->lock);
    barrier->arrived = LARGE - 1;
    abti_spin_unlock(&barrier->lock);
    abti_barrier_wait(barrier);
    finish(&actor);
    end();
}

static void settle(void *arg)
{
    (void)arg;
    abti_barrier_settle(barrier);
    atomic_fetch_add(&num_through, 1);
}

/* Who frees the barrier waits for a stream that still looks at it. */
static void test_settle(void)
{
    struct actor actor;

    begin(2);
    abti_barrier_settle(barrier);
    barrier->was_looked_at = true;
    abti_look_begin(abti_es_self, barrier);
    start(&actor, NATIVE, settle, NULL);
    nap_us(20000);
    is_int(atomic_load(&num_through), 0, "a barrier does not settle while a stream looks at it");
    abti_look_end(abti_es_self);
    finish(&actor);
    is_int(atomic_load(&num_through), 1, "and then it does");
    end();
}

/* --- Nobody is through before all have come, and those that are early for the next round are not mixed up --- */

static atomic_int num_come[2], last_round, errors;

static void meet_often(void *arg)
{
    int number = (int)(intptr_t)arg;

    for (int i = 0; i < atomic_load(&last_round); i++) {
        if (number == 0 && !race_goes_on())
            atomic_store(&last_round, i + 1); /* all see it when they have met once more, in this round */
        if ((i + number) % 8 == 0)
            give_way();
        atomic_fetch_add(&num_come[i % 2], 1);
        abti_barrier_wait(barrier);
        /* The next round but one counts here again, when all have come to the next one. */
        int come = atomic_load(&num_come[i % 2]);
        atomic_fetch_add(&errors, come != (i / 2 + 1) * MEET);
    }
}

static void test_race(void)
{
    begin(MEET);
    atomic_store(&last_round, ROUNDS);
    race(MEET, meet_often);
    is_int(atomic_load(&errors), 0, "all come to each of %d rounds", atomic_load(&last_round));
    abti_barrier_settle(barrier);
    end();
}

int main(void)
{
    sync_begin();
    for (enum kind last = HOME; last < NUM_KINDS; last++)
        test_places(last);
    test_large();
    test_settle();
    test_race();
    return sync_end();
}

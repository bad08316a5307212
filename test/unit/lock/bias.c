/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The biased lock: its owner is alone in it, whoever takes the bias away and when. Threads come in bursts, long enough
 * to get the bias, and come into one another's way at random moments.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "lock/bias.h"
#include "lock/membarrier.h"
#include "tap.h"

enum { NUM_THREADS = 6, NUM_LOCKS = NUM_THREADS, BURST = 20000 };

/* What a lock guards is plain on purpose: a tool sees who touches it unordered. */
static struct guarded {
    struct abti_bias lock;
    long count, copy;
    int insiders;
} guarded[NUM_LOCKS] ABTI_ALIGNED(ABTI_CACHE_LINE);

static struct abti_bias_user users[NUM_THREADS];
static atomic_bool stop;
static atomic_long errors, by_bias, by_spin;

static void spend(unsigned n)
{
    for (volatile unsigned i = n; i > 0; i--)
        ;
}

/* Once in and out. */
static void go_through(struct guarded *g, struct abti_bias_user *me, unsigned dice)
{
    if (dice % 100000 == 0)
        abti_bias_lock_long(&g->lock, me);
    else
        abti_bias_lock(&g->lock, me);
    if (g->insiders++ != 0 || g->count != g->copy)
        atomic_fetch_add(&errors, 1);
    g->count++;
    if (dice % 512 == 1)
        spend(dice >> 8 & 1023); /* it is found inside, perhaps preempted */
    g->copy++;
    g->insiders--;
    abti_bias_unlock(&g->lock, me);
}

struct worker {
    struct abti_bias_user *me; /* NULL: one that gets no bias */
    int home;                  /* the lock that it comes to in bursts */
    uint32_t random;
    long passes[NUM_LOCKS];
};

static void *work(void *arg)
{
    struct worker *w = arg;
    long biased = 0, spun = 0;

    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        w->random = w->random * 1664525 + 1013904223;
        bool own = w->random >> 31;
        int which = own ? w->home : (int)((w->random >> 16) % NUM_LOCKS);
        struct guarded *g = &guarded[which];
        int burst = own ? BURST : (int)(w->random >> 24 & 3);
        for (int i = 0; i < burst; i++) {
            w->random = w->random * 1664525 + 1013904223;
            bool has = w->me && abti_load_relaxed(&g->lock.owner) == w->me;
            go_through(g, w->me, w->random >> 8);
            biased += has;
            spun += !has;
        }
        w->passes[which] += burst;
        if (w->random >> 28 == 3) {
            struct timespec ts = {0, (long)(w->random >> 12 & 0xffff)};
            nanosleep(&ts, NULL);
        }
    }
    atomic_fetch_add(&by_bias, biased);
    atomic_fetch_add(&by_spin, spun);
    return NULL;
}

static void test_alone(void)
{
    struct abti_bias *lock = &guarded[0].lock;
    int n = 0;

    while (n < 100000 && !abti_bias_enter(lock, &users[0])) {
        abti_bias_lock_and_count(lock, &users[0]);
        abti_bias_unlock(lock, &users[0]);
        n++;
    }
    if (!abti_membarrier_is_ready()) {
        skip(4, "the system has no fence for others");
        return;
    }
    ok(n > 1 && n < 100000, "who comes alone for long gets the bias");
    ok(abti_load_relaxed(&users[0].inside) == lock, "and is inside by that");
    abti_bias_leave(&users[0]);
    abti_bias_lock(lock, &users[1]);
    ok(!abti_bias_enter(lock, &users[0]), "another one takes it away");
    abti_bias_unlock(lock, &users[1]);
    abti_bias_lock(lock, NULL);
    ok(!abti_spin_trylock(&lock->spin), "who has no word of its own locks, too");
    abti_bias_unlock(lock, NULL);
}

static void test_threads(void)
{
    static struct worker workers[NUM_THREADS];
    pthread_t threads[NUM_THREADS];
    long passes = 0, counted = 0;
    double secs = tap_seconds(1);
    struct timespec ts = {(time_t)secs, (long)((secs - (double)(time_t)secs) * 1e9)};

    for (int i = 0; i < NUM_THREADS; i++) {
        workers[i] = (struct worker){
            .me = i == 0 ? NULL : &users[i], .home = i, .random = (uint32_t)time(NULL) * 7919u + (uint32_t)i};
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    nanosleep(&ts, NULL);
    atomic_store(&stop, true);
    for (int i = 0; i < NUM_THREADS; i++) {
        pthread_join(threads[i], NULL);
        for (int k = 0; k < NUM_LOCKS; k++)
            passes += workers[i].passes[k];
    }
    for (int k = 0; k < NUM_LOCKS; k++)
        counted += guarded[k].count;
    is_int(atomic_load(&errors), 0, "nobody meets another one inside");
    is_int(counted, passes, "and every pass counts");
    diag("%ld passes by the bias, %ld by the lock", atomic_load(&by_bias), atomic_load(&by_spin));
}

int main(void)
{
    if (!abti_bias_init())
        abti_bias_ask();
    test_alone();
    test_threads();
    return done_testing();
}

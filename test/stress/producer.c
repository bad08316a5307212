/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One stream makes units, another frees them, on and on: what is freed there comes back here, so that the process never
 * has more than twice the memory of those that are outstanding. With ABT_TEST_SECONDS=900 each kind gets to ten million
 * units, which is where it ends.
 */
#include "memory.h"
#include "stress.h"

enum { OUTSTANDING = 1000, UNITS_MAX = 10000000 };

static ABT_thread ring[OUTSTANDING];
static _Atomic(long) made, freed;
static atomic_bool stop;

/* More values than come with a table. */
enum { NUM_KEYS = 6 };
static ABT_key keys[NUM_KEYS];

static void sets_values(void *arg)
{
    for (int i = 0; i < NUM_KEYS; i++)
        must(ABT_key_set(keys[i], &keys[i]));
    unit_yields(arg);
}

static void (*body)(void *);
static ABT_pool pools[2];

static void produce(void *arg)
{
    while (!atomic_load(&stop)) {
        long n = atomic_load(&made);
        if (n - atomic_load(&freed) == OUTSTANDING) {
            must(ABT_self_yield());
            continue;
        }
        must(ABT_thread_create(pools[1], body, NULL, ABT_THREAD_ATTR_NULL, &ring[n % OUTSTANDING]));
        atomic_store(&made, n + 1);
    }
}

static void consume(void *arg)
{
    for (;;) {
        long n = atomic_load(&freed);
        if (n == atomic_load(&made)) {
            if (atomic_load(&stop) && n == atomic_load(&made))
                return;
            must(ABT_self_yield());
            continue;
        }
        must(ABT_thread_free(&ring[n % OUTSTANDING]));
        atomic_store(&freed, n + 1);
    }
}

/* KiB that the outstanding ones have at most: what the process has more when they are all there, waiting. */
static long outstanding_kib(void)
{
    static ABT_thread threads[OUTSTANDING];
    must(ABT_init(0, NULL));
    ABT_pool pool = main_pool();
    long before = resident_kib();
    for (int i = 0; i < OUTSTANDING; i++)
        must(ABT_thread_create(pool, unit_suspends, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    must(ABT_self_yield());
    must(ABT_self_yield());
    size_t size;
    while (ABT_pool_get_size(pool, &size) == ABT_SUCCESS && size > 0)
        must(ABT_self_yield());
    long kib = resident_kib() - before;
    for (int i = 0; i < OUTSTANDING; i++)
        must(ABT_thread_resume(threads[i]));
    must(ABT_thread_free_many(OUTSTANDING, threads));
    must(ABT_finalize());
    return kib;
}

static void play(const char *what, void (*func)(void *), double seconds, long set_kib)
{
    ABT_xstream es[2];
    ABT_thread both[2];
    long before = 0, most = 0;
    body = func;
    atomic_store(&stop, false);
    atomic_store(&made, 0);
    atomic_store(&freed, 0);
    must(ABT_init(0, NULL));
    for (int i = 0; i < 2; i++) {
        must(ABT_xstream_create(ABT_SCHED_NULL, &es[i]));
        must(ABT_xstream_get_main_pools(es[i], 1, &pools[i]));
    }
    before = resident_kib();
    must(ABT_thread_create(pools[0], produce, NULL, ABT_THREAD_ATTR_NULL, &both[0]));
    must(ABT_thread_create(pools[1], consume, NULL, ABT_THREAD_ATTR_NULL, &both[1]));
    for (double end = now() + seconds; now() < end && atomic_load(&made) < UNITS_MAX;) {
        nap_us(5000);
        long kib = resident_kib() - before;
        most = kib > most ? kib : most;
    }
    atomic_store(&stop, true);
    must(ABT_thread_free_many(2, both));
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&es[i]));
    must(ABT_finalize());
    if (UNDER_ASAN || UNDER_TSAN)
        pass("%s: %ld units, %d outstanding, at most %ld KiB more", what, atomic_load(&made), OUTSTANDING, most);
    else
        ok(most < 2 * set_kib, "%s: %ld units, %d outstanding, which need %ld KiB: at most %ld KiB more", what,
           atomic_load(&made), OUTSTANDING, set_kib, most);
}

int main(void)
{
    stress_begin();
    long set_kib = outstanding_kib();
    double seconds = tap_seconds(3) / 3;

    play("units that end at once", do_nothing, seconds, set_kib);
    play("units that yield", unit_yields, seconds, set_kib);
    for (int i = 0; i < NUM_KEYS; i++)
        must(ABT_key_create(NULL, &keys[i]));
    play("units that have values of keys", sets_values, seconds, set_kib);
    for (int i = 0; i < NUM_KEYS; i++)
        must(ABT_key_free(&keys[i]));
    return done_testing();
}

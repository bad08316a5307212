/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams that sleep by themselves, in hooks and in user-defined schedulers, while others push to them, set and remove
 * their hooks and pollers, wake them, dump their stacks, and free and make them anew. Every unit runs, nobody sleeps
 * through a push, and no hook or poller is called after it was taken away.
 */
#include "stress.h"

#include <math.h>
#include <poll.h>
#include "parking.h"
#include "streams.h"

enum { PUSHERS = 2, SETTERS = 2 };

/* What a setter owns: poisoned while it is not set, so that a late call is noticed. */
struct gadget {
    atomic_int valid;
    atomic_int calls;
};

static atomic_int pushed, ran, wrong, hook_calls, poll_calls;
static atomic_bool stop;

static void hook(void *arg, int fd, int64_t deadline)
{
    struct gadget *gadget = arg;
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};
    int64_t left = (deadline - ABTX_after(0) + 999999) / 1000000;

    atomic_fetch_add(&wrong, !atomic_load(&gadget->valid));
    atomic_fetch_add(&hook_calls, 1);
    if (atomic_fetch_add(&gadget->calls, 1) % 8 != 7)
        poll(&pollfd, 1, deadline == ABTX_FOREVER ? -1 : left > 0 ? (int)left : 0);
    atomic_fetch_add(&wrong, !atomic_load(&gadget->valid));
}

static int poller(void *arg)
{
    struct gadget *gadget = arg;

    atomic_fetch_add(&wrong, !atomic_load(&gadget->valid));
    atomic_fetch_add(&poll_calls, 1);
    return atomic_fetch_add(&gadget->calls, 1) % 4 == 0;
}

/* --- Streams --- */

static ABT_xstream make_stream(int i, struct rng *rng)
{
    static const ABT_sched_predef kinds[] = {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT};
    ABT_pool pools[2] = {own_pools[i], shared_pool};
    ABT_sched_def def = {.run = run_parking};
    ABT_sched_config config;
    ABT_xstream es;
    ABT_sched sched;

    if (one_in(rng, 2)) {
        must(ABT_xstream_create_basic(kinds[below(rng, 4)], 2, pools, ABT_SCHED_CONFIG_NULL, &es));
        return es;
    }
    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    must(ABT_sched_create(&def, 2, pools, config, &sched));
    must(ABT_sched_config_free(&config));
    must(ABT_xstream_create(sched, &es));
    return es;
}

/* --- What goes on --- */

static void unit(void *arg)
{
    if (arg)
        ABT_self_yield();
    atomic_fetch_add(&ran, 1);
}

static void *push(void *arg)
{
    struct rng rng = rng_make((uint64_t)(uintptr_t)arg);

    while (!atomic_load(&stop)) {
        for (unsigned n = below(&rng, 4); n > 0; n--) {
            ABT_pool pool = one_in(&rng, 4) ? shared_pool : own_pools[below(&rng, STREAMS)];
            atomic_fetch_add(&pushed, 1);
            if (one_in(&rng, 2))
                must(ABT_task_create(pool, unit, NULL, NULL));
            else
                must(ABT_thread_create(pool, unit, &rng, ABT_THREAD_ATTR_NULL, NULL));
        }
        jitter(&rng);
        if (one_in(&rng, 64))
            nap_us(200); /* all go to sleep */
        if (atomic_load(&pushed) - atomic_load(&ran) > 2000)
            nap_us(1000);
    }
    return NULL;
}

/* A setter's gadgets are its own: it has one hook and one poller on at most one stream each, at any time. */
static void *set(void *arg)
{
    struct rng rng = rng_make((uint64_t)(uintptr_t)arg);
    struct gadget hooked = {0}, polling = {0};

    while (!atomic_load(&stop)) {
        int i = (int)below(&rng, STREAMS);
        pthread_mutex_lock(&stream_locks[i]);
        ABT_xstream es = streams[i];
        atomic_store(&hooked.valid, 1);
        atomic_store(&polling.valid, 1);
        must(ABTX_xstream_set_idle_wait(es, hook, &hooked));
        must(ABTX_poller_add_every(es, poller, &polling, one_in(&rng, 3) ? 500000 : ABTX_FOREVER));
        for (unsigned n = below(&rng, 4); n > 0; n--) {
            jitter(&rng);
            if (one_in(&rng, 3))
                must(ABTX_xstream_wake(es));
            if (one_in(&rng, 3))
                nap_us(300);
        }
        must(ABTX_poller_remove(es, poller, &polling));
        atomic_store(&polling.valid, 0);
        if (one_in(&rng, 16)) {
            must(ABT_xstream_free(&streams[i])); /* with its hook */
            streams[i] = make_stream(i, &rng);
        } else if (one_in(&rng, 2)) {
            must(ABTX_xstream_set_idle_wait(es, NULL, NULL));
        } else {
            /* Another one is set. */
            struct gadget other = {.valid = 1};
            must(ABTX_xstream_set_idle_wait(es, hook, &other));
            atomic_store(&hooked.valid, 0);
            jitter(&rng);
            must(ABTX_xstream_set_idle_wait(es, NULL, NULL));
            atomic_store(&other.valid, 0);
        }
        atomic_store(&hooked.valid, 0);
        pthread_mutex_unlock(&stream_locks[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[PUSHERS + SETTERS];
    double seconds = tap_seconds(2);

    stress_begin();
    streams_begin(make_stream);
    for (int i = 0; i < PUSHERS + SETTERS; i++)
        pthread_create(&threads[i], NULL, i < PUSHERS ? push : set, (void *)(uintptr_t)(i + 1));
    for (double end = now() + seconds; now() < end;)
        nap_us(10000);
    atomic_store(&stop, true);
    for (int i = 0; i < PUSHERS + SETTERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 60000 && atomic_load(&ran) < atomic_load(&pushed); i++)
        nap_us(1000);
    is_int(atomic_load(&ran), atomic_load(&pushed), "every unit has run, without any help");
    is_int(atomic_load(&wrong), 0, "no hook or poller was called when it was not set");
    diag("%d units, %d calls of hooks, %d of pollers", atomic_load(&ran), atomic_load(&hook_calls),
         atomic_load(&poll_calls));
    streams_end();
    return done_testing();
}

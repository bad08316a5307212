/* SPDX-License-Identifier: BSD-3-Clause */
/* The older forms of functions, whose times are seconds: they do the same as the functions in nanoseconds. */
#include <math.h>
#include <poll.h>

#include "sync.h"

/* --- ABTX_thread_sleep --- */

static void test_sleep(enum caller who, void *arg)
{
    (void)arg;
    if (!ABT_NULL) {
        ok_err(ABTX_thread_sleep(-1.0), ABT_ERR_INV_ARG);
        ok_err(ABTX_thread_sleep(-1e-300), ABT_ERR_INV_ARG);
        ok_err(ABTX_thread_sleep(-INFINITY), ABT_ERR_INV_ARG);
        ok_err(ABTX_thread_sleep(NAN), ABT_ERR_INV_ARG);
    }
    ok_abt(ABTX_thread_sleep(-0.0));
    ok_abt(ABTX_thread_sleep(1e-9));
    double begin = now();
    ok_abt(ABTX_thread_sleep(0.0123));
    ok(now() - begin >= 0.0123 - 1e-9, "it took %g s, %s", now() - begin, caller_names[who]);
}

/* --- ABTX_eventual_wait_any --- */

static void test_any(void)
{
    ABT_eventual eventuals[2];
    struct timespec past = {.tv_sec = 1}, soon = in_ms(20);
    int index = 77;

    for (int i = 0; i < 2; i++)
        must(ABT_eventual_create(0, &eventuals[i]));
    if (!ABT_NULL)
        ok_err(ABTX_eventual_wait_any(0, eventuals, &index, NULL), ABT_ERR_INV_ARG);
    ok_err(ABTX_eventual_wait_any(2, eventuals, &index, &past), ABT_ERR_COND_TIMEDOUT);
    double begin = now();
    ok_err(ABTX_eventual_wait_any(2, eventuals, &index, &soon), ABT_ERR_COND_TIMEDOUT);
    ok(now() - begin < patience(), "and not for ever");
    must(ABT_eventual_set(eventuals[1], NULL, 0));
    ok_abt(ABTX_eventual_wait_any(2, eventuals, &index, &past));
    index = 77;
    ok_abt(ABTX_eventual_wait_any(2, eventuals, &index, NULL));
    is_int(index, 1, "the one that is ready");
    for (int i = 0; i < 2; i++)
        must(ABT_eventual_free(&eventuals[i]));
}

/* --- Hooks and pollers --- */

static atomic_int hooked, passed, polled;

static void hook(void *arg, int fd, double deadline)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};
    double left = deadline - ABT_get_wtime();

    count_up(arg);
    if (left < 3600)
        count_up(&passed);
    poll(&pollfd, 1, isinf(deadline) ? -1 : left > 0 ? (int)(left * 1e3) + 1 : 0);
}

static int poll_count(void *arg)
{
    count_up(arg);
    return 0;
}

static void test_hook(void)
{
    ABT_xstream es;
    must(ABT_xstream_create(ABT_SCHED_NULL, &es));

    ok_abt(ABTX_xstream_set_idle_hook(es, hook, &hooked));
    wait_for(atomic_load(&hooked) > 0);
    pass("a hook is called");
    is_int(atomic_load(&passed), 0, "without a deadline");
    ok_abt(ABTX_poller_add(es, poll_count, &polled, 0.001));
    wait_for(atomic_load(&polled) > 3);
    pass("a poller is called");
    wait_for(atomic_load(&passed) > 3);
    pass("the hook is told of the period");
    if (!ABT_NULL) {
        ok_err(ABTX_poller_add(es, poll_count, &polled, 1), ABT_ERR_INV_ARG);
        ok_err(ABTX_poller_add(es, NULL, &polled, 1), ABT_ERR_INV_ARG);
        ok_err(ABTX_poller_add(es, poll_count, NULL, (double)NAN), ABT_ERR_INV_ARG);
        ok_err(ABTX_poller_add(ABT_XSTREAM_NULL, poll_count, &polled, 0), ABT_ERR_INV_XSTREAM);
        ok_err(ABTX_xstream_set_idle_hook(ABT_XSTREAM_NULL, hook, &hooked), ABT_ERR_INV_XSTREAM);
    }
    ok_abt(ABTX_poller_remove(es, poll_count, &polled));
    for (int i = 0; i < 2; i++) {
        ok_abt(ABTX_poller_add(es, poll_count, &polled, i ? -1 : INFINITY));
        ok_abt(ABTX_poller_remove(es, poll_count, &polled));
    }
    ok_abt(ABTX_xstream_set_idle_hook(es, NULL, NULL));
    int calls = atomic_load(&hooked);
    must(ABT_xstream_free(&es));
    is_int(atomic_load(&hooked), calls, "one that is removed is not");
}

/* --- Parking --- */

static void run_and_park(ABT_sched sched)
{
    static bool done;
    ABT_pool none[1] = {ABT_POOL_NULL}, own;

    if (done) /* a run function that returns is called again until its stream is joined */
        return;
    done = true;
    must(ABT_sched_get_pools(sched, 1, 0, &own));
    if (!ABT_NULL) {
        ok_err(ABTX_xstream_park((double)NAN), ABT_ERR_INV_ARG);
        ok_err(ABTX_xstream_park_on(0, NULL, (double)NAN), ABT_ERR_INV_ARG);
        ok_err(ABTX_xstream_park_on(-1, NULL, 0), ABT_ERR_INV_ARG);
        ok_err(ABTX_xstream_park_on(1, none, 0), ABT_ERR_INV_POOL);
    }
    double begin = now();
    for (double end = ABT_get_wtime() + 0.02; ABT_get_wtime() < end;)
        must(ABTX_xstream_park(end));
    ok(now() - begin > 0.019, "a scheduler parks");
    begin = now();
    int parks = 0;
    for (double end = ABT_get_wtime() + 0.02; ABT_get_wtime() < end; parks++)
        must(ABTX_xstream_park_on(0, NULL, end));
    ok(parks < 1000000, "a scheduler parks on no pools, %d times", parks);
    for (double end = ABT_get_wtime() + 0.02; ABT_get_wtime() < end;)
        must(ABTX_xstream_park_on(1, &own, end));
    ok(now() - begin > 0.039, "a scheduler parks on pools");
}

static void test_parks(void)
{
    ABT_sched_def def = {.run = run_and_park};
    ABT_sched sched;
    ABT_xstream es;

    ok_err(ABTX_xstream_park(0), ABT_ERR_INV_THREAD);
    ok_err(ABTX_xstream_park_on(0, NULL, 0), ABT_ERR_INV_THREAD);
    ABT_pool pool;
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &es));
    must(ABT_xstream_free(&es));
    must(ABT_sched_free(&sched));
}

int main(void)
{
    test_sleep(EXTERNAL, NULL); /* before ABT_init */
    must(ABT_init(0, NULL));
    call_as_each(test_sleep, NULL);
    test_any();
    test_hook();
    test_parks();
    must(ABT_finalize());
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A callback of a driver ends its stream by ABT_xstream_exit and does not return: its wait, its poll, or the poll of a
 * leader. When the stream is revived it runs units again, calls its drivers, and can be freed, and a driver with one
 * leader is called on other streams. (It was left in the lists of those that sleep on its pools, with memory that was
 * freed with its scheduler, and it led the driver for ever.)
 */
#include <poll.h>

#include "regress.h"

enum { ROUNDS = 3 };

static atomic_bool leaves, has_run;
static atomic_int polls;

static void leave_if_asked(void)
{
    if (atomic_exchange(&leaves, false))
        ABT_xstream_exit();
}

static void driver_wait(void *arg, int fd, int64_t deadline)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};

    leave_if_asked();
    poll(&pollfd, 1, 10);
}

static ABT_bool driver_poll(void *data, ABT_bool about_to_sleep)
{
    int rank;

    must(ABT_xstream_self_rank(&rank));
    if (rank > 0 && data)
        leave_if_asked();
    atomic_fetch_add(&polls, 1);
    return ABT_FALSE;
}

static ABT_bool poll_and_leave(void *data, ABT_bool about_to_sleep)
{
    (void)data, (void)about_to_sleep;
    leave_if_asked();
    return ABT_FALSE;
}

static void run(void *arg)
{
    atomic_store(&has_run, true);
}

/* Returns when the stream has ended by itself. */
static void end_by_itself(ABT_xstream es)
{
    atomic_store(&leaves, true);
    while (atomic_load(&leaves)) {
        must(ABTX_xstream_wake(es));
        nap_ms(1);
    }
    must(ABT_xstream_join(es));
}

/* The stream is left from the wait of one driver, or from the poll of one of two. */
static void test_alone(const ABTX_driver_ops *ops, const char *where)
{
    ABT_pool pool = make_pool(ABT_POOL_ACCESS_MPMC);
    ABT_xstream es = make_es(1, &pool);
    const ABTX_driver_ops beside_ops = {.poll = driver_poll};
    ABTX_driver driver, beside;

    must(ABTX_driver_create(ops, NULL, &driver));
    must(ABTX_driver_create(&beside_ops, NULL, &beside));
    must(ABTX_driver_attach(driver, es));
    must(ABTX_driver_attach(beside, es));
    for (int i = 0; i < ROUNDS; i++) {
        end_by_itself(es);
        must(ABT_xstream_revive(es));
        atomic_store(&has_run, false);
        must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, NULL));
        while (!atomic_load(&has_run))
            nap_ms(1);
        int before = atomic_load(&polls);
        while (atomic_load(&polls) == before) {
            must(ABTX_xstream_wake(es));
            nap_ms(1);
        }
    }
    pass("a stream that was left from %s runs units again, and calls its drivers", where);
    end_by_itself(es);
    must(ABT_xstream_free(&es));
    must(ABTX_driver_free(&driver));
    must(ABTX_driver_free(&beside));
    pass("and is freed");
}

static void test_driver(void)
{
    ABTX_driver_ops ops = {.poll = driver_poll, .one_leader = ABT_TRUE};
    ABTX_driver driver;
    ABT_xstream es[2];
    int before;

    must(ABTX_driver_create(&ops, &ops, &driver));
    must(ABTX_driver_set_period(driver, 1000000));
    for (int i = 0; i < 2; i++) {
        ABT_pool pool = make_pool(ABT_POOL_ACCESS_MPMC);
        es[i] = make_es(1, &pool);
        must(ABTX_driver_attach(driver, es[i]));
        if (i == 0)
            end_by_itself(es[0]);
    }
    before = atomic_load(&polls);
    while (atomic_load(&polls) == before)
        nap_ms(1);
    pass("another stream leads the driver");
    must(ABT_xstream_free(&es[0]));
    must(ABT_xstream_free(&es[1]));
    must(ABTX_driver_free(&driver));
}

int main(void)
{
    regress_begin();
    must(ABT_init(0, NULL));
    test_alone(&(ABTX_driver_ops){.poll = find_nothing, .wait = driver_wait}, "a wait");
    test_alone(&(ABTX_driver_ops){.poll = poll_and_leave}, "a poll");
    test_driver();
    must(ABT_finalize());
    return done_testing();
}

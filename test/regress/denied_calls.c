/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the kernel refuses futexes idle streams spun, and where it refuses eventfd a driver could not wait, though the
 * library has means to do without.
 */
#include <errno.h>
#include <poll.h>

#include "deny.h"
#include "regress.h"

/* How much CPU time the other threads use while the caller burns it, beside what that gets; the least of some tries. */
static double cpu_beside_us(double enough)
{
    double least = 1e9;

    for (int i = 0; i < 10 && least >= enough; i++) {
        double ours = clock_seconds(CLOCK_THREAD_CPUTIME_ID), all = cpu_seconds(), end = now() + 0.3;
        while (now() < end)
            continue;
        ours = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - ours;
        all = cpu_seconds() - all;
        least = (all - ours) / ours < least ? (all - ours) / ours : least;
    }
    return least;
}

static void run_some(ABT_xstream es)
{
    enum { UNITS = 20 };
    ABT_thread ults[UNITS];
    atomic_int count = 0;
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create_on_xstream(es, count_up, &count, ABT_THREAD_ATTR_NULL, &ults[i]));
    must(ABT_thread_free_many(UNITS, ults));
    is_int(atomic_load(&count), UNITS, "work units run");
}

static atomic_int waited;

static void wait_in_poll(void *arg, int fd, int64_t deadline)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};
    (void)arg, (void)deadline;
    atomic_fetch_add(&waited, 1);
    poll(&pollfd, 1, 100);
}

static void *open_later(void *eventual)
{
    nap_ms(20);
    must(ABT_eventual_set(eventual, NULL, 0));
    return NULL;
}

int main(void)
{
    const ABTX_driver_ops ops = {.poll = find_nothing, .wait = wait_in_poll};
    ABTX_driver driver;
    ABT_eventual eventual;
    pthread_t native;

    regress_begin();
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("sanitizers need what is refused");
    if (!deny(ENOSYS, "futex,membarrier,eventfd,madvise,mprotect,sigaltstack"))
        skip_all("filters of system calls are not allowed");
    must(ABT_init(0, NULL));
    ABT_xstream es = new_xstream();
    run_some(es);
    if (policy_is_active()) {
        skip(1, "the active wait policy burns its CPU");
    } else {
        double ratio = cpu_beside_us(0.5);
        ok(ratio < 0.5, "an idle stream sleeps: %.3f of what one uses that does not", ratio);
    }
    must(ABT_eventual_create(0, &eventual));
    must(pthread_create(&native, NULL, open_later, eventual));
    ok_abt(ABT_eventual_wait(eventual, NULL));
    pthread_join(native, NULL);
    must(ABT_eventual_free(&eventual));
    must(ABTX_driver_create(&ops, NULL, &driver));
    if (!ok_abt(ABTX_driver_attach(driver, es)))
        return done_testing();
    while (!atomic_load(&waited))
        nap_ms(1);
    run_some(es);
    must(ABT_xstream_free(&es));
    must(ABTX_driver_free(&driver));
    must(ABT_finalize());
    return done_testing();
}

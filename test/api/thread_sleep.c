/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_self_sleep, by every kind of caller, and ABTX_after. */
#include <errno.h>
#include <signal.h>
#include <sys/time.h>

#include "common.h"

static void sleep_for(enum caller who, double seconds)
{
    double begin = now();
    int code = ABTX_self_sleep((int64_t)(seconds * 1e9));
    double took = now() - begin;

    is_int(code, ABT_SUCCESS, "%s sleeps %g s", caller_names[who], seconds);
    ok(took >= seconds - 1e-9, "it took %g s", took);
}

static void test_sleep(enum caller who, void *arg)
{
    ok_abt(ABTX_self_sleep(0));
    ok_abt(ABTX_self_sleep(-1));
    ok_abt(ABTX_self_sleep(INT64_MIN));
    ok_abt(ABTX_self_sleep(1));
    int64_t before = ABTX_after(0);
    ok(before > 0 && ABTX_after(-1) <= ABTX_after(0), "the time is that of a clock");
    ok(ABTX_after(INT64_C(3600000000000)) > before + INT64_C(3599000000000), "an hour from now");
    ok(ABTX_after(ABTX_FOREVER) == ABTX_FOREVER && ABTX_after(ABTX_FOREVER - 1) == ABTX_FOREVER, "for ever from now");
    sleep_for(who, 1e-6);
    sleep_for(who, 0.0123);
}

/* Signals do not make it shorter. */
static atomic_int signals;

static void on_signal(int sig)
{
    atomic_fetch_add(&signals, 1);
}

static void test_signals(enum caller who, void *arg)
{
    sleep_for(who, 0.05);
}

static void with_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* system calls are not restarted */
    struct itimerval every_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};

    must(sigaction(SIGALRM, &action, NULL));
    must(setitimer(ITIMER_REAL, &every_ms, NULL));
    call_as_each(test_signals, NULL);
    must(setitimer(ITIMER_REAL, &never, NULL));
    ok(atomic_load(&signals) > 2, "%d signals meanwhile", atomic_load(&signals));
}

/* Others run meanwhile, also if the time is none or next to none. */
struct loop {
    double seconds;
    atomic_int *stop;
};

static void sleep_until_stopped(void *arg)
{
    struct loop *loop = arg;

    while (!atomic_load(loop->stop))
        must(ABTX_self_sleep((int64_t)(loop->seconds * 1e9)));
}

static void test_others_run(double seconds)
{
    atomic_int ran = 0;
    struct loop loop = {seconds, &ran};
    ABT_thread ult = ult_in(own_pool(), sleep_until_stopped, &loop), other = ult_in(own_pool(), count_up, &ran);

    must(ABT_thread_free(&ult));
    must(ABT_thread_free(&other));
    pass("others run in a loop of sleeps of %g s", seconds);
}

/* --- In order of time --- */

enum { SLEEPERS = 50 };

static struct sleeper {
    double until;
    int number;
} sleepers[SLEEPERS];

static int order[SLEEPERS];
static atomic_int awake;

static void sleep_and_note(void *arg)
{
    struct sleeper *s = arg;

    double left = s->until - now();
    must(ABTX_self_sleep((int64_t)(left * 1e9)));
    order[atomic_fetch_add(&awake, 1)] = s->number;
}

/* The first one wakes so much later: all must have begun by then. */
static bool wake_in_order(double seconds)
{
    ABT_thread ults[SLEEPERS];
    bool sorted = true;
    double begin = now() + seconds;

    atomic_store(&awake, 0);
    for (int i = 0; i < SLEEPERS; i++) {
        sleepers[i] = (struct sleeper){begin + 0.003 * (i * 7 % SLEEPERS), i * 7 % SLEEPERS};
        ults[i] = ult_in(own_pool(), sleep_and_note, &sleepers[i]);
    }
    for (int i = 0; i < SLEEPERS; i++)
        must(ABT_thread_free(&ults[i]));
    for (int i = 0; i < SLEEPERS; i++)
        sorted = sorted && order[i] == i;
    return sorted;
}

/* The machine may mix them up once in a while, and a slow one takes long to begin. */
static void test_order(void)
{
    int tries = 1;

    while (!wake_in_order(0.02 * tries * tries) && tries < 10)
        tries++;
    ok(tries < 10, "%d ULTs wake up in the order of their times (try %d)", SLEEPERS, tries);
}

int main(void)
{
    test_sleep(EXTERNAL, NULL); /* before ABT_init */
    must(ABT_init(0, NULL));
    call_as_each(test_sleep, NULL);
    with_signals();
    test_others_run(0.0);
    test_others_run(1e-9);
    test_others_run(1e-7);
    test_others_run(1e-6);
    test_others_run(1e-5);
    test_order();
    must(ABT_finalize());
    return done_testing();
}

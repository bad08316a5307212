/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "emulated.h"
#include "fuzz.h"
#include "sanitizers.h"

enum { MAX_KINDS = 64, PATIENCE = 20 };

static atomic_long steps_ended;
static atomic_int steps_open[MAX_KINDS]; /* how many steps of that kind have begun and not ended */
static char again[640];                  /* the line that repeats the round */
static atomic_int failing;

/* A sanitizer ends the program at its first report, as all others do: by abort. */
#define DEFAULT_OPTIONS(name)                                                                                          \
    const char *name(void);                                                                                            \
    const char *name(void)                                                                                             \
    {                                                                                                                  \
        return "abort_on_error=1:halt_on_error=1";                                                                     \
    }
DEFAULT_OPTIONS(__asan_default_options)
DEFAULT_OPTIONS(__tsan_default_options)
DEFAULT_OPTIONS(__ubsan_default_options)

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _Exit(254);
}

/* Whatever ends the program: the failure of an expectation, an assertion, a sanitizer, a fault. */
static void on_death(int sig)
{
    say(again);
    say("# steps that have not ended:");
    for (int i = 0; i < steps_num(); i++)
        if (atomic_load(&steps_open[i]) > 0) {
            say(" ");
            say(steps_name(i));
        }
    say("\n");
    signal(sig, SIG_DFL);
    raise(sig);
}

/* The first one that fails says so. */
void fuzz_fail_at(const char *file, int line, const char *format, ...)
{
    va_list args;

    if (atomic_exchange(&failing, 1))
        for (;;)
            pause();
    fprintf(stderr, "# failed: %s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    abort();
}

void watch_round(uint64_t seed, const char *options)
{
    snprintf(again, sizeof(again), "# again: test/fuzz/fuzz --seed %" PRIu64 " --rounds 1%s\n", seed, options);
}

void watch_step_begun(int kind)
{
    atomic_fetch_add(&steps_open[kind], 1);
}

void watch_step_ended(int kind)
{
    atomic_fetch_sub(&steps_open[kind], 1);
    atomic_fetch_add(&steps_ended, 1);
}

/*
 * For how many seconds no step may end: a wait that has what it waits for takes far less on an idle machine. What makes
 * all slower makes this longer: a sanitizer, delays, an emulator, and others that use the processors.
 */
static double patience(void)
{
    double load = 0, cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);

    if (getloadavg(&load, 1) != 1)
        load = cpus;
    return PATIENCE * (UNDER_ASAN || UNDER_TSAN || UNDER_DELAYS ? 3 : 1) * (is_emulated() ? 10 : 1) *
           (1 + (load > cpus ? load / cpus : 0));
}

/* It counts its own naps, so that a machine that stands still for a while does not count. */
static void *watch_main(void *arg)
{
    static const struct timespec nap = {.tv_nsec = 100000000};
    long before = -1;

    for (int idle = 0; idle * 0.1 < patience(); idle++) {
        long now = atomic_load(&steps_ended);
        if (now != before)
            idle = 0;
        before = now;
        nanosleep(&nap, NULL);
    }
    fprintf(stderr, "# failed: no step has ended for %.0f seconds\n", patience());
    ABT_info_trigger_print_all_thread_stacks(stderr, 3.0, NULL, NULL);
    sleep(6);
    abort();
}

void watch_begin(void)
{
    pthread_t thread;

    signal(SIGABRT, on_death);
    if (!UNDER_ASAN && !UNDER_TSAN) { /* which say more, and abort then */
        signal(SIGSEGV, on_death);
        signal(SIGBUS, on_death);
    }
    expect(pthread_create(&thread, NULL, watch_main, NULL) == 0);
    expect(pthread_detach(thread) == 0);
}

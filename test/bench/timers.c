/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timed waits: what they cost while nothing happens, how late they end, and what a deadline costs that is not reached.
 * Figures with a limit are marked OVER when they miss it.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "sync/timer.h"

enum { THOUSAND = 1000, ARMED = 100000, ROUNDS = 15 };

static int over;

static void report(const char *what, double value, const char *unit, double limit)
{
    printf("%-74s %9.3f %-3s", what, value, unit);
    if (limit > 0) {
        printf(" at most %g%s", limit, value > limit ? "  OVER" : "");
        over += value > limit;
    }
    printf("\n");
}

static double seconds_of(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* --- One wait of a second and a thousand of two: no work for the processor --- */

struct wait {
    ABT_mutex mutex;
    ABT_cond cond;
    double seconds;
    double late; /* in ms */
    ABT_thread ult;
};

static void wait_until(void *arg)
{
    struct wait *w = arg;
    double due = seconds_of(CLOCK_REALTIME) + w->seconds;
    struct timespec ts = {.tv_sec = (time_t)due, .tv_nsec = (long)((due - floor(due)) * 1e9)};

    CHECK(ABT_mutex_lock(w->mutex));
    if (ABT_cond_timedwait(w->cond, w->mutex, &ts) != ABT_ERR_COND_TIMEDOUT)
        exit(1);
    CHECK(ABT_mutex_unlock(w->mutex));
    w->late = (seconds_of(CLOCK_REALTIME) - due) * 1e3;
}

/* ULTs of a secondary stream wait; spread: one after the other. */
static void run_waits(const char *name, bool spread, double max_share)
{
    static struct wait waits[THOUSAND + 1];
    static double late[THOUSAND + 1];
    char text[128];
    ABT_xstream es;
    ABT_mutex mutex;
    ABT_cond cond;

    CHECK(ABT_xstream_create(ABT_SCHED_NULL, &es));
    CHECK(ABT_mutex_create(&mutex));
    CHECK(ABT_cond_create(&cond));
    double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), start = seconds_of(CLOCK_MONOTONIC);
    for (int i = 0; i <= THOUSAND; i++) {
        double seconds = spread ? 0.01 + 0.00197 * i : i == 0 ? 1.0 : 2.0;
        waits[i] = (struct wait){.mutex = mutex, .cond = cond, .seconds = seconds};
        CHECK(ABT_thread_create_on_xstream(es, wait_until, &waits[i], ABT_THREAD_ATTR_NULL, &waits[i].ult));
    }
    /* The last one first: a joiner that each of them wakes may be given their CPU by the system, though another one
       is free, and then looks for work there while they wait for it. */
    for (int i = THOUSAND; i >= 0; i--)
        CHECK(ABT_thread_free(&waits[i].ult));
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    double share = 100 * cpu / (seconds_of(CLOCK_MONOTONIC) - start);
    for (int i = 0; i <= THOUSAND; i++)
        late[i] = waits[i].late;
    qsort(late, THOUSAND + 1, sizeof(late[0]), by_value);
    snprintf(text, sizeof(text), "%s: share of a core", name);
    report(text, share, "%", max_share);
    snprintf(text, sizeof(text), "%s: late, median", name);
    report(text, late[THOUSAND / 2], "ms", 0);
    snprintf(text, sizeof(text), "%s: late, 99 of 100", name);
    report(text, late[THOUSAND * 99 / 100], "ms", 1);
    CHECK(ABT_cond_free(&cond));
    CHECK(ABT_mutex_free(&mutex));
    CHECK(ABT_xstream_free(&es));
}

/* What a native thread of the system makes of the same times, for comparison. */
static void run_native(void)
{
    static double late[THOUSAND + 1];

    for (int i = 0; i <= THOUSAND; i++) {
        double due = seconds_of(CLOCK_MONOTONIC) + 0.00197;
        struct timespec ts = {.tv_sec = (time_t)due, .tv_nsec = (long)((due - floor(due)) * 1e9)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
        late[i] = (seconds_of(CLOCK_MONOTONIC) - due) * 1e3;
    }
    qsort(late, THOUSAND + 1, sizeof(late[0]), by_value);
    report("the system's own, every 2 ms: late, median", late[THOUSAND / 2], "ms", 0);
    report("the system's own, every 2 ms: late, 99 of 100", late[THOUSAND * 99 / 100], "ms", 0);
}

/* --- Arming and cancelling, by itself --- */

struct armed {
    struct abti_waiter waiter;
    struct abti_timer timer;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static abti_es *self;
static char *frames;
static size_t stride;
static uint64_t deadline;

static struct armed *frame(size_t i)
{
    return (struct armed *)(frames + i * stride);
}

static void arm(size_t i, bool random)
{
    deadline += 1000;
    abti_timer_arm(self, &frame(i)->timer, &frame(i)->waiter, deadline + (random ? next_random() % 100000000 : 0),
                   NULL);
}

/* Arms one and cancels it again. */
static void one_more(bool random)
{
    for (size_t i = 0; i < ARMED; i++) {
        arm(ARMED, random);
        abti_timer_disarm(&frame(ARMED)->timer);
    }
}

/* Cancels the one that was armed first. */
static void oldest(bool random)
{
    for (size_t i = 0; i < ARMED; i++) {
        abti_timer_disarm(&frame(i)->timer);
        arm(i, random);
    }
}

static void any(bool random)
{
    for (size_t n = 0; n < ARMED; n++) {
        size_t i = next_random() % ARMED;
        abti_timer_disarm(&frame(i)->timer);
        arm(i, random);
    }
}

static void run_arming(size_t bytes)
{
    static const struct {
        const char *name;
        void (*run)(bool random);
        bool random;
    } ways[] = {{"one more, the same time from now", one_more, false}, {"one more, random times", one_more, true},
                {"the oldest, the same time from now", oldest, false}, {"the oldest, random times", oldest, true},
                {"any, the same time from now", any, false},           {"any, random times", any, true}};
    double ns[ROUNDS];
    char text[128];

    stride = bytes;
    frames = aligned_alloc(64, (ARMED + 1) * stride);
    memset(frames, 0, (ARMED + 1) * stride);
    deadline = abti_clock_mono_ns() + (uint64_t)3600 * ABTI_NS_PER_SEC;
    for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
        for (size_t i = 0; i < ARMED; i++)
            arm(i, ways[k].random);
        for (int r = 0; r < ROUNDS; r++) {
            double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
            ways[k].run(ways[k].random);
            ns[r] = (seconds_of(CLOCK_THREAD_CPUTIME_ID) - start) * 1e9 / ARMED;
        }
        for (size_t i = 0; i < ARMED; i++)
            abti_timer_disarm(&frame(i)->timer);
        qsort(ns, ROUNDS, sizeof(ns[0]), by_value);
        snprintf(text, sizeof(text), "arm+cancel, %d armed %zu bytes apart: %s", ARMED, stride, ways[k].name);
        report(text, ns[ROUNDS / 2], "ns", 200);
    }
    free(frames);
}

/* --- A deadline that is not reached, in a ping-pong of eventuals, while others wait --- */

struct player {
    ABT_eventual mine, other;
    long rounds;
    bool timed, first;
};

static void play(void *arg)
{
    struct player *p = arg;
    struct timespec ts = {.tv_sec = time(NULL) + 3600};

    for (long i = 0; i < p->rounds; i++) {
        if (p->first)
            CHECK(ABT_eventual_set(p->other, NULL, 0));
        CHECK(p->timed ? ABT_eventual_timedwait(p->mine, NULL, &ts) : ABT_eventual_wait(p->mine, NULL));
        CHECK(ABT_eventual_reset(p->mine));
        if (!p->first)
            CHECK(ABT_eventual_set(p->other, NULL, 0));
    }
}

static double ping_pong(bool timed, long rounds)
{
    struct player players[2];
    ABT_thread ults[2];
    ABT_eventual eventuals[2];
    ABT_xstream es;

    CHECK(ABT_xstream_self(&es));
    for (int i = 0; i < 2; i++)
        CHECK(ABT_eventual_create(0, &eventuals[i]));
    for (int i = 0; i < 2; i++) {
        players[i] = (struct player){eventuals[i], eventuals[!i], rounds, timed, i == 0};
        CHECK(ABT_thread_create_on_xstream(es, play, &players[i], ABT_THREAD_ATTR_NULL, &ults[i]));
    }
    double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < 2; i++)
        CHECK(ABT_thread_free(&ults[i]));
    double ns = (seconds_of(CLOCK_THREAD_CPUTIME_ID) - start) * 1e9 / (2 * (double)rounds);
    for (int i = 0; i < 2; i++)
        CHECK(ABT_eventual_free(&eventuals[i]));
    return ns;
}

static void run_ping_pong(void)
{
    double plain[ROUNDS], timed[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        plain[r] = ping_pong(false, 20000);
        timed[r] = ping_pong(true, 20000);
    }
    qsort(plain, ROUNDS, sizeof(plain[0]), by_value);
    qsort(timed, ROUNDS, sizeof(timed[0]), by_value);
    report("eventual ping-pong, per wait", plain[ROUNDS / 2], "ns", 0);
    report("the same with a deadline that is not reached", timed[ROUNDS / 2], "ns", 0);
}

int main(int argc, char **argv)
{
    CHECK(ABT_init(argc, argv));
    CHECK(ABT_xstream_self(&self));
    run_waits("one wait of 1 s, a thousand of 2 s", false, 1);
    run_waits("a wait every 2 ms", true, 0);
    run_native();
    run_arming(sizeof(struct armed));
    run_arming(1088);
    run_ping_pong();
    CHECK(ABT_finalize());
    return over ? 1 : 0;
}

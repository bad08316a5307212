/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of every schedule and type, sections, single and ordered: each iteration runs once, in its order if it has one.
 */
#include <limits.h>
#include <omp.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tap.h"
#include "watchdog.h"

enum { NUM = 1000, MEMBERS = 4 };

static int runs[NUM];

static void hit(long i)
{
    __atomic_fetch_add(&runs[i], 1, __ATOMIC_RELAXED);
}

/* How many of the iterations did not run once. */
static int count_wrong(int num)
{
    int wrong = 0;
    for (int i = 0; i < NUM; i++) {
        wrong += runs[i] != (i < num);
        runs[i] = 0;
    }
    return wrong;
}

static const int sizes[] = {0, 1, 3, 4, 17, 100, NUM};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

#define PRAGMA(text) _Pragma(#text)

/* A function that runs loops upwards, downwards, and of unsigned long long, in teams of one and of several. */
#define LOOPS(name, ...)                                                                                               \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        int wrong = 0;                                                                                                 \
        for (int k = 0; k < 2 * SIZES; k++) {                                                                          \
            int num = sizes[k / 2];                                                                                    \
            unsigned long long high = 0xffffffffffff0000ULL;                                                           \
            PRAGMA(omp parallel num_threads(k % 2 ? MEMBERS : 1))                                                      \
            {                                                                                                          \
                PRAGMA(omp for __VA_ARGS__)                                                                            \
                for (long i = 0; i < num; i++)                                                                         \
                    hit(i);                                                                                            \
            }                                                                                                          \
            wrong += count_wrong(num);                                                                                 \
            PRAGMA(omp parallel for num_threads(k % 2 ? MEMBERS : 1) __VA_ARGS__)                                      \
            for (int i = 3 * num; i > 0; i -= 3)                                                                       \
                hit(i / 3 - 1);                                                                                        \
            wrong += count_wrong(num);                                                                                 \
            PRAGMA(omp parallel for num_threads(k % 2 ? MEMBERS : 1) __VA_ARGS__)                                      \
            for (unsigned long long i = high; i < high + 7 * (unsigned)num; i += 7)                                    \
                hit((long)((i - high) / 7));                                                                           \
            wrong += count_wrong(num);                                                                                 \
            PRAGMA(omp parallel for num_threads(k % 2 ? MEMBERS : 1) __VA_ARGS__)                                      \
            for (unsigned long long i = high + 5 * (unsigned)num; i > high; i -= 5)                                    \
                hit((long)((i - high) / 5) - 1);                                                                       \
            wrong += count_wrong(num);                                                                                 \
        }                                                                                                              \
        is_int(wrong, 0, "%s: each iteration runs once", #name);                                                       \
    }

LOOPS(static_blocks, schedule(static))
LOOPS(static_chunks, schedule(static, 3))
LOOPS(dynamic, schedule(dynamic))
LOOPS(dynamic_chunks, schedule(dynamic, 7))
LOOPS(dynamic_monotonic, schedule(monotonic : dynamic))
LOOPS(guided, schedule(guided))
LOOPS(guided_chunks, schedule(monotonic : guided, 5))
LOOPS(automatic, schedule(auto))
LOOPS(runtime, schedule(runtime))
LOOPS(runtime_monotonic, schedule(monotonic : runtime))
LOOPS(runtime_nonmonotonic, schedule(nonmonotonic : runtime))

static void extremes(void)
{
    int wrong = 0;
#pragma omp parallel for num_threads(MEMBERS) schedule(dynamic)
    for (long i = LONG_MAX - 56; i < LONG_MAX - 7; i += 7)
        hit((i - (LONG_MAX - 56)) / 7);
    wrong += count_wrong(7);
#pragma omp parallel for num_threads(MEMBERS) schedule(guided)
    for (long i = LONG_MIN; i < LONG_MAX - LONG_MAX / 8; i += LONG_MAX / 8)
        hit(i / (LONG_MAX / 8) + 8);
    memset(runs, 0, sizeof(runs));
    is_int(wrong, 0, "loops at the limits of their type end");
}

/* Members may be many constructs ahead of others. */
static void many_without_barrier(void)
{
#pragma omp parallel num_threads(MEMBERS)
    for (int k = 0; k < NUM; k++) {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 3; i++)
            hit(k);
    }
    int wrong = 0;
    for (int k = 0; k < NUM; k++)
        wrong += runs[k] != 3;
    memset(runs, 0, sizeof(runs));
    is_int(wrong, 0, "each of many loops without barriers runs all of its iterations");
}

/* One member is so far ahead that it ends its part before another one begins. */
static void far_ahead(void)
{
    enum { AHEAD = 10 * NUM };
    int is_over = 0, sum = 0;
#pragma omp parallel num_threads(MEMBERS)
    {
        while (omp_get_thread_num() != 1 && !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
            sched_yield();
        for (int k = 0; k < AHEAD; k++) {
#pragma omp for schedule(dynamic) nowait
            for (int i = 0; i < 3; i++)
                __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
            if (k % 100 == 7) {
#pragma omp for schedule(static) nowait
                for (int i = 0; i < 1; i++)
                    __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
            }
        }
        if (omp_get_thread_num() == 1)
            __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int i = 0; i < NUM; i++)
            hit(i);
    }
    is_int(sum, 3 * AHEAD + AHEAD / 100, "a member may be any number of loops ahead");
    is_int(count_wrong(NUM), 0, "a loop after that runs all of its iterations");
}

#define ORDERED(name, ...)                                                                                             \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        static int order[NUM];                                                                                         \
        int at = 0, wrong = 0;                                                                                         \
        PRAGMA(omp parallel for num_threads(MEMBERS) ordered __VA_ARGS__)                                              \
        for (int i = 0; i < NUM; i++) {                                                                                \
            if (i % 5 == 4)                                                                                            \
                continue; /* the turn is passed without */                                                             \
            PRAGMA(omp ordered)                                                                                        \
            order[at++] = i;                                                                                           \
        }                                                                                                              \
        for (int i = 0; i < at; i++)                                                                                   \
            wrong += order[i] != i + i / 4;                                                                            \
        is_int(at, NUM / 5 * 4, "%s: all ordered parts run", #name);                                                   \
        is_int(wrong, 0, "%s: they run in order", #name);                                                              \
    }

ORDERED(ordered_static, schedule(static))
ORDERED(ordered_static_chunks, schedule(static, 3))
ORDERED(ordered_dynamic, schedule(dynamic))
ORDERED(ordered_dynamic_chunks, schedule(dynamic, 4))
ORDERED(ordered_guided, schedule(guided))
ORDERED(ordered_runtime, schedule(runtime))

/* Turns that are passed one right after another. */
static void ordered_often(void)
{
    int at = 0;
#pragma omp parallel num_threads(2)
    for (int k = 0; k < 100; k++) {
#pragma omp for schedule(dynamic, 1) ordered
        for (int i = 0; i < 2 * NUM; i++) {
#pragma omp ordered
            at++;
        }
    }
    is_int(at, 100 * 2 * NUM, "no turn is lost in many ordered loops");
}

enum { SIDE = 40 };

static long cells[SIDE + 1][SIDE + 1];

static void cells_begin(void)
{
    memset(cells, 0, sizeof(cells));
    for (int i = 0; i <= SIDE; i++)
        cells[i][0] = cells[0][i] = 1;
}

static int cells_count_wrong(void)
{
    int wrong = 0;
    for (int i = 1; i <= SIDE; i++)
        for (int j = 1; j <= SIDE; j++)
            wrong += cells[i][j] != (cells[i - 1][j] + cells[i][j - 1]) % 1000007;
    return wrong;
}

#define DOACROSS(name, ...)                                                                                            \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        cells_begin();                                                                                                 \
        PRAGMA(omp parallel for num_threads(MEMBERS) ordered(2) __VA_ARGS__)                                           \
        for (int i = 1; i <= SIDE; i++)                                                                                \
            for (int j = 1; j <= SIDE; j++) {                                                                          \
                PRAGMA(omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1))                                    \
                cells[i][j] = (cells[i - 1][j] + cells[i][j - 1]) % 1000007;                                           \
                PRAGMA(omp ordered depend(source))                                                                     \
            }                                                                                                          \
        is_int(cells_count_wrong(), 0, "%s: iterations wait for those that they depend on", #name);                    \
    }

DOACROSS(doacross_static, schedule(static))
DOACROSS(doacross_static_chunks, schedule(static, 3))
DOACROSS(doacross_dynamic, schedule(dynamic))
DOACROSS(doacross_dynamic_chunks, schedule(dynamic, 3))
DOACROSS(doacross_guided, schedule(guided))
DOACROSS(doacross_runtime, schedule(runtime))

void GOMP_doacross_post(long *at);
void GOMP_doacross_wait(long first, ...);
bool GOMP_loop_doacross_dynamic_start(unsigned num, long *counts, long chunk, long *from, long *to);
bool GOMP_loop_dynamic_next(long *from, long *to);
void GOMP_loop_end(void);

/* More iterations than there is memory, in chunks each of which only runs its first and its last one. */
static void doacross_large(void)
{
    long chunks = 0;
#pragma omp parallel num_threads(MEMBERS)
    {
        long count = 1L << 60, from, to;
        if (GOMP_loop_doacross_dynamic_start(1, &count, count / NUM, &from, &to))
            do {
                if (from > 0)
                    GOMP_doacross_wait(from - 1);
                chunks++;
                to--;
                GOMP_doacross_post(&to);
            } while (GOMP_loop_dynamic_next(&from, &to));
        GOMP_loop_end();
    }
    is_int((int)chunks, NUM + 1, "a loop whose iterations wait for others may have very many");
}

static void sections(void)
{
#pragma omp parallel num_threads(MEMBERS)
    {
#pragma omp sections
        {
#pragma omp section
            hit(0);
#pragma omp section
            hit(1);
#pragma omp section
            hit(2);
        }
    }
    is_int(count_wrong(3), 0, "each section runs once");
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        hit(0);
#pragma omp section
        hit(1);
    }
    is_int(count_wrong(2), 0, "each section of a region of sections runs once");
}

static void single(void)
{
    int wrong = 0, times = 0;
#pragma omp parallel num_threads(MEMBERS) reduction(+ : wrong)
    for (int k = 0; k < NUM; k++) {
        int value = -1;
#pragma omp single copyprivate(value)
        {
            times++;
            value = k;
        }
        wrong += value != k;
    }
    is_int(times, NUM, "single runs once");
    is_int(wrong, 0, "copyprivate hands its value to all members");
}

/* A prefix sum, and the last value that some iteration has set. */
static void scans(void)
{
    static int sums[NUM];
    int sum = 0, last = -1, wrong = 0;
#pragma omp parallel for num_threads(MEMBERS) reduction(inscan, + : sum)
    for (int i = 0; i < NUM; i++) {
        sum += i;
#pragma omp scan inclusive(sum)
        sums[i] = sum;
    }
    for (int i = 0; i < NUM; i++)
        wrong += sums[i] != i * (i + 1) / 2;
    is_int(wrong, 0, "scan gives all prefix sums");
#pragma omp parallel for num_threads(MEMBERS) schedule(dynamic) lastprivate(conditional : last)
    for (int i = 0; i < NUM; i++)
        if (i % 100 == 7)
            last = i;
    is_int(last, 907, "lastprivate(conditional) gives the value of the last iteration that set it");
}

/*
 * Compilers look for the last value in the last part that a member has had, so that no member may take another part
 * behind the one that ends the loop. A member that comes late leaves its part to the others.
 */
static void delay(int loop)
{
    if (omp_get_thread_num() == loop % MEMBERS)
        for (volatile int i = 0; i < 3000; i++)
            ;
}

static int count_wrong_ends(int loop, int num)
{
    int last = -1, at = 0;
#pragma omp parallel num_threads(MEMBERS)
    {
        delay(loop);
#pragma omp for schedule(nonmonotonic : dynamic) lastprivate(last)
        for (int i = 0; i < num; i++)
            last = i;
        delay(loop);
#pragma omp for schedule(nonmonotonic : dynamic, 3) linear(at : 4)
        for (int i = 0; i < num; i++)
            at += 4;
    }
    return (last != num - 1) + (at != 4 * num);
}

static void last_values(void)
{
    int wrong = 0;
    for (int loop = 0; loop < 300; loop++)
        wrong += count_wrong_ends(loop, 1 + loop % 50);
    is_int(wrong, 0, "lastprivate and linear have the values of the last iteration");
}

/* A chunk for each of many members: a turn wakes the one that has it, and few others. All wait before the first one. */
static void ordered_many(void)
{
    enum { MANY = 200, ARRIVE_US = 100000 };
    struct rusage before, after;
    int wrong = 0, last = -1;
#pragma omp parallel num_threads(MANY)
    (void)omp_get_thread_num();
    getrusage(RUSAGE_SELF, &before);
#pragma omp parallel for ordered schedule(static, 1) num_threads(MANY)
    for (int i = 0; i < MANY; i++) {
#pragma omp ordered
        {
            if (i == 0)
                usleep(ARRIVE_US);
            wrong += last != i - 1;
            last = i;
        }
    }
    getrusage(RUSAGE_SELF, &after);
    is_int(wrong, 0, "an ordered loop of many members");
    long switches = after.ru_nvcsw - before.ru_nvcsw;
    if (!ok(switches < MANY * MANY / 8, "wakes few of them at each turn"))
        diag("%ld voluntary switches", switches);
}

/* The number is that of LLVM's interface. */
static void trapezoidal(void)
{
    omp_set_schedule((omp_sched_t)101, 3);
    runtime();
    runtime_monotonic();
    ordered_runtime();
    doacross_runtime();
}

int main(void)
{
    watchdog_begin(0);
    static_blocks();
    static_chunks();
    dynamic();
    dynamic_chunks();
    dynamic_monotonic();
    guided();
    guided_chunks();
    automatic();
    runtime();
    runtime_monotonic();
    runtime_nonmonotonic();
    extremes();
    many_without_barrier();
    far_ahead();
    ordered_static();
    ordered_static_chunks();
    ordered_dynamic();
    ordered_dynamic_chunks();
    ordered_guided();
    ordered_runtime();
    ordered_often();
    ordered_many();
    doacross_static();
    doacross_static_chunks();
    doacross_dynamic();
    doacross_dynamic_chunks();
    doacross_guided();
    doacross_runtime();
    doacross_large();
    trapezoidal();
    sections();
    single();
    scans();
    last_values();
    return done_testing();
}

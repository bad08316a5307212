/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions: each member runs once, with its own number, in teams of any size. */
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "emulated.h"
#include "sanitizers.h"
#include "tap.h"
#include "watchdog.h"

enum { MOST = 16, REGIONS = 200 };

/* Whether a region of that many members has each of them once. */
static bool has_all(int num)
{
    int runs[MOST] = {0}, said = 0;
#pragma omp parallel num_threads(num)
    {
        __atomic_fetch_add(&runs[omp_get_thread_num()], 1, __ATOMIC_RELAXED);
        if (omp_get_num_threads() == num)
            __atomic_fetch_add(&said, 1, __ATOMIC_RELAXED);
    }
    bool all = said == num;
    for (int i = 0; i < MOST; i++)
        all = all && runs[i] == (i < num);
    return all;
}

/* Regions that need few of the members that there are, then all of them, when the others have gone to sleep and before.
 */
static bool grows(void)
{
    bool all = true;
    for (int i = 0; i < REGIONS; i++) {
        for (int small = 0; small < i % 20; small++)
            all = all && has_all(2 + small % 2);
        all = all && has_all(4 + i % (MOST - 3));
    }
    return all;
}

static int kept;
#pragma omp threadprivate(kept)

static int num_kept(int num)
{
    int good = 0;
#pragma omp parallel num_threads(num) reduction(+ : good)
    good += kept == 100 + omp_get_thread_num();
    return good;
}

static void *open_regions(void *arg)
{
    for (int i = 0; i < 10; i++)
        (void)has_all(2 + i % 3);
    return arg;
}

/* Values of threadprivate variables stay from region to region of the same size, whatever other threads do. */
static bool keeps_values(void)
{
    enum { NUM = 4 };
    bool all = true;
    pthread_t other;
    omp_set_num_threads(NUM);
#pragma omp parallel
    kept = 100 + omp_get_thread_num();
    for (int i = 0; i < 20; i++) {
        all = all && num_kept(NUM) == NUM;
        int good = 0;
#pragma omp parallel reduction(+ : good)
        good += kept == 100 + omp_get_thread_num();
        all = all && good == NUM;
        if (i % 5 == 0) {
            if (pthread_create(&other, NULL, open_regions, NULL) != 0)
                return false;
            pthread_join(other, NULL);
        }
    }
    return all;
}

/*
 * Members that wait for one another by looks at a variable, each for the one with the next number: all of them run at
 * some time, though there may be more than processors.
 */
static bool pass_on(int num)
{
    int turn = num - 1;
#pragma omp parallel num_threads(num)
    {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != omp_get_thread_num()) {
        }
        __atomic_fetch_sub(&turn, 1, __ATOMIC_RELEASE);
    }
    return turn == -1;
}

/* -- Thousands of members -- */

enum { MANY = UNDER_ASAN || UNDER_TSAN ? 255 : 4095, LATE_US = 50000, MOST_RATIO = 4 };

static pthread_barrier_t meeting;

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *meet_natively(void *arg)
{
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    return arg;
}

/* The processor time of that many native threads that meet twice. The caller is late: they sleep. */
static double cost_natively(void)
{
    static pthread_t threads[MANY];
    double begin = cpu_seconds();
    pthread_barrier_init(&meeting, NULL, MANY);
    for (int i = 1; i < MANY; i++)
        if (pthread_create(&threads[i], NULL, meet_natively, NULL) != 0)
            bail_out("pthread_create");
    for (int i = 0; i < 2; i++) {
        usleep(LATE_US);
        pthread_barrier_wait(&meeting);
    }
    for (int i = 1; i < MANY; i++)
        pthread_join(threads[i], NULL);
    return cpu_seconds() - begin;
}

/* The same of a region. */
static double cost_by_members(int *members)
{
    double begin = cpu_seconds();
    int num = 0;
#pragma omp parallel num_threads(MANY) reduction(+ : num)
    {
        num++;
        for (int i = 0; i < 2; i++) {
            if (omp_get_thread_num() == 0)
                usleep(LATE_US);
#pragma omp barrier
        }
    }
    *members = num;
    return cpu_seconds() - begin;
}

/* Members beyond the processors do not spin: they take about the time that native threads take, who only sleep. */
static void many_members(void)
{
    if (is_emulated() || ABTI_BUILD_WAIT_ACTIVE) {
        skip(2, is_emulated() ? "the emulator is too slow for this number of native threads"
                              : "the active wait policy burns its CPU");
        return;
    }
    int members = 0;
    double natively = cost_natively(), by_members = cost_by_members(&members);
    is_int(members, MANY, "a region has thousands of members");
    ok(by_members < MOST_RATIO * natively, "they take %.0f ms of the processors, native threads %.0f", 1e3 * by_members,
       1e3 * natively);
}

int main(void)
{
    watchdog_begin(0);
    ok(has_all(2), "a region of two members has both");
    int wrong = 0;
    for (int i = 0; i < REGIONS; i++)
        wrong += !has_all(1 + i * 7 % MOST);
    is_int(wrong, 0, "regions of changing size have all members");
    ok(grows(), "members that many small regions did not need have part in the next large one");
    ok(keeps_values(), "threadprivate variables keep their values");
    wrong = 0;
    for (int i = 0; i < REGIONS; i++) {
        int ahead = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
        {
            __atomic_fetch_add(&ahead, 1, __ATOMIC_RELAXED);
#pragma omp barrier
            wrong += __atomic_load_n(&ahead, __ATOMIC_RELAXED) != 4;
        }
    }
    is_int(wrong, 0, "no member passes a barrier before all have come");
    int sum = 0;
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 1000; i++) {
#pragma omp critical
        sum++;
    }
    is_int(sum, 4000, "critical excludes");
    ok(pass_on(4), "members wait for one another by looks of their own");
    many_members();
    return done_testing();
}

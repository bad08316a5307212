/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places and binding on a machine of 1536 processors, whose kernel could have 2048: the program replaces the calls of
 * the system, and calls itself with the variables.
 */
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "watchdog.h"

enum { CPUS = 1536, POSSIBLE = 2048, MEMBERS = 4 };

/* Which processor each thread is bound to, as the last call says; -1: several or none. */
static _Thread_local int bound = -1;

static atomic_bool is_main_bound;
static atomic_int num_misled; /* questions for the processors by threads which may inherit that it is bound */

static int refuse(size_t size)
{
    if (size >= POSSIBLE / 8)
        return 0;
    errno = EINVAL;
    return -1;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
    if (refuse(size))
        return -1;
    if (atomic_load(&is_main_bound))
        atomic_fetch_add(&num_misled, 1);
    CPU_ZERO_S(size, mask);
    for (size_t cpu = 0; cpu < CPUS; cpu++)
        CPU_SET_S(cpu, size, mask);
    return 0;
}

/* libabt asks by this one. */
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *mask)
{
    return sched_getaffinity(0, size, mask) == 0 ? 0 : errno;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
    bound = -1;
    for (size_t cpu = 0; cpu < CPUS && CPU_COUNT_S(size, mask) == 1; cpu++)
        if (CPU_ISSET_S(cpu, size, mask))
            bound = (int)cpu;
    if (bound >= 0)
        atomic_store(&is_main_bound, true);
    return 0;
}

static void test_places(void)
{
    int processors[2] = {0};

    is_int(omp_get_num_procs(), CPUS, "all processors are counted");
    is_int(omp_get_num_places(), 6, "places");
    is_int(omp_get_place_num_procs(4), 2, "the processors of a place");
    omp_get_place_proc_ids(4, processors);
    ok(processors[0] == 1500 && processors[1] == 1508, "their numbers, with a stride");
    is_int(omp_get_proc_bind(), omp_proc_bind_close, "the policy of binding");
}

/* Those that are bound to a processor of their own say so. */
static void test_binding(void)
{
    int at[MEMBERS] = {0}, place[MEMBERS] = {0};

#pragma omp parallel num_threads(MEMBERS) proc_bind(spread)
    {
        at[omp_get_thread_num()] = bound;
        place[omp_get_thread_num()] = omp_get_place_num();
    }
    ok(place[0] == 0 && place[1] == 2 && place[2] == 4 && place[3] == 5, "four members are spread over six places");
    ok(at[1] == 1400 && at[3] == 1535, "processors beyond 1024 are used");
    ok(at[2] == -1, "a place of two processors leaves the choice to the system");
#pragma omp parallel num_threads(MEMBERS) proc_bind(close)
    place[omp_get_thread_num()] = omp_get_place_num();
    ok(place[0] == 0 && place[1] == 1 && place[2] == 2 && place[3] == 3, "or are close");
#pragma omp parallel num_threads(MEMBERS) proc_bind(primary)
    place[omp_get_thread_num()] = omp_get_place_num();
    ok(place[0] == 0 && place[1] == 0 && place[2] == 0 && place[3] == 0, "or where the first one is");
    is_int(atomic_load(&num_misled), 0, "who counts the processors does so before it is bound");
}

int main(int argc, char **argv)
{
    if (!getenv("OMP_PLACES")) {
        setenv("OMP_PLACES", "{0},{8},{1400},{1401},{1500:2:8},{1535},{1536}", 1);
        setenv("OMP_PROC_BIND", "close", 1);
        execv("/proc/self/exe", argv);
        skip_all("the program cannot call itself");
    }
    watchdog_begin(0);
    test_places();
    test_binding();
    return done_testing();
}

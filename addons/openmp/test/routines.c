/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the standard, and the variables that they depend on: the program calls itself with some of them. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "watchdog.h"

/* ---- With variables ---------------------------------------------------------------------------------------------- */

static char out[4096];

/* What the program prints with that argument and the variables, which are NAME=value. Its error output is the same. */
static const char *called(const char *self, const char *what, const char *variables)
{
    char command[1024];
    snprintf(command, sizeof(command), "env %s '%s' %s 2>&1", variables, self, what);
    FILE *pipe = popen(command, "r");
    size_t length = pipe ? fread(out, 1, sizeof(out) - 1, pipe) : 0;
    out[length] = '\0';
    if (pipe)
        pclose(pipe);
    return out;
}

static int print(const char *what)
{
    omp_sched_t kind;
    int chunk;
    if (strcmp(what, "threads") == 0) {
        printf("%d", omp_get_max_threads());
#pragma omp parallel
        {
#pragma omp single
            printf(" %d %d", omp_get_num_threads(), omp_get_max_threads());
        }
    } else if (strcmp(what, "schedule") == 0) {
        omp_get_schedule(&kind, &chunk);
        printf("%s%d %d", kind & omp_sched_monotonic ? "monotonic " : "", (int)(kind & ~omp_sched_monotonic), chunk);
    } else if (strcmp(what, "rest") == 0) {
        printf("%d %d %d %d %d %d %d", omp_get_dynamic(), omp_get_thread_limit(), omp_get_max_active_levels(),
               omp_get_cancellation(), omp_get_default_device(), omp_get_max_task_priority(), (int)omp_get_proc_bind());
    } else if (strcmp(what, "places") == 0) {
        printf("%d %d", omp_get_num_places(), omp_get_num_places() > 0 ? omp_get_place_num_procs(0) : 0);
    } else if (strcmp(what, "wide") == 0) {
        omp_display_affinity("%2000n");
    } else {
        omp_display_affinity("%L|%0.4n|%5N|%{thread_num}|%%|%x");
    }
    fflush(stdout);
    return 0;
}

static void test_variables(const char *self)
{
    is_str(called(self, "threads", "OMP_NUM_THREADS=3,2"), "3 3 2", "OMP_NUM_THREADS is a list");
    is_str(called(self, "schedule", "OMP_SCHEDULE=monotonic:guided,4"), "monotonic 3 4", "OMP_SCHEDULE");
    is_str(called(self, "schedule", "OMP_SCHEDULE=dynamic,5"), "2 5", "OMP_SCHEDULE without a modifier");
    is_str(called(self, "schedule", "OMP_SCHEDULE=static"), "monotonic 1 0", "OMP_SCHEDULE without a chunk");
    is_str(called(self, "schedule", "OMP_SCHEDULE=' NonMonotonic : Static_Steal , 7 '"), "2 7", "a kind of LLVM");
    is_str(called(self, "schedule", "OMP_SCHEDULE=auto"), "4 1", "auto");
    is_str(called(self, "schedule", "OMP_SCHEDULE=trapezoidal"), "101 1", "another one, without a chunk");
    called(self, "schedule", "OMP_DISPLAY_ENV=true OMP_SCHEDULE=monotonic:trapezoidal,3");
    ok(strstr(out, "OMP_SCHEDULE = 'MONOTONIC:TRAPEZOIDAL,3'\n"), "it is displayed");
    is_str(called(self, "rest",
                  "OMP_DYNAMIC=true OMP_THREAD_LIMIT=9 OMP_MAX_ACTIVE_LEVELS=5 OMP_CANCELLATION=TRUE "
                  "OMP_DEFAULT_DEVICE=2 OMP_MAX_TASK_PRIORITY=7 OMP_PROC_BIND=close"),
           "1 9 5 1 2 7 3", "the others");
    is_str(called(self, "places", "OMP_PLACES='threads(1)'"), "1 1", "OMP_PLACES");
    is_str(called(self, "format", "OMP_NUM_THREADS=2"), "0|0000|1    |0|%|undefined\n", "a format of affinity");
    const char *bad[] = {"OMP_NUM_THREADS=0", "OMP_SCHEDULE=foo",   "OMP_DYNAMIC=maybe",
                         "OMP_STACKSIZE=x",   "OMP_PLACES=nowhere", "OMP_PROC_BIND=true,close"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char begin[100];
        snprintf(begin, sizeof(begin), "libabtomp: %s is not ", bad[i]);
        called(self, "schedule", bad[i]);
        ok(strncmp(out, begin, strlen(begin)) == 0 && strstr(out, "it is ignored\n2 1"), "%s is reported, and ignored",
           bad[i]);
    }
    called(self, "schedule", "OMP_DISPLAY_ENV=true OMP_STACKSIZE=2M");
    ok(strstr(out, "LIBRARY = 'libabtomp'\n") && strstr(out, "OMP_STACKSIZE = '2097152B'\n") &&
           strstr(out, "OPENMP DISPLAY ENVIRONMENT END"),
       "OMP_DISPLAY_ENV");
}

/* What has room for so much and no more. */
static void test_limits(const char *self)
{
    is_str(called(self, "schedule", "OMP_NUM_THREADS=2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2"), "2 1",
           "a list for 17 levels");
    called(self, "schedule", "OMP_NUM_THREADS=2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2");
    ok(strstr(out, "it is ignored\n2 1"), "one for more is reported, and ignored");
    is_str(called(self, "schedule", "OMP_AFFINITY_FORMAT=$(printf %0511d 0)"), "2 1", "a format of 511 characters");
    called(self, "schedule", "OMP_DISPLAY_ENV=true OMP_AFFINITY_FORMAT=$(printf %0512d 0)");
    ok(strstr(out, "it is ignored\n") && strstr(out, "OMP_AFFINITY_FORMAT = 'level"),
       "a longer one is reported, and ignored");
    is_int((int)strlen(called(self, "wide", "")), 1024, "a line of affinity ends after 1023 characters");
    omp_set_max_active_levels(INT32_MAX);
    is_int(omp_get_max_active_levels(), omp_get_supported_active_levels(), "no more levels are active than may be");
}

/* ---- Locks ------------------------------------------------------------------------------------------------------- */

enum { ROUNDS = 2000, MEMBERS = 4 };

static void test_locks(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int count = 0, nested = 0, wrong = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(MEMBERS) reduction(+ : wrong)
    for (int i = 0; i < ROUNDS; i++) {
        omp_set_lock(&lock);
        count++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        wrong += omp_test_nest_lock(&nest) != 2;
        nested++;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
    }
    is_int(count, ROUNDS * MEMBERS, "a lock excludes");
    is_int(nested, ROUNDS * MEMBERS, "a nestable lock excludes others");
    is_int(wrong, 0, "and not its owner");
    omp_set_lock(&lock);
    is_int(omp_test_lock(&lock), 0, "a lock that is held is not had");
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
#pragma omp parallel num_threads(1) shared(wrong)
    wrong = omp_test_nest_lock(&nest);
    is_int(wrong, 0, "a nestable lock is owned by the task, not by its thread");
    omp_unset_nest_lock(&nest);
    is_int(omp_test_nest_lock(&nest), 1, "it is free again");
    omp_unset_nest_lock(&nest);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void test_memory(void)
{
    const omp_alloctrait_t traits[] = {
        {omp_atk_alignment, 256}, {omp_atk_pool_size, 8192}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t own = omp_init_allocator(omp_default_mem_space, 3, traits);
    ok(own != omp_null_allocator, "an allocator is made");
    char *first = omp_alloc(4000, own), *none = omp_alloc(4000, own);
    ok(first && (uintptr_t)first % 256 == 0, "memory has the alignment of the allocator");
    ok(none == NULL, "and is not more than its pool");
    first = omp_realloc(first, 100, own, own);
    ok(first != NULL, "less of it is left by realloc");
    omp_free(first, own);
    char *zero = omp_aligned_calloc(512, 10, 10, omp_default_mem_alloc);
    ok(zero && (uintptr_t)zero % 512 == 0 && zero[0] == 0 && zero[99] == 0, "aligned zeroes");
    omp_free(zero, omp_default_mem_alloc);
    omp_destroy_allocator(own);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return print(argv[1]);
    watchdog_begin(0);
    test_variables(argv[0]);
    test_limits(argv[0]);
    test_locks();
    test_memory();
    return done_testing();
}

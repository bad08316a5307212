/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that run in each mode of nested regions. */
#ifndef TEST_MODES_H
#define TEST_MODES_H

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulated.h"
#include "tap.h"
#include "watchdog.h"

/* The members outside: as many as there are processors, so that those inside may run one after another. */
static int num_outer;

static const char *current_mode;
static int num_wrong;

static inline void check(bool holds, const char *what)
{
    if (holds)
        return;
    num_wrong++;
    fprintf(stderr, "# %s: not: %s\n", current_mode, what);
}

static inline int run_mode(const char *mode, void (*run)(void))
{
    watchdog_begin(0);
    setenv("ABT_OMP_NESTED", mode, 1);
    setenv("OMP_CANCELLATION", "true", 1);
    current_mode = mode;
    num_outer = omp_get_num_procs() < 4 ? omp_get_num_procs() : 4;
    num_outer = num_outer < 2 ? 2 : num_outer;
    omp_set_max_active_levels(3);
    omp_set_dynamic(0);
    run();
    return num_wrong;
}

/* The mode is read once: each has a process, which was forked before anything of OpenMP was called. */
static inline void run_in_child(const char *mode, void (*run)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(run_mode(mode, run) == 0 ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    ok(status == 0, "nested regions with ABT_OMP_NESTED=%s", mode);
}

static inline void run_modes(void (*run)(void))
{
    if (is_emulated()) {
        is_int(run_mode("u", run), 0, "nested regions with ABT_OMP_NESTED=u");
        return;
    }
    run_in_child("t", run);
    run_in_child("u", run);
    run_in_child("auto", run);
}

#endif

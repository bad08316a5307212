/* SPDX-License-Identifier: BSD-3-Clause */
/* The internal control variables of OpenMP: what the environment says, and what each task has of its own. */
#ifndef ABTOMP_ICV_H
#define ABTOMP_ICV_H

#include <stdbool.h>
#include <stddef.h>

/* The kinds of schedules, by the numbers of the interface. The highest bit says "monotonic". */
enum { ABTOMP_STATIC = 1, ABTOMP_DYNAMIC = 2, ABTOMP_GUIDED = 3, ABTOMP_AUTO = 4 };
#define ABTOMP_MONOTONIC 0x80000000U

/* What each task has of its own. An implicit task begins with those of the task that met the region. */
struct abtomp_icvs {
    int num_threads;       /* nthreads-var: for the next region */
    int max_active_levels; /* max-active-levels-var */
    int thread_limit;      /* thread-limit-var */
    unsigned run_sched;    /* run-sched-var: the kind, */
    long run_chunk;        /* and its chunk, 0 if there is none */
    bool dynamic;          /* dyn-var */
    bool is_said;          /* whether the user has said num_threads: if not, roots share the processors */
};

/* What the environment says for the whole program. Constant after abtomp_icv_start. */
struct abtomp_env {
    struct abtomp_icvs icvs; /* of an initial task */
    int num_procs;           /* processors that the program may use */
    int nested_threads[8];   /* what OMP_NUM_THREADS says for level 1 and deeper; 0: nothing */
    size_t stack_size;       /* of a member's thread; 0: that of the system */
    bool is_active;          /* OMP_WAIT_POLICY=active */
    bool shares;             /* roots share the processors: not ABT_OMP_SHARE=0 */
};

extern struct abtomp_env abtomp_env;

/* Reads the environment. Called once, before all else. */
void abtomp_icv_start(void);

#endif

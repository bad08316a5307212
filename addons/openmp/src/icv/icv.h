/* SPDX-License-Identifier: BSD-3-Clause */
/* The internal control variables of OpenMP: what the environment says, and what each task has of its own. */
#ifndef ABTOMP_ICV_H
#define ABTOMP_ICV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "export.h"

/* The kinds of schedules, by the numbers of the interface. The highest bit says "monotonic". */
enum { ABTOMP_STATIC = 1, ABTOMP_DYNAMIC = 2, ABTOMP_GUIDED = 3, ABTOMP_AUTO = 4 };
enum { ABTOMP_TRAPEZOIDAL = 101 }; /* LLVM's: another guided one */
#define ABTOMP_MONOTONIC 0x80000000U

/* How members are bound to places, likewise. */
enum { ABTOMP_BIND_FALSE, ABTOMP_BIND_TRUE, ABTOMP_BIND_PRIMARY, ABTOMP_BIND_CLOSE, ABTOMP_BIND_SPREAD };

enum {
    ABTOMP_MOST_LEVELS = 255,  /* active ones */
    ABTOMP_LISTED_LEVELS = 16, /* that a list in the environment has values for, beside the first */
    ABTOMP_FORMAT_LENGTH = 512 /* of OMP_AFFINITY_FORMAT, with its zero byte */
};

/* What each task has of its own. An implicit task begins with those of the task that met the region. */
struct abtomp_icvs {
    int num_threads;       /* nthreads-var: for the next region */
    int max_active_levels; /* max-active-levels-var */
    int thread_limit;      /* thread-limit-var */
    int default_device;    /* default-device-var */
    unsigned run_sched;    /* run-sched-var: the kind, */
    long run_chunk;        /* and its chunk, 0 if there is none */
    bool dynamic;          /* dyn-var */
    bool is_said;          /* whether the user has said num_threads: if not, roots share the processors */
    unsigned char bind;    /* bind-var */
    uintptr_t allocator;   /* def-allocator-var */
};

enum { ABTOMP_WAIT_UNSET, ABTOMP_WAIT_PASSIVE, ABTOMP_WAIT_ACTIVE };

/* Members of regions in regions: serial teams where the processors are used, threads, or serial teams. */
enum { ABTOMP_NESTED_AUTO, ABTOMP_NESTED_THREADS, ABTOMP_NESTED_SERIAL };

/* What the environment says for the whole program. Constant after abtomp_icv_start, but for what has a function. */
struct abtomp_env {
    struct abtomp_icvs icvs;                       /* of an initial task */
    bool is_llvm;                                  /* the program has asked for LLVM's or Intel's library */
    int num_procs;                                 /* processors that the program may use */
    int nested_threads[ABTOMP_LISTED_LEVELS];      /* what OMP_NUM_THREADS says for level 1 and deeper; 0: nothing */
    signed char nested_bind[ABTOMP_LISTED_LEVELS]; /* OMP_PROC_BIND, likewise; -1: nothing */
    size_t stack_size;                             /* of a member's thread; 0: that of the system */
    bool is_active;                                /* OMP_WAIT_POLICY=active */
    int tool;                                      /* 0: OMP_TOOL=disabled */
    bool shares;                                   /* roots share the processors: not ABT_OMP_SHARE=0 */
    int wait_policy;
    long long spin_count; /* polls of a wait; -1: as the policy has it */
    bool cancels;         /* OMP_CANCELLATION */
    bool displays_affinity;
    bool places_members; /* members are bound, or display where they are */
    int max_task_priority;
    int target_offload; /* 0: default, 1: mandatory, 2: disabled */
    int nested;         /* ABTOMP_NESTED_* */
    uint64_t
        serial_width; /* members of one member may be a serial team where this number of threads runs around them */
    int num_teams, teams_thread_limit; /* 0: nothing is said */
    char affinity_format[ABTOMP_FORMAT_LENGTH];
};

ABTOMP_LOCAL extern struct abtomp_env abtomp_env;

/*
 * Reads the environment. Called once, before all else. A value that is not understood is reported on stderr, and is
 * ignored.
 */
void abtomp_icv_start(void);

/* Prints the variables on stderr; is_verbose: those that are not of the standard, too. */
void abtomp_icv_display(bool is_verbose);

#endif

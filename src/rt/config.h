/* SPDX-License-Identifier: BSD-3-Clause */
/* The run-time settings: every environment variable with its default, clamp and rounding applied. */
#ifndef ABTI_RT_CONFIG_H
#define ABTI_RT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/parse.h"
#include "mem/chunk.h"
#include "mem/guard.h"

/* What becomes of misuse of the library that is found. */
enum abti_deadlock_check {
    ABTI_DEADLOCK_OFF,
    ABTI_DEADLOCK_ON,
    ABTI_DEADLOCK_ABORT,
    ABTI_DEADLOCK_CYCLES, /* only cycles are looked for: there may be wakers that the library does not know */
};

enum abti_check {
    ABTI_CHECK_OFF, /* it is not looked for */
    ABTI_CHECK_ON,  /* it is reported on stderr, and the function returns its error code */
    ABTI_CHECK_ABORT,
};

/*
 * A field for each variable of the table in rt/variables.c, which says what it is for, its default and its limits.
 *
 * Written by abti_config_load before anybody else can see it, read-only afterwards, except max_num_xstreams, which its
 * owner raises when more streams are made.
 */

struct abti_config {
    /* ABT_SET_AFFINITY */
    bool affinity;                  /* built in and not switched off */
    bool binds;                     /* streams are bound by default */
    struct abti_cpu_list *cpu_list; /* to what, if so; NULL: round robin over the CPUs allowed at init */
    /* ABT_NUMA */
    bool numa;                       /* the library looks at the nodes of the machine */
    struct abti_cpu_list *node_list; /* or takes those for its nodes; NULL: it asks the system */
    /* output */
    bool use_log;          /* ABT_USE_LOG: see rt/log.h */
    bool use_debug;        /* ABT_USE_DEBUG: ABT_info_query_config and the printed configuration tell it, no more */
    bool print_config;     /* ABT_PRINT_CONFIG */
    bool top;              /* ABT_TOP: see watch/top.h */
    bool print_raw_stack;  /* ABT_PRINT_RAW_STACK */
    enum abti_check check; /* ABT_CHECK */
    int dump_signal;       /* ABT_DUMP_SIGNAL: its number, 0: none */
    bool watch_waits;      /* with ABT_DEADLOCK_CHECK since when units wait, and the owners of mutexes, are kept */
    bool tool;             /* ABT_TOOL: ABT_tool_* can be used; false where they are not built in */
    char *trace;           /* ABT_TRACE: the file; NULL: none */
    bool stats;            /* ABT_STATS: printed at ABT_finalize */
    enum abti_deadlock_check deadlock_check; /* ABT_DEADLOCK_CHECK: see watch/deadlock.h */
    /* streams and schedulers */
    int max_num_xstreams;      /* ABT_MAX_NUM_XSTREAMS */
    uint32_t sched_event_freq; /* ABT_SCHED_EVENT_FREQ: INT_MAX at most */
    uint64_t sched_sleep_nsec; /* ABT_SCHED_SLEEP_NSEC */
    /* work units */
    uint32_t key_table_size; /* ABT_KEY_TABLE_SIZE: a power of two */
    /* stacks */
    enum abti_stack_guard stack_guard; /* ABT_STACK_OVERFLOW_CHECK */
    size_t thread_stacksize;           /* ABT_THREAD_STACKSIZE: a multiple of the cache line */
    size_t sched_stacksize;            /* ABT_SCHED_STACKSIZE: a multiple of the cache line */
    /* memory */
    size_t sys_page_size;            /* ABT_SYS_PAGE_SIZE: a power of two */
    size_t huge_page_size;           /* ABT_HUGE_PAGE_SIZE */
    size_t mem_page_size;            /* ABT_MEM_PAGE_SIZE: a power of two */
    size_t mem_stack_page_size;      /* ABT_MEM_STACK_PAGE_SIZE: a multiple of the cache line */
    uint32_t mem_max_num_stacks;     /* ABT_MEM_MAX_NUM_STACKS: even */
    uint32_t mem_max_num_descs;      /* ABT_MEM_MAX_NUM_DESCS: even */
    enum abti_lp_alloc mem_lp_alloc; /* ABT_MEM_LP_ALLOC */
};

/*
 * Reads the environment anew; `tells`: says on stderr what is not understood, is too large or has no effect in this
 * build, and what is used instead, once in a process. ABT_SUCCESS or ABT_ERR_MEM; after an error there is nothing to
 * undo.
 */
int abti_config_load(struct abti_config *config, bool tells) ABTI_MUST_CHECK;

/* Prints all variables with their values, defaults and help. */
void abti_config_print(FILE *fp, const struct abti_config *config);

/* Frees what abti_config_load allocated. */
void abti_config_fini(struct abti_config *config);

#endif

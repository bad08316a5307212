/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics: what each stream has done, and where the time went, counted by listening to events (rt/tool.h). Each
 * stream counts for itself, in memory that only its native thread writes; relaxed loads are enough to print it, as each
 * number is right by itself.
 */
#ifndef ABTI_WATCH_STATS_H
#define ABTI_WATCH_STATS_H

#include <abt.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/atomic.h"
#include "base/compiler.h"
#include "rt/config.h"

enum { ABTI_STATS_DEPTHS = 8, ABTI_STATS_FUNCTIONS = 512, ABTI_STATS_BUCKETS = 40 };

/* Of the units with one function. */
struct abti_function_stats {
    _Atomic(void (*)(void *)) func; /* NULL: a free place */
    _Atomic(uint64_t) units, ns;
};

struct abti_es_stats {
    int rank;
    _Atomic(uint64_t) units; /* that have ended */
    _Atomic(uint64_t) runs;  /* how often one got control */
    _Atomic(uint64_t) yields;
    _Atomic(uint64_t) waits; /* units that blocked */
    _Atomic(uint64_t) steals;
    _Atomic(uint64_t) sleeps; /* of the native thread, because it has no work */
    _Atomic(uint64_t) asleep_ns;
    _Atomic(uint64_t) busy_ns;                     /* in units */
    _Atomic(uint64_t) began_ns;                    /* the time since then, up to ended_ns, is what these are parts of */
    _Atomic(uint64_t) ended_ns;                    /* 0: it runs */
    _Atomic(uint64_t) wakeups[ABTI_STATS_BUCKETS]; /* [i]: took less than 2^i ns, and not less than half of that */
    struct abti_function_stats functions[ABTI_STATS_FUNCTIONS]; /* by the hash, then the next free place */
    _Atomic(uint64_t) parked_ns;                                /* 0: it does not sleep */
    /* Private. */
    struct {
        const void *unit; /* that runs at this depth; NULL: not known */
        uint64_t since_ns;
    } running[ABTI_STATS_DEPTHS];
};

/* As the environment says. */
void abti_stats_begin(void);

/* Prints, if the environment says so, and forgets everything. When no other stream is left. */
void abti_stats_fini(void);

void abti_stats_enable(bool on);

/* Of the stream with this index; NULL: nothing was counted. */
struct abti_es_stats *abti_stats_of(unsigned index);

/* ABT_SUCCESS or ABT_ERR_MEM. */
int abti_stats_print(FILE *fp, enum abti_stats_format format) ABTI_MUST_CHECK;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces: a file that shows on tracks of time what streams and units do.
 *
 *   trace.c        listens to events (rt/tool.h): each stream puts records into a ring of its own, in some nanoseconds;
 *                  a native thread takes them out a hundred times in a second, in the order of time
 *   unit.c         makes slices, arrows and counters of the records: what was a unit doing up to here?
 *   json.c         writes these, in blocks that end between two events, so that the file of a program that is killed
 *                  opens as well
 */
#ifndef ABTI_WATCH_TRACE_H
#define ABTI_WATCH_TRACE_H

#include <abt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/compiler.h"

/* The record of an event. */
struct abti_trace_record {
    uint64_t ticks;
    const void *unit;
    uintptr_t arg;    /* CREATE, REVIVE, RUN: the unit's function; SUSPEND, YIELD: the object; otherwise 0 */
    uint8_t event;    /* number of its bit */
    uint8_t reason;   /* SUSPEND, YIELD: enum ABT_sync_event_type */
    uint8_t is_sched; /* a scheduler's unit: 1 in a pool, 2 a main one */
    uint16_t es;      /* index of the stream; 0: another thread */
    int32_t pool;     /* id; -1: none */
    uint32_t number;  /* of those with the same ticks, when they are written */
};

/* As the environment says. */
void abti_trace_begin(void);

/* ABT code: INV_ARG, SYS, MEM, or ABT_SUCCESS. */
int abti_trace_start(const char *file) ABTI_MUST_CHECK;
void abti_trace_stop(void);

/* At ABT_finalize, when no other stream is left. */
void abti_trace_fini(void);

/* --- unit.c: all by the thread that writes --- */

/* False when there is no memory. */
bool abti_trace_units_init(void);
void abti_trace_units_fini(void);

/* Records in the order of time; `ns` is when, from the beginning of the trace. */
void abti_trace_unit_event(const struct abti_trace_record *record, uint64_t ns);

/* Counters are written now and then: up to here. */
void abti_trace_count(uint64_t ns);

/* Slices that last yet are cut off here. */
void abti_trace_end(uint64_t ns);

/* --- json.c --- */

/* The text in quotes, with what JSON wants to be quoted, and without characters that cannot be printed. */
void abti_json_string(FILE *fp, const char *text);

/* Tracks: streams have their index; units count on. */
enum abti_trace_group { ABTI_TRACE_STREAMS = 1, ABTI_TRACE_UNITS = 2 };

struct abti_trace_track {
    enum abti_trace_group group;
    unsigned number;
};

/* errno */
int abti_json_open(const char *file) ABTI_MUST_CHECK;
void abti_json_close(uint64_t dropped);

/* The text that has been written so far goes to the file. */
void abti_json_flush(void);

void abti_json_name(struct abti_trace_track track, const char *name, unsigned number);
/* `detail` and `value`: an argument for people; NULL: none. */
void abti_json_slice(struct abti_trace_track track, const char *name, uint64_t from_ns, uint64_t to_ns,
                     const char *detail, uint64_t value);
/* An arrow begins or ends in the slice that the track has at this time. */
void abti_json_arrow(struct abti_trace_track track, const char *name, uint64_t id, bool ends, uint64_t ns);
void abti_json_counter(const char *name, int number, const char *unit, double value, uint64_t ns);

#endif

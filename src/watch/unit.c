/* SPDX-License-Identifier: BSD-3-Clause */
/* What units and streams were doing, read from the records of a trace. */
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "rt/symbol.h"
#include "rt/rt.h"
#include "rt/tool.h"
#include "watch/trace.h"

enum { UNIT_BUCKETS = 1 << 14, NAMES = 1 << 10, TRACE_NAME_SIZE = 120, TRACE_POOLS = 4096 };

/* Of a unit that was there before the trace and has not run since. The primary ULT has NULL. */
#define NO_FUNC ((uintptr_t)1)

enum trace_state { UNKNOWN, CREATED, READY, RUNNING, BLOCKED, ENDED };

struct trace_unit {
    struct trace_unit *next;
    const void *unit;
    uintptr_t func;
    enum trace_state state;
    uint64_t since_ns;
    uint8_t reason;
    uintptr_t object; /* BLOCKED */
    int pool;         /* READY, CREATED: where it is counted; -1: nowhere */
    unsigned track;
    unsigned es;    /* RUNNING */
    uint64_t arrow; /* that ends where it runs next; 0: none */
    const char *arrow_name;
};

struct trace_stream {
    bool named;
    const struct trace_unit *cur; /* NULL: a scheduler */
    uint64_t parked_ns;           /* 0: it does not sleep */
    uint64_t asleep_ns;           /* since counted_ns */
};

struct trace_pool {
    int units;
    bool changed;
    uint64_t counted_ns;
};

static struct {
    struct trace_unit *units[UNIT_BUCKETS];
    struct trace_stream streams[ABTI_MAX_ES];
    struct trace_pool pools[TRACE_POOLS];
    struct {
        uintptr_t func;
        char text[TRACE_NAME_SIZE];
    } names[NAMES];
    unsigned num_tracks;
    uint64_t num_arrows;
    uint64_t counted_ns;
    unsigned num_streams; /* indices below that */
} * state;

bool abti_trace_units_init(void)
{
    state = calloc(1, sizeof(*state));
    return state != NULL;
}

void abti_trace_units_fini(void)
{
    for (unsigned i = 0; i < UNIT_BUCKETS; i++) {
        for (struct trace_unit *unit = state->units[i], *next; unit; unit = next) {
            next = unit->next;
            free(unit);
        }
    }
    free(state);
    state = NULL;
}

/* --- Names --- */

/* Nothing that would have to be escaped. */
static const char *name_of(uintptr_t func)
{
    unsigned at = (unsigned)(abti_hash(func) >> 32) % NAMES;
    if (!func)
        return "main";
    if (func == NO_FUNC)
        return "unit";
    if (state->names[at].func != func) {
        state->names[at].func = func;
        abti_symbol_text(state->names[at].text, TRACE_NAME_SIZE, (void *)func);
        for (char *c = state->names[at].text; *c; c++) {
            if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
                *c = '_';
        }
    }
    return state->names[at].text;
}

static const char *wait_name(uint8_t reason, bool has_object)
{
    switch (reason) {
    case ABT_SYNC_EVENT_TYPE_USER: return "waits to be resumed";
    case ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN:
    case ABT_SYNC_EVENT_TYPE_THREAD_JOIN: return "waits for a unit";
    case ABT_SYNC_EVENT_TYPE_MUTEX: return "waits for a mutex";
    case ABT_SYNC_EVENT_TYPE_COND: return "waits for a condition";
    case ABT_SYNC_EVENT_TYPE_RWLOCK: return "waits for a rwlock";
    case ABT_SYNC_EVENT_TYPE_EVENTUAL: return "waits for an eventual";
    case ABT_SYNC_EVENT_TYPE_FUTURE: return "waits for a future";
    case ABT_SYNC_EVENT_TYPE_BARRIER: return "waits for a barrier";
    case ABT_SYNC_EVENT_TYPE_OTHER: return has_object ? "waits for a word" : "waits";
    default: return "waits";
    }
}

static struct abti_trace_track track_of(const struct trace_unit *unit)
{
    return (struct abti_trace_track){ABTI_TRACE_UNITS, unit->track};
}

/* Of a stream by its index, 0: of all other threads. It gets its name when it is first seen. */
static struct abti_trace_track stream_track(unsigned es)
{
    struct abti_trace_track track = {ABTI_TRACE_STREAMS, es};
    if (!state->streams[es].named) {
        state->streams[es].named = true;
        abti_json_name(track, es ? "stream" : "native threads", es ? es - 1 : 0);
        if (es >= state->num_streams)
            state->num_streams = es + 1;
    }
    return track;
}

/* --- Units --- */

static struct trace_unit **find_unit(const void *unit)
{
    struct trace_unit **link = &state->units[(abti_hash((uintptr_t)unit) >> 32) % UNIT_BUCKETS];
    while (*link && (*link)->unit != unit)
        link = &(*link)->next;
    return link;
}

static void begin_life(struct trace_unit *unit, uintptr_t func)
{
    unit->func = func;
    unit->state = UNKNOWN;
    unit->pool = -1;
    unit->arrow = 0;
    unit->track = ++state->num_tracks;
    abti_json_name(track_of(unit), name_of(func), unit->track);
}

static bool has_func(const struct abti_trace_record *record)
{
    const int with_func = ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_REVIVE | ABT_TOOL_EVENT_THREAD_RUN;
    return 1 << record->event & with_func;
}

static struct trace_unit *find_or_add_unit(const struct abti_trace_record *record)
{
    struct trace_unit **link = find_unit(record->unit);
    if (!*link && (*link = calloc(1, sizeof(**link)))) {
        (*link)->unit = record->unit;
        begin_life(*link, has_func(record) ? record->arg : NO_FUNC);
    }
    return *link;
}

static void leave_pool(struct trace_unit *unit)
{
    if (unit->pool < 0)
        return;
    state->pools[unit->pool].units--;
    state->pools[unit->pool].changed = true;
    unit->pool = -1;
}

static void enter_pool(struct trace_unit *unit, int pool, uint64_t ns)
{
    enum { OFTEN_NS = 100000 };
    leave_pool(unit);
    if (pool < 0 || pool >= TRACE_POOLS)
        return;
    struct trace_pool *count = &state->pools[pool];
    unit->pool = pool;
    count->units++;
    count->changed = true;
    if (ns > count->counted_ns + OFTEN_NS) {
        abti_json_counter("ready units in pool", pool, "units", count->units, ns);
        count->counted_ns = ns;
        count->changed = false;
    }
}

/* The slice of what it has done up to now. */
static void end_slice(struct trace_unit *unit, uint64_t ns)
{
    switch (unit->state) {
    case CREATED: abti_json_slice(track_of(unit), "created", unit->since_ns, ns, NULL, 0); break;
    case READY: abti_json_slice(track_of(unit), "ready", unit->since_ns, ns, NULL, 0); break;
    case BLOCKED:
        abti_json_slice(track_of(unit), wait_name(unit->reason, unit->object != 0), unit->since_ns, ns,
                        unit->object ? "object" : NULL, unit->object);
        break;
    case RUNNING:
        abti_json_slice(track_of(unit), "runs", unit->since_ns, ns, "stream", unit->es - 1);
        abti_json_slice(stream_track(unit->es), name_of(unit->func), unit->since_ns, ns, "unit", (uintptr_t)unit->unit);
        if (state->streams[unit->es].cur == unit)
            state->streams[unit->es].cur = NULL;
        break;
    default: break;
    }
}

static void enter_state(struct trace_unit *unit, enum trace_state next, uint64_t ns)
{
    end_slice(unit, ns);
    unit->state = next;
    unit->since_ns = ns;
}

/* An arrow from what runs on the stream, or from a mark, since an arrow needs a slice to begin in. */
static void begin_arrow(struct trace_unit *unit, const char *name, unsigned es, uint64_t ns)
{
    enum { MARK_NS = 200 };
    struct abti_trace_track track = stream_track(es);
    if (es == 0 || !state->streams[es].cur)
        abti_json_slice(track, name, ns, ns + MARK_NS, NULL, 0);
    unit->arrow = ++state->num_arrows;
    unit->arrow_name = name;
    abti_json_arrow(track, name, unit->arrow, false, ns);
}

static void trace_run(struct trace_unit *unit, const struct abti_trace_record *record, uint64_t ns)
{
    leave_pool(unit);
    enter_state(unit, RUNNING, ns);
    if (unit->func == NO_FUNC) {
        unit->func = record->arg;
        abti_json_name(track_of(unit), name_of(unit->func), unit->track);
    }
    unit->es = record->es;
    state->streams[unit->es].cur = unit;
    if (unit->arrow)
        abti_json_arrow(stream_track(unit->es), unit->arrow_name, unit->arrow, true, ns);
    unit->arrow = 0;
}

/* How long the stream, which sleeps, has done so since the last count. */
static uint64_t asleep_until(const struct trace_stream *stream, uint64_t ns)
{
    uint64_t from = stream->parked_ns > state->counted_ns ? stream->parked_ns : state->counted_ns;
    return ns > from ? ns - from : 0;
}

static void main_sched_event(const struct abti_trace_record *record, uint64_t ns)
{
    struct trace_stream *stream = &state->streams[record->es];
    if (record->event == __builtin_ctz(ABTI_EVENT_PARK)) {
        stream->parked_ns = ns;
    } else if (record->event == __builtin_ctz(ABTI_EVENT_UNPARK) && stream->parked_ns) {
        abti_json_slice(stream_track(record->es), "asleep", stream->parked_ns, ns, NULL, 0);
        stream->asleep_ns += asleep_until(stream, ns);
        stream->parked_ns = 0;
    }
}

static void unit_event(struct trace_unit *unit, const struct abti_trace_record *record, uint64_t ns)
{
    switch (1 << record->event) {
    case ABT_TOOL_EVENT_THREAD_CREATE:
    case ABT_TOOL_EVENT_THREAD_REVIVE:
        if (unit->state != UNKNOWN)
            begin_life(unit, record->arg);
        enter_state(unit, CREATED, ns);
        enter_pool(unit, record->pool, ns);
        begin_arrow(unit, "create", record->es, ns);
        break;
    case ABT_TOOL_EVENT_THREAD_RUN: trace_run(unit, record, ns); break;
    case ABT_TOOL_EVENT_THREAD_YIELD:
        enter_state(unit, READY, ns);
        enter_pool(unit, record->pool, ns);
        break;
    case ABT_TOOL_EVENT_THREAD_SUSPEND:
        enter_state(unit, BLOCKED, ns);
        unit->reason = record->reason;
        unit->object = record->arg;
        break;
    case ABT_TOOL_EVENT_THREAD_RESUME:
        enter_state(unit, READY, ns);
        enter_pool(unit, record->pool, ns);
        begin_arrow(unit, "wake", record->es, ns);
        break;
    case ABT_TOOL_EVENT_THREAD_CANCEL:
    case ABT_TOOL_EVENT_THREAD_FINISH:
        leave_pool(unit);
        enter_state(unit, ENDED, ns);
        break;
    default: break;
    }
}

void abti_trace_unit_event(const struct abti_trace_record *record, uint64_t ns)
{
    if (record->is_sched == 2) {
        main_sched_event(record, ns);
        return;
    }
    if (1 << record->event == ABT_TOOL_EVENT_THREAD_FREE) {
        struct trace_unit **link = find_unit(record->unit), *unit = *link;
        if (unit) {
            leave_pool(unit);
            if (unit->state == RUNNING)
                enter_state(unit, ENDED, ns);
            *link = unit->next;
            free(unit);
        }
        return;
    }
    struct trace_unit *unit = find_or_add_unit(record);
    if (unit) /* without memory it is not seen */
        unit_event(unit, record, ns);
}

/* --- Counters --- */

void abti_trace_count(uint64_t ns)
{
    uint64_t window = ns > state->counted_ns ? ns - state->counted_ns : 0;
    if (window == 0)
        return;
    for (int i = 0; i < TRACE_POOLS; i++) {
        struct trace_pool *pool = &state->pools[i];
        if (pool->changed)
            abti_json_counter("ready units in pool", i, "units", pool->units, ns);
        pool->changed = false;
    }
    for (unsigned i = 1; i < state->num_streams; i++) {
        struct trace_stream *stream = &state->streams[i];
        uint64_t asleep = stream->asleep_ns;
        if (stream->parked_ns)
            asleep += asleep_until(stream, ns);
        if (stream->named)
            abti_json_counter("idle share of stream", (int)i - 1, "percent",
                              asleep < window ? 100.0 * (double)asleep / (double)window : 100.0, ns);
        stream->asleep_ns = 0;
    }
    state->counted_ns = ns;
}

void abti_trace_end(uint64_t ns)
{
    for (unsigned i = 1; i < state->num_streams; i++) {
        struct trace_stream *stream = &state->streams[i];
        if (stream->parked_ns)
            abti_json_slice(stream_track(i), "asleep", stream->parked_ns, ns, NULL, 0);
    }
    for (unsigned i = 0; i < UNIT_BUCKETS; i++) {
        for (struct trace_unit *unit = state->units[i]; unit; unit = unit->next)
            end_slice(unit, ns);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "arch/cpu.h"
#include "os/clock.h"
#include "run/observe.h"
#include "pool/pool.h"
#include "rt/rt.h"
#include "stream/helper.h"
#include "unit/unit.h"
#include "wait/native.h"

enum { RING = 1 << 15, WRITE_PERIOD_NS = 10000000, SETTLE_NS = 1000000 };

/* From one stream, or all other threads under a lock, to the thread that writes. */
struct trace_ring {
    _Atomic(uint64_t) head; /* records that were put in; stored by the producer with release */
    _Atomic(uint64_t) tail; /* and taken out; stored by the writer with release */
    _Atomic(uint64_t) dropped;
    _Atomic(bool) is_recording; /* from before the producer looks at the time until the record is in */
    uint64_t known;             /* the writer's: all records of earlier ticks have been put in */
    struct abti_trace_record records[RING];
};

/*
 * By the stream's index, [0]: of other threads. Stored once with release by the producer; they stay from one trace to
 * the next, and are freed in abti_trace_fini.
 */
static _Atomic(struct trace_ring *) rings[ABTI_MAX_ES];
static struct abti_spin others_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF);

static struct {
    pthread_mutex_t lock; /* of start and stop */
    bool on;              /* lock */
    bool has_rings;       /* lock: there may be some */
    pid_t pid;            /* lock: of the process that writes; the child of a fork() has no writer */
    pthread_t writer;
    _Atomic(bool) ends;
    uint64_t first_ticks, first_ns;  /* constant while the writer runs */
    double ns_per_tick;              /* the writer's */
    uint64_t last_ns;                /* the writer's: of the last event */
    _Atomic(uint64_t) lost;          /* records for which there was no memory */
    struct abti_trace_record *batch; /* the writer's */
    size_t num, room;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- Recording --- */

static struct trace_ring *ring_of(unsigned index)
{
    /* acquire and release: pair with each other and, in the thread that writes, with the acquire in write_records */
    struct trace_ring *ring = abti_load_acquire(&rings[index]);
    if (ABTI_LIKELY(ring != NULL))
        return ring;
    ring = calloc(1, sizeof(*ring));
    if (ring)
        abti_store_release(&rings[index], ring);
    return ring;
}

static void put_record(struct trace_ring *ring, const struct abti_trace_record *record)
{
    uint64_t head = abti_load_relaxed(&ring->head); /* relaxed: the producer's own */
    /* acquire: pairs with the release in take_records_out. The writer has read what was there */
    if (ABTI_UNLIKELY(head - abti_load_acquire(&ring->tail) == RING)) {
        abti_store_relaxed(&ring->dropped, abti_load_relaxed(&ring->dropped) + 1);
        return;
    }
    ring->records[head % RING] = *record;
    abti_store_release(&ring->head, head + 1); /* release: pairs with the acquire in take_records_out */
}

static uintptr_t arg_of(const abti_unit *unit, uint64_t event, ABT_tool_context context)
{
    const uint64_t with_func = ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_REVIVE | ABT_TOOL_EVENT_THREAD_RUN;
    return event & with_func ? (uintptr_t)unit->func : (uintptr_t)context->object;
}

static struct abti_trace_record make_record(ABT_thread unit, ABT_xstream es, uint64_t event, ABT_tool_context context)
{
    /* The unit may be gone when it has been joined, and is not looked at then. */
    unsigned flags = event & ABT_TOOL_EVENT_THREAD_JOIN ? 0 : unit->flags;
    return (struct abti_trace_record){
        .ticks = abti_cpu_ticks(),
        .unit = unit,
        .arg = event & ABT_TOOL_EVENT_THREAD_JOIN ? 0 : arg_of(unit, event, context),
        .event = (uint8_t)__builtin_ctzll(event),
        .reason = (uint8_t)context->reason,
        .is_sched = flags & ABTI_UNIT_MAIN_SCHED ? 2
                    : flags & ABTI_UNIT_SCHED    ? 1
                                                 : 0,
        .es = es && es == abti_es_self ? es->index : 0,
        .pool = context->pool ? context->pool->id : -1,
    };
}

/* The writer takes nothing out that is later than a record in the making: see find_known. */
static void record_in(unsigned index, ABT_thread unit, ABT_xstream es, uint64_t event, ABT_tool_context context)
{
    struct trace_ring *ring = ring_of(index);
    if (ABTI_UNLIKELY(!ring)) {
        abti_fetch_add_relaxed(&trace.lost, 1); /* relaxed: a count that orders nothing */
        return;
    }
    abti_store_relaxed(&ring->is_recording, true); /* relaxed: the writer sees it in less than SETTLE_NS */
    atomic_signal_fence(memory_order_seq_cst);     /* the compiler keeps it before the read of the time */
    struct abti_trace_record record = make_record(unit, es, event, context);
    put_record(ring, &record);
    abti_store_release(&ring->is_recording, false); /* release: pairs with the acquire in find_known */
}

static void record_event(ABT_thread unit, ABT_xstream es, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)arg;
    abti_es *self = abti_es_self;
    if (ABTI_LIKELY(self != NULL)) {
        record_in(self->index, unit, es, event, context);
        return;
    }
    abti_spin_lock(&others_lock);
    record_in(0, unit, es, event, context);
    abti_spin_unlock(&others_lock);
}

/* --- Writing --- */

static int by_ticks(const void *a_, const void *b_)
{
    const struct abti_trace_record *a = a_, *b = b_;
    uint64_t first = a->ticks != b->ticks ? a->ticks : a->number, second = a->ticks != b->ticks ? b->ticks : b->number;
    return (first > second) - (first < second);
}

/* Room for that number of entries more. */
static bool trace_has_room(uint64_t more)
{
    if (trace.num + more <= trace.room)
        return true;
    size_t room = 2 * (trace.num + (size_t)more);
    struct abti_trace_record *batch = realloc(trace.batch, room * sizeof(*batch));
    if (!batch)
        return false;
    trace.batch = batch;
    trace.room = room;
    return true;
}

/* What a stream has put in up to the time `until`. */
static void take_records_out(struct trace_ring *ring, uint64_t until)
{
    uint64_t head = abti_load_acquire(&ring->head); /* acquire: pairs with the release in put_record */
    uint64_t tail = abti_load_relaxed(&ring->tail); /* relaxed: the writer's own */
    bool keeps = trace_has_room(head - tail);
    for (; tail < head && ring->records[tail % RING].ticks <= until; tail++) {
        if (!keeps) {
            abti_fetch_add_relaxed(&trace.lost, 1);
            continue;
        }
        trace.batch[trace.num] = ring->records[tail % RING];
        trace.batch[trace.num].number = (uint32_t)trace.num;
        trace.num++;
    }
    abti_store_release(&ring->tail, tail); /* release: pairs with the acquire in put_record */
}

/* How long a tick takes is known the better the longer the trace is, and fixed when that is long enough. */
static void measure_ticks(uint64_t now_ns)
{
    enum { ENOUGH_NS = 100000000 };
    uint64_t ticks = abti_cpu_ticks() - trace.first_ticks, ns = now_ns - trace.first_ns;
    static uint64_t measured_ns;
    if (trace.ns_per_tick == 0.0)
        measured_ns = 0;
    if (measured_ns >= ENOUGH_NS || ticks == 0)
        return;
    measured_ns = ns;
    trace.ns_per_tick = (double)ns / (double)ticks;
}

static uint64_t ns_of(uint64_t ticks)
{
    return ticks > trace.first_ticks ? (uint64_t)((double)(ticks - trace.first_ticks) * trace.ns_per_tick) : 0;
}

/*
 * Later than the event before: ticks may be as long as several events take, and arrows mean the slice that begins at
 * their time.
 */
static uint64_t next_ns(uint64_t ticks)
{
    uint64_t ns = ns_of(ticks);
    trace.last_ns = ns > trace.last_ns ? ns : trace.last_ns + 1;
    return trace.last_ns;
}

/*
 * Until when all records of all streams are in, at the time `now`. A producer says that it records before it looks at
 * the time, and may be kept off its CPU then for as long as the system likes. Its store becomes visible in less than
 * SETTLE_NS. So where it is not seen to record, no earlier record than of that long ago can still come; and else none
 * that is earlier than what was known when it was last seen not to record.
 */
static uint64_t find_known(uint64_t now)
{
    uint64_t settle = trace.ns_per_tick > 0.0 ? (uint64_t)(SETTLE_NS / trace.ns_per_tick) : 0;
    uint64_t settled = now > settle ? now - settle : 0, until = settled;
    for (unsigned i = 0; i < ABTI_MAX_ES; i++) {
        struct trace_ring *ring = abti_load_acquire(&rings[i]); /* acquire: pairs with the release in ring_of */
        if (!ring)
            continue;
        /* acquire: pairs with the release in record_in. The records put in before are seen in take_records_out */
        if (!abti_load_acquire(&ring->is_recording))
            ring->known = settled;
        if (ring->known < until)
            until = ring->known;
    }
    return until;
}

/* Records are written when no stream can still put in an earlier one. */
static void write_records(bool all)
{
    uint64_t ticks = abti_cpu_ticks();
    measure_ticks(abti_clock_mono_ns());
    uint64_t until = all ? UINT64_MAX : find_known(ticks);
    trace.num = 0;
    for (unsigned i = 0; i < ABTI_MAX_ES; i++) {
        struct trace_ring *ring = abti_load_acquire(&rings[i]); /* acquire: pairs with the release in ring_of */
        if (ring)
            take_records_out(ring, until);
    }
    if (trace.num > 0)
        qsort(trace.batch, trace.num, sizeof(*trace.batch), by_ticks);
    for (size_t i = 0; i < trace.num; i++)
        abti_trace_unit_event(&trace.batch[i], next_ns(trace.batch[i].ticks));
    abti_trace_count(ns_of(all ? ticks : until));
    abti_json_flush();
}

static uint64_t count_dropped(void)
{
    uint64_t dropped = abti_load_relaxed(&trace.lost); /* relaxed: the producers have ended */
    for (unsigned i = 0; i < ABTI_MAX_ES; i++) {
        struct trace_ring *ring = abti_load_acquire(&rings[i]); /* acquire: pairs with the release in ring_of */
        dropped += ring ? abti_load_relaxed(&ring->dropped) : 0;
    }
    return dropped;
}

static void *write_trace(void *arg)
{
    (void)arg;
    while (!abti_load_acquire(&trace.ends)) { /* acquire: pairs with the release in abti_trace_stop */
        abti_pause(WRITE_PERIOD_NS);
        write_records(false);
    }
    write_records(true);
    abti_trace_end(next_ns(abti_cpu_ticks()));
    return NULL;
}

/* --- Beginning and end --- */

static const struct abti_tool trace_listener = {
    .callback = record_event,
    .events = (ABT_TOOL_EVENT_THREAD_ALL & ~(uint64_t)ABT_TOOL_EVENT_THREAD_JOIN) | ABTI_EVENT_PARK | ABTI_EVENT_UNPARK,
};

/* Records that were late for the last trace are no part of this one. */
static void clear_rings(void)
{
    for (unsigned i = 0; i < ABTI_MAX_ES; i++) {
        struct trace_ring *ring = abti_load_acquire(&rings[i]); /* acquire: pairs with the release in ring_of */
        if (!ring)
            continue;
        ring->known = trace.first_ticks;
        abti_store_relaxed(&ring->dropped, 0);                           /* relaxed, as nobody puts anything in */
        abti_store_release(&ring->tail, abti_load_acquire(&ring->head)); /* as in take_records_out */
    }
}

static int start_locked(const char *file)
{
    if (trace.on && trace.pid == getpid())
        return ABT_ERR_INV_ARG;
    if (!abti_trace_units_init())
        return ABT_ERR_MEM;
    int err = abti_json_open(file);
    trace.first_ns = abti_clock_mono_ns();
    trace.first_ticks = abti_cpu_ticks();
    trace.ns_per_tick = 0.0;
    trace.last_ns = 0;
    clear_rings();
    abti_store_relaxed(&trace.lost, 0);
    abti_store_relaxed(&trace.ends, false); /* relaxed: the thread is made after that */
    if (err == 0 && (err = abti_helper_start(&trace.writer, write_trace)) != 0)
        abti_json_close(0);
    if (err) {
        abti_trace_units_fini();
        errno = err; /* for abti_trace_begin */
        return err == ENOMEM ? ABT_ERR_MEM : ABT_ERR_SYS;
    }
    trace.on = true;
    trace.has_rings = true;
    trace.pid = getpid();
    return ABT_SUCCESS;
}

int abti_trace_start(const char *file)
{
    pthread_mutex_lock(&trace.lock);
    int code = start_locked(file);
    if (code == ABT_SUCCESS)
        abti_observe_listen(ABTI_LISTENER_TRACE, &trace_listener);
    pthread_mutex_unlock(&trace.lock);
    return code;
}

void abti_trace_begin(void)
{
    const char *file = abti_rt.config.trace;
    if (ABTI_BUILD_TOOL && file && *file && abti_trace_start(file) != ABT_SUCCESS)
        fprintf(stderr, "libabt: ABT_TRACE=%.200s cannot be written: %m\n", file);
}

static void finish_locked(void)
{
    abti_store_release(&trace.ends, true); /* release: pairs with the acquire in write_trace */
    pthread_join(trace.writer, NULL);
    uint64_t dropped = count_dropped();
    abti_json_close(dropped);
    abti_trace_units_fini();
    if (dropped > 0)
        fprintf(stderr, "libabt: %llu events are missing in the trace: there were too many at a time\n",
                (unsigned long long)dropped);
    free(trace.batch);
    trace.batch = NULL;
    trace.room = 0;
}

void abti_trace_stop(void)
{
    pthread_mutex_lock(&trace.lock);
    if (trace.on) {
        abti_observe_listen(ABTI_LISTENER_TRACE, NULL);
        if (trace.pid == getpid())
            finish_locked();
        trace.on = false;
    }
    pthread_mutex_unlock(&trace.lock);
}

void abti_trace_fini(void)
{
    abti_trace_stop();
    for (unsigned i = 0; i < ABTI_MAX_ES && trace.has_rings; i++) {
        free(abti_load_relaxed(&rings[i])); /* relaxed, here as below: no other thread is left */
        abti_store_relaxed(&rings[i], NULL);
    }
    trace.has_rings = false;
}

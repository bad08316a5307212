/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/topshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/assert.h"
#include "os/clock.h"
#include "run/observe.h"
#include "pool/pool.h"
#include "rt/rt.h"
#include "watch/trace.h"
#include "unit/unit.h"
#include "wait/native.h"
#include "watch/registry.h"

/* How many are reported. Of what there is more only the number is. */
enum { TOPSHOT_STREAMS = 1024, TOPSHOT_POOLS = 1024, TOPSHOT_BLOCKED = 256 };

/* What takes a time T is done anew after this many times T, so that it takes half a percent. */
enum { TOPSHOT_SPARE = 200 };

/* The time in which events are counted. */
enum { TOPSHOT_WINDOW_NS = 5 * 1000 * 1000 };

/* So long a stream may take to report events. One that takes longer runs long units, and has few. */
enum { TOPSHOT_PATIENCE_NS = 50 * 1000 * 1000 };

struct topshot_part {
    uint64_t due_ns; /* not anew before that */
};

static bool topshot_is_due(const struct topshot_part *part)
{
    return abti_clock_mono_ns() >= part->due_ns;
}

static void topshot_has_taken(struct topshot_part *part, uint64_t ns)
{
    part->due_ns = abti_clock_mono_ns() + TOPSHOT_SPARE * ns;
}

/* --- Rates --- */

enum { TOPSHOT_RUNS, TOPSHOT_ENDS, TOPSHOT_YIELDS, TOPSHOT_BLOCKS, TOPSHOT_STEALS, TOPSHOT_COUNTS };

/*
 * By the stream's index: what has happened on it in the window. Only its native thread adds. relaxed, everywhere: each
 * number is right by itself.
 */
static _Atomic(uint64_t) topshot_counts[ABTI_MAX_ES][TOPSHOT_COUNTS];

static struct topshot_part topshot_rates;
static double topshot_window_s;      /* the length of the window; 0: there was none */
static unsigned topshot_num_indices; /* streams had lower ones than this so far */

static void topshot_count_event(ABT_thread unit, ABT_xstream es, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)context;
    (void)arg;
    int what;
    switch (event) {
    case ABT_TOOL_EVENT_THREAD_RUN: what = TOPSHOT_RUNS; break;
    case ABT_TOOL_EVENT_THREAD_CANCEL:
    case ABT_TOOL_EVENT_THREAD_FINISH: what = TOPSHOT_ENDS; break;
    case ABT_TOOL_EVENT_THREAD_YIELD: what = TOPSHOT_YIELDS; break;
    case ABT_TOOL_EVENT_THREAD_SUSPEND: what = TOPSHOT_BLOCKS; break;
    case ABTI_EVENT_STEAL: what = TOPSHOT_STEALS; break;
    default: return;
    }
    if (!es || es != abti_es_self || unit->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED))
        return;
    abti_assert(es->index < ABTI_MAX_ES);
    _Atomic(uint64_t) *count = &topshot_counts[es->index][what];
    abti_store_relaxed(count, abti_load_relaxed(count) + 1);
}

static const struct abti_tool topshot_listener = {
    .callback = topshot_count_event,
    .events = ABT_TOOL_EVENT_THREAD_RUN | ABT_TOOL_EVENT_THREAD_FINISH | ABT_TOOL_EVENT_THREAD_CANCEL |
              ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_SUSPEND | ABTI_EVENT_STEAL,
};

static void topshot_forget_counts(void)
{
    abti_assert(topshot_num_indices <= ABTI_MAX_ES);
    for (unsigned i = 0; i < topshot_num_indices; i++) {
        for (int what = 0; what < TOPSHOT_COUNTS; what++)
            abti_store_relaxed(&topshot_counts[i][what], 0); /* relaxed: see above */
    }
    topshot_window_s = 0;
}

static void topshot_take_rates(void)
{
    if (!ABTI_BUILD_TOOL || !topshot_is_due(&topshot_rates))
        return;
    topshot_forget_counts();
    uint64_t begin = abti_clock_mono_ns();
    abti_observe_listen_for(ABTI_LISTENER_TOP, &topshot_listener, TOPSHOT_PATIENCE_NS);
    uint64_t opened = abti_clock_mono_ns();
    abti_pause(TOPSHOT_WINDOW_NS);
    uint64_t closed = abti_clock_mono_ns();
    abti_observe_listen(ABTI_LISTENER_TOP, NULL);
    abti_assert(begin <= opened && opened <= closed);
    topshot_window_s = (double)(closed - opened) / ABTI_NS_PER_SEC;
    topshot_has_taken(&topshot_rates, abti_clock_mono_ns() - begin);
}

/* --- Streams --- */

struct topshot_stream {
    int rank, task;
    unsigned index;
    bool ended, asleep, away;
    abti_unit *unit; /* that it runs. It may be gone */
};

static struct topshot_stream topshot_streams[TOPSHOT_STREAMS];

/* Returns how many there are. */
static int topshot_note_streams(void)
{
    int num = 0;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && num < TOPSHOT_STREAMS; es = es->next) {
        /* acquire: pairs with the release of TERMINATED in es_thread. relaxed: the others are racy reads */
        bool ended = abti_load_acquire(&es->state) == ABT_XSTREAM_STATE_TERMINATED;
        topshot_num_indices = es->index >= topshot_num_indices ? es->index + 1u : topshot_num_indices;
        topshot_streams[num++] = (struct topshot_stream){
            .rank = es->rank,
            .task = abti_load_relaxed(&es->own.task),
            .index = es->index,
            .ended = ended,
            .asleep = !ended && abti_sleeper_is_asleep(&es->sleeper),
            .away = abti_load_relaxed(&es->carried.is_away),
            .unit = ended ? NULL : abti_registry_peek(&es->cur),
        };
    }
    int all = abti_rt.num_xstreams;
    abti_spin_unlock(&abti_rt.lock);
    abti_assert(num == (all < TOPSHOT_STREAMS ? all : TOPSHOT_STREAMS));
    return all;
}

static void topshot_print_name(FILE *fp, abti_unit *unit)
{
    char name[ABTI_NAME_ROOM];
    struct abti_unit_note note;
    if (unit && abti_slab_has(&abti_rt.unit_slab, unit) && abti_registry_look(unit, &note))
        abti_json_string(fp, abti_registry_name(name, &note));
    else
        fputs("null", fp);
}

static void topshot_print_rates(FILE *fp, unsigned index)
{
    abti_assert(index < topshot_num_indices);
    static const char *const names[TOPSHOT_COUNTS] = {"runs", "ends", "yields", "blocks", "steals"};
    for (int what = 0; what < TOPSHOT_COUNTS && topshot_window_s > 0; what++)
        fprintf(fp, ", \"%s_per_s\": %.1f", names[what],
                (double)abti_load_relaxed(&topshot_counts[index][what]) / topshot_window_s);
}

static void topshot_print_streams(FILE *fp)
{
    int all = topshot_note_streams();
    fprintf(fp, "\"num_streams\": %d, \"streams\": [", all);
    for (int i = 0; i < all && i < TOPSHOT_STREAMS; i++) {
        const struct topshot_stream *s = &topshot_streams[i];
        fprintf(fp, "%s{\"rank\": %d, \"task\": %d, \"state\": \"%s\", \"carried\": %s, \"unit\": ", i > 0 ? ", " : "",
                s->rank, s->task,
                s->ended    ? "ended"
                : s->asleep ? "sleeps"
                            : "runs",
                s->away ? "true" : "false");
        topshot_print_name(fp, s->asleep ? NULL : s->unit);
        topshot_print_rates(fp, s->index);
        fputc('}', fp);
    }
    fputc(']', fp);
}

/* --- Units and pools --- */

struct topshot_pool {
    const abti_pool *pool;
    int id;
    const char *kind;
    size_t ready, blocked;
};

static struct {
    struct topshot_part part;
    char *text; /* as it was printed last */
    size_t size;
    FILE *fp; /* while it is printed */
    struct topshot_pool pools[TOPSHOT_POOLS];
    int num_pools;
    size_t states[ABT_THREAD_STATE_TERMINATED + 1], waits[ABTI_WAIT_OTHER + 1], listed;
} topshot_units;

static const char *topshot_pool_kind(const abti_pool *pool)
{
    return abti_pool_is_user(pool)            ? "user-defined"
           : pool->kind == ABT_POOL_RANDWS    ? "RANDWS"
           : pool->kind == ABT_POOL_FIFO_WAIT ? "FIFO_WAIT"
                                              : "FIFO";
}

static int topshot_by_address(const void *a_, const void *b_)
{
    const struct topshot_pool *a = a_, *b = b_;
    return ((uintptr_t)a->pool > (uintptr_t)b->pool) - ((uintptr_t)a->pool < (uintptr_t)b->pool);
}

static int topshot_by_id(const void *a_, const void *b_)
{
    const struct topshot_pool *a = a_, *b = b_;
    return (a->id > b->id) - (a->id < b->id);
}

static void topshot_note_pools(void)
{
    int num = 0;
    abti_spin_lock(&abti_rt.lock);
    for (abti_pool *pool = abti_rt.pools; pool && num < TOPSHOT_POOLS; pool = pool->next)
        topshot_units.pools[num++] =
            (struct topshot_pool){.pool = pool, .id = pool->id, .kind = topshot_pool_kind(pool)};
    abti_spin_unlock(&abti_rt.lock);
    topshot_units.num_pools = num;
    qsort(topshot_units.pools, (size_t)num, sizeof(topshot_units.pools[0]), topshot_by_address);
}

static void topshot_print_blocked(FILE *fp, const struct abti_unit_note *note)
{
    char name[ABTI_NAME_ROOM];
    abti_assert(note->state == ABT_THREAD_STATE_BLOCKED && topshot_units.listed < TOPSHOT_BLOCKED);
    fprintf(fp, "%s{\"unit\": \"%p\", \"name\": ", topshot_units.listed > 0 ? ", " : "", (void *)note->unit);
    abti_json_string(fp, abti_registry_name(name, note));
    fprintf(fp, ", \"pool\": %d, \"stream\": %d, \"waits_for\": ", note->pool_id, note->rank);
    abti_json_string(fp, abti_registry_wait_name(note->wait));
    if (note->object)
        fprintf(fp, ", \"object\": \"%p\"", note->object);
    if (note->owner) {
        fputs(", \"owner\": ", fp);
        topshot_print_name(fp, note->owner);
    }
    if (note->waited_ns > 0)
        fprintf(fp, ", \"waited_s\": %.3f", (double)note->waited_ns / ABTI_NS_PER_SEC);
    if (note->has_deadline)
        fprintf(fp, ", \"deadline_s\": %.6f", (double)note->deadline_ns / ABTI_NS_PER_SEC);
    fputc('}', fp);
    topshot_units.listed++;
}

static bool topshot_count_unit(const struct abti_unit_note *note, void *arg)
{
    const struct topshot_pool key = {.pool = note->pool};
    (void)arg;
    if (note->kind == ABTI_KIND_MAIN_SCHED)
        return true;
    abti_assert(topshot_units.fp && note->state <= ABT_THREAD_STATE_TERMINATED && note->wait <= ABTI_WAIT_OTHER);
    struct topshot_pool *pool = note->pool ? bsearch(&key, topshot_units.pools, (size_t)topshot_units.num_pools,
                                                     sizeof(key), topshot_by_address)
                                           : NULL;
    topshot_units.states[note->state]++;
    if (pool && note->state == ABT_THREAD_STATE_READY)
        pool->ready++;
    if (note->state != ABT_THREAD_STATE_BLOCKED)
        return true;
    topshot_units.waits[note->wait]++;
    if (pool)
        pool->blocked++;
    if (topshot_units.listed < TOPSHOT_BLOCKED)
        topshot_print_blocked(topshot_units.fp, note);
    return true;
}

static void topshot_print_pools(FILE *fp)
{
    qsort(topshot_units.pools, (size_t)topshot_units.num_pools, sizeof(topshot_units.pools[0]), topshot_by_id);
    fputs(", \"pools\": [", fp);
    for (int i = 0; i < topshot_units.num_pools; i++) {
        const struct topshot_pool *pool = &topshot_units.pools[i];
        fprintf(fp, "%s{\"id\": %d, \"kind\": \"%s\", \"ready\": %zu, \"blocked\": %zu}", i > 0 ? ", " : "", pool->id,
                pool->kind, pool->ready, pool->blocked);
    }
    fputs("], \"waits\": {", fp);
    const char *comma = "";
    for (int wait = 0; wait <= ABTI_WAIT_OTHER; wait++) {
        if (topshot_units.waits[wait] == 0)
            continue;
        fprintf(fp, "%s\"%s\": %zu", comma, abti_registry_wait_name((enum abti_wait_kind)wait),
                topshot_units.waits[wait]);
        comma = ", ";
    }
    fputc('}', fp);
}

static void topshot_print_units(FILE *fp)
{
    topshot_note_pools();
    topshot_units.listed = 0;
    memset(topshot_units.states, 0, sizeof(topshot_units.states));
    memset(topshot_units.waits, 0, sizeof(topshot_units.waits));
    topshot_units.fp = fp;
    fputs("\"blocked\": [", fp);
    abti_registry_walk(topshot_count_unit, NULL);
    fprintf(fp, "], \"units\": {\"ready\": %zu, \"running\": %zu, \"blocked\": %zu, \"terminated\": %zu}",
            topshot_units.states[ABT_THREAD_STATE_READY], topshot_units.states[ABT_THREAD_STATE_RUNNING],
            topshot_units.states[ABT_THREAD_STATE_BLOCKED], topshot_units.states[ABT_THREAD_STATE_TERMINATED]);
    topshot_print_pools(fp);
}

/* The calling thread's time on a processor. */
static uint64_t topshot_used_ns(void)
{
    struct timespec used = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * ABTI_NS_PER_SEC + (uint64_t)used.tv_nsec;
}

/* Without memory the text stays the old one. */
static void topshot_take_units(void)
{
    if (topshot_units.text && !topshot_is_due(&topshot_units.part))
        return;
    char *text = NULL;
    size_t size = 0;
    uint64_t begin = topshot_used_ns();
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        return;
    topshot_print_units(fp);
    bool whole = !ferror(fp);
    whole = fclose(fp) == 0 && whole;
    abti_assert(!whole || size > 0);
    if (whole) {
        free(topshot_units.text);
        topshot_units.text = text;
        topshot_units.size = size;
    } else {
        free(text);
    }
    topshot_has_taken(&topshot_units.part, topshot_used_ns() - begin);
}

/* --- All of it --- */

void abti_topshot_print(FILE *fp)
{
    topshot_take_rates();
    topshot_take_units();
    fprintf(fp, "{\"libabt\": \"%s\", \"pid\": %ld, \"time_s\": %.6f, \"window_s\": %.6f, ", ABTX_VERSION,
            (long)getpid(), (double)abti_clock_mono_ns() / ABTI_NS_PER_SEC, topshot_window_s);
    topshot_print_streams(fp);
    if (topshot_units.text) {
        fputs(", ", fp);
        fwrite(topshot_units.text, 1, topshot_units.size, fp);
    }
    fputs("}\n", fp);
}

void abti_topshot_forget(void)
{
    free(topshot_units.text);
    topshot_units.text = NULL;
    topshot_units.part = topshot_rates = (struct topshot_part){0};
    topshot_forget_counts();
}

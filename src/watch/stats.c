/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/hash.h"
#include "os/clock.h"
#include "run/observe.h"
#include "rt/rt.h"
#include "unit/unit.h"

enum { STATS_DEPTHS = 8, STATS_BUCKETS = 40, WOKEN = 1 << 14 };

struct es_stats {
    int rank;
    _Atomic(uint64_t) units; /* that have ended */
    _Atomic(uint64_t) runs;  /* how often one got control */
    _Atomic(uint64_t) yields;
    _Atomic(uint64_t) waits; /* units that blocked */
    _Atomic(uint64_t) steals;
    _Atomic(uint64_t) sleeps; /* of the native thread, because it has no work */
    _Atomic(uint64_t) asleep_ns;
    _Atomic(uint64_t) busy_ns;                /* in units */
    _Atomic(uint64_t) began_ns;               /* the time since then, up to ended_ns, is what these are parts of */
    _Atomic(uint64_t) ended_ns;               /* 0: it runs */
    _Atomic(uint64_t) wakeups[STATS_BUCKETS]; /* [i]: took less than 2^i ns, and not less than half of that */
    _Atomic(uint64_t) parked_ns;              /* 0: it does not sleep */
    /* Private. */
    struct {
        const void *unit; /* that runs at this depth; NULL: not known */
        uint64_t since_ns;
    } running[STATS_DEPTHS];
};

/* relaxed, everywhere: what is counted orders nothing, and each number is right by itself. */

/* Something was, since ABT_init. Otherwise the memory below has not been touched, nor will be. */
static _Atomic(bool) counted;

/* By the stream's index: stored once by its thread, with release; found with acquire. They go in abti_stats_fini. */
static _Atomic(struct es_stats *) stats_of[ABTI_MAX_ES];

/*
 * When units were woken, by their hash: of two with the same the first is forgotten. The time goes with the unit, which
 * the push publishes.
 */
static struct {
    _Atomic(uintptr_t) unit;
    _Atomic(uint64_t) ns;
} woken[WOKEN];

/* The stream's own thread only: no other writes the number. */
static void add_to(_Atomic(uint64_t) *count, uint64_t more)
{
    abti_store_relaxed(count, abti_load_relaxed(count) + more);
}

static struct es_stats *stats_at(unsigned index)
{
    return abti_load_acquire(&stats_of[index]); /* acquire: pairs with the release in own_stats */
}

static struct es_stats *own_stats(abti_es *es)
{
    struct es_stats *stats = stats_at(es->index);
    if (stats || !(stats = calloc(1, sizeof(*stats))))
        return stats; /* without memory nothing is counted */
    stats->rank = abti_plain_load_relaxed(&es->rank);
    stats->began_ns = abti_clock_mono_ns();
    abti_store_release(&stats_of[es->index], stats); /* release: pairs with the acquire in stats_at */
    return stats;
}

/* --- Units --- */

static void note_woken(abti_unit *unit)
{
    unsigned at = (unsigned)(abti_hash((uintptr_t)unit) >> 32) % WOKEN;
    abti_store_relaxed(&woken[at].ns, abti_clock_mono_ns());
    abti_store_relaxed(&woken[at].unit, (uintptr_t)unit);
}

static void count_wakeup(struct es_stats *stats, abti_unit *unit, uint64_t now)
{
    unsigned at = (unsigned)(abti_hash((uintptr_t)unit) >> 32) % WOKEN, bucket = 0;
    if (abti_load_relaxed(&woken[at].unit) != (uintptr_t)unit)
        return;
    uint64_t ns = now - abti_load_relaxed(&woken[at].ns);
    abti_store_relaxed(&woken[at].unit, 0);
    while (bucket < STATS_BUCKETS - 1 && ns >> bucket)
        bucket++;
    add_to(&stats->wakeups[bucket], 1);
}

/* Schedulers' time is that of the units which they run. */
static bool is_sched(const abti_unit *unit)
{
    return unit->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED);
}

static void count_run(struct es_stats *stats, abti_unit *unit, int depth)
{
    uint64_t now = abti_clock_mono_ns();
    if (unit->flags & ABTI_UNIT_MAIN_SCHED) {
        uint64_t ended = abti_load_relaxed(&stats->ended_ns);
        add_to(&stats->began_ns, ended ? now - ended : 0); /* it is revived */
        abti_store_relaxed(&stats->ended_ns, 0);
    }
    if (is_sched(unit))
        return;
    add_to(&stats->runs, 1);
    count_wakeup(stats, unit, now);
    if (depth < STATS_DEPTHS) {
        stats->running[depth].unit = unit;
        stats->running[depth].since_ns = now;
    }
}

static void count_stop(struct es_stats *stats, abti_unit *unit, int depth, bool ends)
{
    uint64_t now = abti_clock_mono_ns();
    if (unit->flags & ABTI_UNIT_MAIN_SCHED && ends)
        abti_store_relaxed(&stats->ended_ns, now);
    if (is_sched(unit))
        return;
    if (depth < STATS_DEPTHS && stats->running[depth].unit == unit) {
        stats->running[depth].unit = NULL;
        add_to(&stats->busy_ns, now - stats->running[depth].since_ns);
    }
    add_to(&stats->units, ends);
}

static void count_sleep(struct es_stats *stats)
{
    uint64_t since = abti_load_relaxed(&stats->parked_ns);
    abti_store_relaxed(&stats->parked_ns, 0);
    add_to(&stats->asleep_ns, since ? abti_clock_mono_ns() - since : 0);
}

static void count_event(ABT_thread unit, ABT_xstream es, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)arg;
    if (event == ABT_TOOL_EVENT_THREAD_RESUME)
        note_woken(unit);
    struct es_stats *stats = es && es == abti_es_self ? own_stats(es) : NULL;
    if (!stats)
        return;
    switch (event) {
    case ABT_TOOL_EVENT_THREAD_RUN: count_run(stats, unit, context->depth); break;
    case ABT_TOOL_EVENT_THREAD_CANCEL:
    case ABT_TOOL_EVENT_THREAD_FINISH: count_stop(stats, unit, context->depth, true); break;
    case ABT_TOOL_EVENT_THREAD_YIELD:
        add_to(&stats->yields, !is_sched(unit));
        count_stop(stats, unit, context->depth, false);
        break;
    case ABT_TOOL_EVENT_THREAD_SUSPEND:
        add_to(&stats->waits, !is_sched(unit));
        count_stop(stats, unit, context->depth, false);
        break;
    case ABTI_EVENT_STEAL: add_to(&stats->steals, 1); break;
    case ABTI_EVENT_PARK:
        add_to(&stats->sleeps, 1);
        abti_store_relaxed(&stats->parked_ns, abti_clock_mono_ns());
        break;
    case ABTI_EVENT_UNPARK: count_sleep(stats); break;
    default: break;
    }
}

/* --- Printing --- */

static uint64_t elapsed_ns(struct es_stats *stats)
{
    uint64_t end = abti_load_relaxed(&stats->ended_ns), begin = abti_load_relaxed(&stats->began_ns);
    end = end ? end : abti_clock_mono_ns();
    return end > begin ? end - begin : 1;
}

/* With the sleep that lasts. */
static uint64_t asleep_ns(struct es_stats *stats)
{
    uint64_t since = abti_load_relaxed(&stats->parked_ns), now = abti_clock_mono_ns();
    return abti_load_relaxed(&stats->asleep_ns) + (since && now > since ? now - since : 0);
}

static double share_of(uint64_t part, uint64_t whole)
{
    return part < whole ? (double)part / (double)whole : 1.0;
}

static void print_stream(FILE *fp, struct es_stats *stats)
{
    uint64_t all = elapsed_ns(stats);
    fprintf(fp,
            "stream %d: %" PRIu64 " units, %" PRIu64 " runs, %" PRIu64 " yields, %" PRIu64 " waits, %" PRIu64
            " steals, %" PRIu64 " sleeps, %.1f %% in units, %.1f %% asleep\n",
            stats->rank, abti_load_relaxed(&stats->units), abti_load_relaxed(&stats->runs),
            abti_load_relaxed(&stats->yields), abti_load_relaxed(&stats->waits), abti_load_relaxed(&stats->steals),
            abti_load_relaxed(&stats->sleeps), 100 * share_of(abti_load_relaxed(&stats->busy_ns), all),
            100 * share_of(asleep_ns(stats), all));
    for (unsigned i = 0; i < STATS_BUCKETS; i++) {
        if (abti_load_relaxed(&stats->wakeups[i]) > 0)
            fprintf(fp, "  woken ULTs that ran within %" PRIu64 " ns: %" PRIu64 "\n", UINT64_C(1) << i,
                    abti_load_relaxed(&stats->wakeups[i]));
    }
}

void abti_stats_print(FILE *fp)
{
    struct es_stats *stats;
    fprintf(fp, "libabt: statistics\n");
    for (unsigned i = 0; i < ABTI_MAX_ES; i++) {
        if ((stats = stats_at(i)))
            print_stream(fp, stats);
    }
    fflush(fp);
}

/* --- Beginning and end --- */

static const struct abti_tool stats_listener = {
    .callback = count_event,
    .events = ABT_TOOL_EVENT_THREAD_RUN | ABT_TOOL_EVENT_THREAD_FINISH | ABT_TOOL_EVENT_THREAD_CANCEL |
              ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_SUSPEND | ABT_TOOL_EVENT_THREAD_RESUME |
              ABTI_EVENT_PARK | ABTI_EVENT_UNPARK | ABTI_EVENT_STEAL,
};

/* The time in which nothing is counted does not count. Of a stream that has just begun or ended some may be lost. */
static void set_clocks(bool run)
{
    uint64_t now = abti_clock_mono_ns();
    for (unsigned i = 0; i < ABTI_MAX_ES; i++) {
        struct es_stats *stats = stats_at(i);
        uint64_t ended = stats ? abti_load_relaxed(&stats->ended_ns) : 0;
        if (stats && run && ended) {
            add_to(&stats->began_ns, now - ended);
            abti_store_relaxed(&stats->ended_ns, 0);
        } else if (stats && !run && !ended) {
            count_sleep(stats);
            abti_store_relaxed(&stats->ended_ns, now);
        }
    }
}

void abti_stats_enable(bool on)
{
    if (on)
        set_clocks(true);
    abti_store_relaxed(&counted, true); /* relaxed: ABT_finalize comes after */
    abti_observe_listen(ABTI_LISTENER_STATS, on ? &stats_listener : NULL);
    if (!on)
        set_clocks(false);
}

void abti_stats_begin(void)
{
    if (ABTI_BUILD_TOOL && abti_rt.config.stats)
        abti_stats_enable(true);
}

void abti_stats_fini(void)
{
    if (!abti_load_relaxed(&counted)) /* relaxed, as all here: no other thread is left */
        return;
    abti_observe_listen(ABTI_LISTENER_STATS, NULL);
    if (abti_rt.config.stats)
        abti_stats_print(stderr);
    for (unsigned i = 0; i < ABTI_MAX_ES; i++) {
        free(stats_at(i));
        abti_store_relaxed(&stats_of[i], NULL);
    }
    abti_store_relaxed(&counted, false);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing of statistics. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "os/symbol.h"
#include "os/clock.h"
#include "rt/rt.h"
#include "watch/stats.h"
#include "watch/trace.h"

enum { STATS_NAME_SIZE = 160 };

/* A function over all streams. */
struct stats_line {
    void (*func)(void *);
    uint64_t units, ns;
};

struct stats_lines {
    struct stats_line *line;
    size_t num, room;
};

/* Numbers are stored one by one: relaxed, each is right by itself. */
static uint64_t print_number(_Atomic(uint64_t) *count)
{
    return abti_load_relaxed(count);
}

static uint64_t elapsed_ns(struct abti_es_stats *stats)
{
    uint64_t end = print_number(&stats->ended_ns), begin = print_number(&stats->began_ns);
    end = end ? end : abti_clock_mono_ns();
    return end > begin ? end - begin : 1;
}

/* With the sleep that lasts. */
static uint64_t asleep_ns(struct abti_es_stats *stats)
{
    uint64_t since = print_number(&stats->parked_ns), now = abti_clock_mono_ns();
    return print_number(&stats->asleep_ns) + (since && now > since ? now - since : 0);
}

static double share_of(uint64_t part, uint64_t whole)
{
    return part < whole ? (double)part / (double)whole : 1.0;
}

/* --- Functions --- */

static int by_func(const void *a_, const void *b_)
{
    const struct stats_line *a = a_, *b = b_;
    return ((uintptr_t)a->func > (uintptr_t)b->func) - ((uintptr_t)a->func < (uintptr_t)b->func);
}

static int by_time(const void *a_, const void *b_)
{
    const struct stats_line *a = a_, *b = b_;
    return (a->ns < b->ns) - (a->ns > b->ns);
}

/* The functions of a stream, one after the other. */
static bool append_functions(struct stats_lines *lines, struct abti_es_stats *stats)
{
    if (lines->num + ABTI_STATS_FUNCTIONS > lines->room) {
        size_t room = 2 * lines->room + ABTI_STATS_FUNCTIONS;
        struct stats_line *line = realloc(lines->line, room * sizeof(*line));
        if (!line)
            return false;
        lines->line = line;
        lines->room = room;
    }
    for (unsigned i = 0; i < ABTI_STATS_FUNCTIONS; i++) {
        struct abti_function_stats *function = &stats->functions[i];
        /* acquire: pairs with the release in count_function */
        void (*func)(void *) = abti_load_acquire(&function->func);
        if (func)
            lines->line[lines->num++] =
                (struct stats_line){func, print_number(&function->units), print_number(&function->ns)};
    }
    return true;
}

/* Each function once. */
static void merge_functions(struct stats_lines *lines)
{
    size_t num = 0;
    if (lines->num > 0)
        qsort(lines->line, lines->num, sizeof(*lines->line), by_func);
    for (size_t i = 0; i < lines->num; i++) {
        if (num > 0 && lines->line[num - 1].func == lines->line[i].func) {
            lines->line[num - 1].units += lines->line[i].units;
            lines->line[num - 1].ns += lines->line[i].ns;
        } else {
            lines->line[num++] = lines->line[i];
        }
    }
    lines->num = num;
    if (num > 0)
        qsort(lines->line, num, sizeof(*lines->line), by_time);
}

/* --- Text --- */

static void print_stream(FILE *fp, struct abti_es_stats *stats)
{
    uint64_t all = elapsed_ns(stats);
    fprintf(fp,
            "stream %d: %" PRIu64 " units, %" PRIu64 " runs, %" PRIu64 " yields, %" PRIu64 " waits, %" PRIu64
            " steals, %" PRIu64 " sleeps, %.1f %% in units, %.1f %% asleep\n",
            stats->rank, print_number(&stats->units), print_number(&stats->runs), print_number(&stats->yields),
            print_number(&stats->waits), print_number(&stats->steals), print_number(&stats->sleeps),
            100 * share_of(print_number(&stats->busy_ns), all), 100 * share_of(asleep_ns(stats), all));
    for (unsigned i = 0; i < ABTI_STATS_BUCKETS; i++) {
        if (print_number(&stats->wakeups[i]) > 0)
            fprintf(fp, "  woken ULTs that ran within %" PRIu64 " ns: %" PRIu64 "\n", UINT64_C(1) << i,
                    print_number(&stats->wakeups[i]));
    }
}

static void print_function_line(FILE *fp, const struct stats_line *line)
{
    char name[STATS_NAME_SIZE];
    fprintf(fp, "function %s: %" PRIu64 " units, %.6f s\n", abti_symbol_text(name, sizeof(name), (void *)line->func),
            line->units, (double)line->ns / ABTI_NS_PER_SEC);
}

/* --- JSON --- */

static void json_stream(FILE *fp, struct abti_es_stats *stats)
{
    uint64_t all = elapsed_ns(stats);
    fprintf(fp,
            "{\"rank\": %d, \"seconds\": %.9f, \"units\": %" PRIu64 ", \"runs\": %" PRIu64 ", \"yields\": %" PRIu64
            ", \"waits\": %" PRIu64 ", \"steals\": %" PRIu64 ", \"sleeps\": %" PRIu64
            ", \"in_units\": %.6f, \"asleep\": %.6f, \"wakeups_below_2_to_the_ns\": [",
            stats->rank, (double)all / ABTI_NS_PER_SEC, print_number(&stats->units), print_number(&stats->runs),
            print_number(&stats->yields), print_number(&stats->waits), print_number(&stats->steals),
            print_number(&stats->sleeps), share_of(print_number(&stats->busy_ns), all),
            share_of(asleep_ns(stats), all));
    for (unsigned i = 0; i < ABTI_STATS_BUCKETS; i++)
        fprintf(fp, "%s%" PRIu64, i > 0 ? ", " : "", print_number(&stats->wakeups[i]));
    fprintf(fp, "]}");
}

static void json_function(FILE *fp, const struct stats_line *line)
{
    char name[STATS_NAME_SIZE];
    fprintf(fp, "{\"name\": ");
    abti_json_string(fp, abti_symbol_text(name, sizeof(name), (void *)line->func));
    fprintf(fp, ", \"units\": %" PRIu64 ", \"seconds\": %.9f}", line->units, (double)line->ns / ABTI_NS_PER_SEC);
}

/* --- All of it --- */

static void print_text(FILE *fp, const struct stats_lines *lines)
{
    struct abti_es_stats *stats;
    fprintf(fp, "libabt: statistics\n");
    for (unsigned i = 0; i < ABTI_MAX_ES; i++) {
        if ((stats = abti_stats_of(i)))
            print_stream(fp, stats);
    }
    for (size_t i = 0; i < lines->num; i++)
        print_function_line(fp, &lines->line[i]);
}

static void print_json(FILE *fp, const struct stats_lines *lines)
{
    struct abti_es_stats *stats;
    const char *comma = "";
    fprintf(fp, "{\"streams\": [");
    for (unsigned i = 0; i < ABTI_MAX_ES; i++) {
        if (!(stats = abti_stats_of(i)))
            continue;
        fputs(comma, fp);
        json_stream(fp, stats);
        comma = ",\n";
    }
    fprintf(fp, "],\n\"functions\": [");
    for (size_t i = 0; i < lines->num; i++) {
        fputs(i > 0 ? ",\n" : "", fp);
        json_function(fp, &lines->line[i]);
    }
    fprintf(fp, "]}\n");
}

int abti_stats_print(FILE *fp, enum abti_stats_format format)
{
    struct stats_lines lines = {0};
    for (unsigned i = 0; i < ABTI_MAX_ES; i++) {
        struct abti_es_stats *stats = abti_stats_of(i);
        if (stats && !append_functions(&lines, stats)) {
            free(lines.line);
            return ABT_ERR_MEM;
        }
    }
    merge_functions(&lines);
    if (format == ABTI_STATS_JSON)
        print_json(fp, &lines);
    else
        print_text(fp, &lines);
    free(lines.line);
    fflush(fp);
    return ABT_SUCCESS;
}

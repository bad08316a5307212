/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_stats_*, ABT_STATS: what is counted, and that it is printed as text and as JSON. */
#include <unistd.h>

#include "text.h"

enum { UNITS = 40, YIELDS = 3 };

static ABT_xstream other;
static ABT_pool pools[2];

/* Not static: it is found by its name. */
void stats_yields(void *arg);
void stats_waits(void *arg);

void stats_yields(void *arg)
{
    (void)arg;
    for (int i = 0; i < YIELDS; i++)
        must(ABT_self_yield());
}

void stats_waits(void *eventual)
{
    must(ABT_eventual_wait(eventual, NULL));
}

static void do_all(void)
{
    ABT_thread threads[UNITS];
    ABT_eventual eventual;

    must(ABT_eventual_create(0, &eventual));
    for (int i = 0; i < UNITS; i++) {
        bool waits = i >= UNITS / 2;
        must(ABT_thread_create(pools[i % 2], waits ? stats_waits : stats_yields, waits ? eventual : NULL,
                               ABT_THREAD_ATTR_NULL, &threads[i]));
    }
    must(ABT_thread_free_many(UNITS / 2, threads));
    must(ABT_eventual_set(eventual, NULL, 0));
    must(ABT_thread_free_many(UNITS / 2, threads + UNITS / 2));
    must(ABT_eventual_free(&eventual));
}

static void begin(void)
{
    must(ABT_init(0, NULL));
    must(ABT_xstream_create(ABT_SCHED_NULL, &other));
    must(ABT_xstream_get_main_pools(other, 1, &pools[1]));
    pools[0] = own_pool();
}

static void end(void)
{
    must(ABT_xstream_free(&other));
    must(ABT_finalize());
}

/* Asks python about the JSON in a file. */
static bool python_says(const char *path, const char *condition)
{
    char command[2000];

    snprintf(
        command, sizeof(command),
        "python3 -c 'import json, sys\nd = json.load(open(\"%s\"))\nf = {x[\"name\"]: x for x in d[\"functions\"]}\n"
        "s = d[\"streams\"]\nsys.exit(0 if (%s) else 1)'",
        path, condition);
    return system(command) == 0;
}

static const char *const conditions[] = {
    "len(s) == 2 and sorted(x[\"rank\"] for x in s) == [0, 1]",
    "f[\"stats_yields\"][\"units\"] == 20 and f[\"stats_waits\"][\"units\"] == 20",
    "f[\"stats_yields\"][\"seconds\"] > 0",
    "sum(x[\"units\"] for x in s) == 40",
    "sum(x[\"yields\"] for x in s) >= 60",
    "sum(x[\"waits\"] for x in s) >= 20",
    "sum(x[\"runs\"] for x in s) >= 20 + 60 + 20",
    "sum(sum(x[\"wakeups_below_2_to_the_ns\"]) for x in s) > 0",
    "all(0 <= x[\"in_units\"] <= 1 and 0 <= x[\"asleep\"] <= 1 for x in s)",
};
enum { NUM_CONDITIONS = sizeof(conditions) / sizeof(conditions[0]) };

static void test_json(void)
{
    char path[] = "/tmp/abt-stats-XXXXXX";
    int fd = mkstemp(path);
    FILE *fp = fdopen(fd, "w");

    if (!fp)
        bail_out("no file");
    ok_abt(ABTX_stats_print(fp, ABTX_STATS_JSON));
    fclose(fp);
    if (system("python3 -c 'import json' 2> /dev/null") != 0)
        skip(NUM_CONDITIONS, "there is no python3");
    else
        for (int i = 0; i < NUM_CONDITIONS; i++)
            ok(python_says(path, conditions[i]), "%s", conditions[i]);
    unlink(path);
}

static void test_text(void)
{
    struct text text;

    text_open(&text);
    prints(text, ABTX_stats_print(text.fp, ABTX_STATS_TEXT));
    is_int(count_in(&text, "stream "), 2, "two streams");
    is_int(count_in(&text, "function stats_yields: 20 units"), 1, "a function by its name");
    is_int(count_in(&text, "function stats_waits: 20 units"), 1, "another one");
    text_close(&text);
}

static void test_counts(void)
{
    begin();
    ok_abt(ABTX_stats_enable(ABT_TRUE));
    do_all();
    ok_abt(ABTX_stats_enable(ABT_FALSE));
    do_all();
    test_text();
    test_json();
    if (!ABT_NULL)
        ok_err(ABTX_stats_print(stderr, (ABTX_stats_format)2), ABT_ERR_INV_ARG);
    end();
    if (!ABT_NULL) {
        ok_err(ABTX_stats_enable(ABT_TRUE), ABT_ERR_UNINITIALIZED);
        ok_err(ABTX_stats_print(stderr, ABTX_STATS_TEXT), ABT_ERR_UNINITIALIZED);
    }
}

/* What ABT_finalize prints to stderr. */
static void test_variable(const char *value, const char *word)
{
    struct text text = {.chars = calloc(1, 100000), .size = 100000};
    FILE *file = tmpfile();
    int saved = dup(2);

    if (!text.chars || !file || saved < 0)
        bail_out("no file");
    fflush(stderr);
    dup2(fileno(file), 2);
    setenv("ABT_STATS", value, 1);
    begin();
    do_all();
    end();
    unsetenv("ABT_STATS");
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(file);
    (void)!fread(text.chars, 1, text.size - 1, file);
    ok(count_in(&text, word) == 1, "ABT_STATS=%s: ABT_finalize prints %s", value, word);
    fclose(file);
    free(text.chars);
}

int main(void)
{
    want_tool();
    bool built;

    must(ABT_init(0, NULL));
    built = has_tool();
    if (!built)
        ok_err(ABTX_stats_enable(ABT_TRUE), ABT_ERR_FEATURE_NA);
    must(ABT_finalize());
    if (!built)
        return done_testing();
    test_counts();
    test_variable("1", "function stats_yields: 20 units");
    test_variable("json", "{\"name\": \"stats_yields\"");
    return done_testing();
}

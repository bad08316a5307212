/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_stats_*, ABT_STATS: what is counted, and that it is printed. */
#include <unistd.h>

#include "text.h"

enum { UNITS = 40, YIELDS = 3 };

static ABT_xstream other;
static ABT_pool pools[2];

static void stats_yields(void *arg)
{
    for (int i = 0; i < YIELDS; i++)
        must(ABT_self_yield());
}

static void stats_waits(void *eventual)
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

/* The number before this word, over all streams; the shares in percent have a sign between. */
static double sum_of(const struct text *text, const char *word)
{
    double sum = 0;

    for (const char *at = text->chars; (at = strstr(at, word)); at++) {
        const char *begin = at;
        while (begin > text->chars && strchr("0123456789.", begin[-1]))
            begin--;
        sum += atof(begin);
    }
    return sum;
}

static void test_text(void)
{
    struct text text;

    text_open(&text);
    prints(text, ABTX_stats_print(text.fp));
    is_int(count_in(&text, "\nstream "), 2, "two streams");
    is_int((int)sum_of(&text, " units, "), UNITS, "the units that have ended");
    ok(sum_of(&text, " yields") >= UNITS / 2 * YIELDS, "yields");
    ok(sum_of(&text, " waits") >= UNITS / 2, "waits");
    ok(sum_of(&text, " runs") >= UNITS + UNITS / 2 * YIELDS, "runs");
    ok(sum_of(&text, " % in units") > 0 && sum_of(&text, " % in units") <= 200, "the time in units");
    ok(sum_of(&text, " % asleep") <= 200, "the time asleep");
    ok(count_in(&text, "woken ULTs that ran within ") > 0, "how soon woken ULTs ran");
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
    end();
    if (!ABT_NULL) {
        ok_err(ABTX_stats_enable(ABT_TRUE), ABT_ERR_UNINITIALIZED);
        ok_err(ABTX_stats_print(stderr), ABT_ERR_UNINITIALIZED);
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
    test_variable("1", "libabt: statistics\nstream 0: ");
    return done_testing();
}

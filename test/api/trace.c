/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ABTX_trace_*, ABT_TRACE: the file is asked in SQL, by tools/trace-query, about what a known program has done; and the
 * file of a program that was killed opens, too.
 */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { UNITS = 20, YIELDS = 3 };

static ABT_xstream other;
static ABT_pool pools[2];
static ABT_mutex mutex;
static char path[] = "/tmp/abt-trace-XXXXXX";

/* Not static: they are found by their names. */
void trace_yields(void *arg);
void trace_waits(void *arg);
void trace_locks(void *arg);

void trace_yields(void *arg)
{
    for (int i = 0; i < YIELDS; i++)
        must(ABT_self_yield());
}

void trace_waits(void *eventual)
{
    must(ABT_eventual_wait(eventual, NULL));
}

void trace_locks(void *arg)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_self_yield());
    must(ABT_mutex_unlock(mutex));
}

static void do_all(void)
{
    void (*const funcs[])(void *) = {trace_yields, trace_waits, trace_locks};
    ABT_thread threads[3][UNITS];
    ABT_eventual eventual;

    must(ABT_eventual_create(0, &eventual));
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < UNITS; i++)
            must(ABT_thread_create(pools[i % 2], funcs[kind], eventual, ABT_THREAD_ATTR_NULL, &threads[kind][i]));
    }
    must(ABT_thread_free_many(UNITS, threads[0]));
    for (int i = 0; i < UNITS; i++)
        wait_for(state_of(threads[1][i]) == ABT_THREAD_STATE_BLOCKED);
    must(ABT_eventual_set(eventual, NULL, 0));
    must(ABT_thread_free_many(UNITS, threads[1]));
    must(ABT_thread_free_many(UNITS, threads[2]));
    must(ABT_eventual_free(&eventual));
    nap_ms(30); /* the other stream sleeps */
}

static void begin(void)
{
    must(ABT_init(0, NULL));
    must(ABT_mutex_create(&mutex));
    must(ABT_xstream_create(ABT_SCHED_NULL, &other));
    must(ABT_xstream_get_main_pools(other, 1, &pools[1]));
    pools[0] = own_pool();
}

static void end(void)
{
    must(ABT_xstream_free(&other));
    must(ABT_mutex_free(&mutex));
    must(ABT_finalize());
}

/* What the trace answers; -1 when it does not. */
static long answer(const char *sql)
{
    char command[2000];
    long number = -1;

    snprintf(command, sizeof(command), "%s/tools/trace-query %s \"%s\"", TEST_SOURCE, path, sql);
    FILE *fp = popen(command, "r");
    if (!fp || fscanf(fp, "%ld", &number) != 1)
        number = -1;
    if (fp)
        pclose(fp);
    return number;
}

/* Slices on the tracks of units, and their names; arrows into the slices of streams. */
#define OF_UNIT " from slice s join thread_track k on s.track_id = k.id join thread t using (utid) where t.name like "
#define ARROWS                                                                                                         \
    "select count(*) from flow join slice o on o.id = slice_out join slice i on i.id = slice_in where i.name = "

static const struct question {
    const char *sql;
    long least, most; /* that are right */
} questions[] = {
    {"select count(*) from process where name in ('streams', 'units')", 2, 2},
    {"select count(*) from thread where name in ('stream 0', 'stream 1')", 2, 2},
    {"select count(*) from thread where name like 'trace_yields %'", UNITS, UNITS},
    {"select count(*)" OF_UNIT "'trace_yields %' and s.name = 'created'", UNITS, UNITS},
    {"select count(*)" OF_UNIT "'trace_yields %' and s.name = 'runs'", UNITS *(YIELDS + 1), UNITS *(YIELDS + 1)},
    {"select count(*)" OF_UNIT "'trace_yields %' and s.name = 'ready'", UNITS *YIELDS, UNITS *YIELDS},
    {"select count(*) from slice where name = 'trace_yields'", UNITS *(YIELDS + 1), UNITS *(YIELDS + 1)},
    {"select count(*)" OF_UNIT "'trace_waits %' and s.name = 'waits for an eventual'", UNITS, UNITS},
    {"select count(*)" OF_UNIT "'trace_locks %' and s.name = 'waits for a mutex'", 1, 10 * UNITS},
    {"select count(*) from slice where name = 'waits for a unit'", 1, 3 * UNITS},
    {"select count(*) from slice where name = 'asleep' and dur > 1000000", 1, 1000},
    {ARROWS "'trace_yields'", UNITS, UNITS},
    {ARROWS "'trace_waits'", 2 * UNITS, 2 * UNITS},
    {ARROWS "'trace_locks' and o.name = 'trace_locks'", 1, 10 * UNITS},
    {"select count(*) from slice where dur < 0", 0, 0},
    {"select max(value) from counter join counter_track c on c.id = track_id where c.name like 'ready units%'", 1,
     3 * UNITS},
    {"select max(value) from counter join counter_track c on c.id = track_id where c.name = 'idle share of stream 1'",
     50, 100},
};
enum { NUM_QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

static void ask_all(void)
{
    for (int i = 0; i < NUM_QUESTIONS; i++) {
        const struct question *question = &questions[i];
        long number = answer(question->sql);
        if (!ok(question->least <= number && number <= question->most, "%s", question->sql))
            diag("%ld", number);
    }
}

static void test_trace(bool asks)
{
    begin();
    ok_abt(ABTX_trace_start(path));
    do_all();
    ok_abt(ABTX_trace_stop());
    do_all();
    if (asks)
        ask_all();
    else
        skip(NUM_QUESTIONS, "there is no python3 with sqlite3");
    ok_abt(ABTX_trace_stop());
    end();
}

static void test_errors(void)
{
    if (!ABT_NULL) {
        ok_err(ABTX_trace_start(path), ABT_ERR_UNINITIALIZED);
        ok_err(ABTX_trace_stop(), ABT_ERR_UNINITIALIZED);
    }
    must(ABT_init(0, NULL));
    ok_err(ABTX_trace_start("/nowhere/there/is/such/a/file"), ABT_ERR_SYS);
    ok_abt(ABTX_trace_start(path));
    ok_err(ABTX_trace_start(path), ABT_ERR_INV_ARG);
    must(ABT_finalize()); /* and ends the trace */
}

static off_t size_of_file(void)
{
    struct stat status;

    return stat(path, &status) == 0 ? status.st_size : 0;
}

/* The child never ends by itself. */
static void test_killed(bool asks)
{
    truncate(path, 0) == 0 ? (void)0 : bail_out("truncate");
    pid_t child = fork();
    if (child == 0) {
        alarm(100);
        setenv("ABT_TRACE", path, 1);
        begin();
        for (;;)
            do_all();
    }
    wait_for(size_of_file() > 200000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (asks)
        ok(answer("select count(*) from slice where name = 'trace_yields'") > 0, "the file of a killed program opens");
    else
        skip(1, "there is no python3 with sqlite3");
}

int main(void)
{
    want_tool();
    bool built;
    int fd = mkstemp(path);
    bool asks = system("python3 -c 'import sqlite3' 2> /dev/null") == 0;

    must(ABT_init(0, NULL));
    built = has_tool();
    must(ABT_finalize());
    if (!built) {
        ok_err(ABTX_trace_start(path), ABT_ERR_FEATURE_NA);
        return done_testing();
    }
    test_killed(asks); /* first, since it forks */
    test_errors();
    test_trace(asks);
    unlink(path);
    close(fd);
    return done_testing();
}

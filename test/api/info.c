/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_info_*: the configuration, and printing. What is printed is looked at only for what it must say. */
#include <signal.h>
#include <unistd.h>

#include "text.h"

/* --- Configuration --- */

static const int bool_kinds[] = {
    ABT_INFO_QUERY_KIND_ENABLED_DEBUG,
    ABT_INFO_QUERY_KIND_ENABLED_PRINT_ERRNO,
    ABT_INFO_QUERY_KIND_ENABLED_LOG,
    ABT_INFO_QUERY_KIND_ENABLED_VALGRIND,
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR,
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER,
    ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU,
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER,
    ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL,
    ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL,
    ABT_INFO_QUERY_KIND_ENABLED_MIGRATION,
    ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED,
    ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD,
    ABT_INFO_QUERY_KIND_ENABLED_SCHED_SLEEP,
    ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG,
    ABT_INFO_QUERY_KIND_ENABLED_AFFINITY,
    ABT_INFO_QUERY_KIND_ENABLED_TOOL,
    ABT_INFO_QUERY_KIND_FCONTEXT,
    ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION,
    ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND,
    ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC,
};

static int query_bool(int kind)
{
    struct {
        ABT_bool value;
        int guard;
    } got = {-1, 77};

    must(ABT_info_query_config((ABT_info_query_kind)kind, &got.value));
    if (got.guard != 77)
        bail_out("kind %d stores more than an ABT_bool", kind);
    return got.value;
}

static uint64_t query_64(int kind)
{
    uint64_t value = UINT64_MAX;

    must(ABT_info_query_config((ABT_info_query_kind)kind, &value));
    return value;
}

static size_t query_size(int kind)
{
    size_t value = SIZE_MAX;

    must(ABT_info_query_config((ABT_info_query_kind)kind, &value));
    return value;
}

static int query_int(int kind)
{
    int value[2] = {-1, 77};

    must(ABT_info_query_config((ABT_info_query_kind)kind, value));
    if (value[1] != 77)
        bail_out("kind %d stores more than an int", kind);
    return value[0];
}

static void test_query(enum caller who, void *arg)
{
    int value = 77;

    diag("by a %s", caller_names[who]);
    for (size_t i = 0; i < sizeof(bool_kinds) / sizeof(bool_kinds[0]); i++) {
        int got = query_bool(bool_kinds[i]);
        ok(got == ABT_TRUE || got == ABT_FALSE, "kind %d is true or false", bool_kinds[i]);
    }
    is_int(query_bool(ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED), ABT_TRUE, "schedulers can be stacked");
    is_int(query_bool(ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER), ABT_FALSE, "producers are not checked");
    is_int(query_bool(ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER), ABT_FALSE, "consumers are not checked");
    is_int(query_bool(ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION), ABT_FALSE, "no dynamic promotion");
    is_int(query_bool(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL), query_bool(ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL),
           "one switch for cancellation");
    ok(query_int(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS) >= 1, "limit of streams");
    ok(query_size(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE) >= 512, "stack size");
    ok(query_size(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE) >= 512, "stack size of schedulers");
    ok((unsigned)query_int(ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK) <= 3, "stack check");
    ok((unsigned)query_int(ABT_INFO_QUERY_KIND_WAIT_POLICY) <= 1, "wait policy");
    ok_err(ABT_info_query_config((ABT_info_query_kind)28, &value), ABT_ERR_INV_QUERY_KIND);
    ok_err(ABT_info_query_config((ABT_info_query_kind)-1, &value), ABT_ERR_INV_QUERY_KIND);
    is_int(value, 77, "nothing is stored");
}

static void no_event(ABT_thread unit, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    (void)unit, (void)xstream, (void)event, (void)context, (void)arg;
}

/* A tool can be registered where the query says so, which is what ABT_TOOL says, where there are tools at all. */
static void test_tool(void)
{
    static const char *const values[] = {"1", "yes", "0", "no", NULL};
    bool built = false;

    for (int i = 0; i < 5; i++) {
        must(values[i] ? setenv("ABT_TOOL", values[i], 1) : unsetenv("ABT_TOOL"));
        must(ABT_init(0, NULL));
        bool on = has_tool();
        built = i == 0 ? on : built;
        if (values[i])
            is_int(on, i < 2 && built, "a tool interface with ABT_TOOL=%s", values[i]);
        ABT_pool pool = ABT_POOL_NULL;
        int code = on ? ABT_SUCCESS : ABT_ERR_FEATURE_NA;
        is_int(ABT_tool_register_thread_callback(no_event, ABT_TOOL_EVENT_THREAD_ALL, NULL), code, "registers");
        is_int(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL), code, "removes");
        code = on ? ABT_ERR_INV_TOOL_CONTEXT : code;
        if (!ABT_NULL || !on)
            is_int(ABT_tool_query_thread(ABT_TOOL_CONTEXT_NULL, ABT_TOOL_EVENT_THREAD_RUN, ABT_TOOL_QUERY_KIND_POOL,
                                         &pool),
                   code, "asks for the pool of no event");
        must(ABT_finalize());
    }
}

/* What stands in the environment at ABT_init is what a query tells. */
static void test_environment(void)
{
    static const char *const names[] = {"ABT_THREAD_STACKSIZE", "ABT_SCHED_STACKSIZE",     "ABT_SCHED_EVENT_FREQ",
                                        "ABT_SCHED_SLEEP_NSEC", "ABT_MAX_NUM_XSTREAMS",    "ABT_USE_LOG",
                                        "ABT_USE_DEBUG",        "ABT_STACK_OVERFLOW_CHECK"};
    static const char *const values[] = {"32768", "65536", "7", "123456789012", "2", "1", "yes", "none"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        setenv(names[i], values[i], 1);
    must(ABT_init(0, NULL));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    is_int(query_size(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE), 32768, "stack size");
    is_int(query_size(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE), 65536, "stack size of schedulers");
    is_int(query_64(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ), 7, "event frequency");
    is_int(query_64(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC), 123456789012, "sleep");
    is_int(query_int(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS), 2, "limit of streams");
    is_int(query_bool(ABT_INFO_QUERY_KIND_ENABLED_LOG), ABT_TRUE, "log");
    is_int(query_bool(ABT_INFO_QUERY_KIND_ENABLED_DEBUG), ABT_TRUE, "debug");
    is_int(query_bool(ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG), ABT_FALSE, "nothing printed");
    ABT_xstream xstream;
    must(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 9, &xstream));
    is_int(query_int(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS), 10, "the limit is raised");
    must(ABT_xstream_free(&xstream));
    must(ABT_finalize());
}

/* ABT_PRINT_CONFIG makes ABT_init write to stdout. */
static void test_print_at_init(void)
{
    char line[256];
    int saved = dup(STDOUT_FILENO);
    FILE *file = tmpfile();

    if (saved < 0 || !file)
        bail_out("temporary file");
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    setenv("ABT_PRINT_CONFIG", "1", 1);
    must(ABT_init(0, NULL));
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    ok(fgets(line, sizeof(line), file), "ABT_init prints the configuration");
    is_int(query_bool(ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG), ABT_TRUE, "and says so");
    unsetenv("ABT_PRINT_CONFIG");
    fclose(file);
    must(ABT_finalize());
}

/* --- Objects --- */

static void test_objects(enum caller who, void *arg)
{
    struct text text;
    ABT_xstream xstream = new_xstream();
    ABT_sched sched;
    ABT_thread_attr attr;
    ABT_task task;
    ABT_pool pool = new_pool(ABT_POOL_RANDWS, ABT_FALSE);

    diag("by a %s", caller_names[who]);
    text_open(&text);
    prints(text, ABT_info_print_config(text.fp));
    prints(text, ABT_info_print_all_xstreams(text.fp));
    prints(text, ABT_info_print_xstream(text.fp, xstream));
    must(ABT_xstream_get_main_sched(xstream, &sched));
    prints(text, ABT_info_print_sched(text.fp, sched));
    prints(text, ABT_info_print_pool(text.fp, pool));
    must(ABT_thread_attr_create(&attr));
    prints(text, ABT_info_print_thread_attr(text.fp, attr));
    must(ABT_thread_attr_free(&attr));
    ABT_thread thread = ult_in(pool, do_nothing, NULL);
    must(ABT_task_create(pool, do_nothing, NULL, &task));
    prints(text, ABT_info_print_thread(text.fp, thread));
    prints(text, ABT_info_print_task(text.fp, task));
    prints(text, ABT_info_print_thread(text.fp, *(ABT_thread *)arg));
    prints(text, ABT_info_print_thread_stack(text.fp, thread));
    prints(text, ABT_info_print_thread_stack(text.fp, task));
    prints(text, ABT_info_print_thread_stacks_in_pool(text.fp, pool));
    if (who != EXTERNAL) {
        prints(text, ABT_info_print_thread(text.fp, self()));
        prints(text, ABT_info_print_thread_stack(text.fp, self()));
    }
    must(ABT_xstream_free(&xstream));
    xstream = new_xstream();
    for (ABT_unit unit; must(ABT_pool_pop(pool, &unit)), unit != ABT_UNIT_NULL;)
        must(ABT_pool_push(pool_of(xstream), unit));
    must(ABT_xstream_join(xstream));
    prints(text, ABT_info_print_xstream(text.fp, xstream));
    prints(text, ABT_info_print_thread(text.fp, thread));
    prints(text, ABT_info_print_thread_stack(text.fp, thread));
    must(ABT_thread_free(&thread));
    must(ABT_task_free(&task));
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&pool));
    text_close(&text);
}

/* --- Stacks --- */

#define PATTERN UINT64_C(0x1badb002c0ffee42)
#define PATTERN_TEXT "1badb002c0ffee42"

/* The compiler has to believe that somebody looks at this memory. */
static void is_looked_at(void *memory)
{
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* Something to be found on its stack, and much of nothing. */
static void mark_and_suspend(void *counter)
{
    uint64_t marks[4] = {PATTERN, PATTERN, PATTERN, PATTERN};
    char zeros[4096];

    memset(zeros, 0, sizeof(zeros));
    is_looked_at(marks);
    is_looked_at(zeros);
    suspend_once(counter);
    is_looked_at(marks);
    is_looked_at(zeros);
    if (marks[0] != PATTERN || zeros[0])
        bail_out("stack");
}

static void mark_and_yield(void *stop)
{
    uint64_t marks[4] = {PATTERN, PATTERN, PATTERN, PATTERN};

    is_looked_at(marks);
    while (!atomic_load((atomic_int *)stop))
        ABT_self_yield();
    is_looked_at(marks);
    if (marks[0] != PATTERN)
        bail_out("stack");
}

static void test_stack(bool raw)
{
    struct text text;
    atomic_int counter = 0;
    ABT_thread thread;

    setenv("ABT_PRINT_RAW_STACK", raw ? "1" : "0", 1);
    must(ABT_init(0, NULL));
    unsetenv("ABT_PRINT_RAW_STACK");
    thread = ult_in(own_pool(), mark_and_suspend, &counter);
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    text_open(&text);
    prints(text, ABT_info_print_thread_stack(text.fp, thread));
    is_int(count_in(&text, PATTERN_TEXT) >= 4, raw, "its memory is%s shown", raw ? "" : " not");
    is_int(count_in(&text, "*\n") >= 1, raw, "repeated zeros are left out");
    ok(length_of(&text) < 4096, "in %zu characters", length_of(&text));
    text_close(&text);
    must(ABT_thread_resume(thread));
    must(ABT_thread_free(&thread));
    must(ABT_finalize());
}

static void test_stacks_in_pool(void)
{
    struct text text;
    atomic_int stop = 0;
    ABT_thread threads[3];
    ABT_pool pool;

    must(ABT_init(0, NULL));
    pool = own_pool();
    for (int i = 0; i < 3; i++)
        threads[i] = ult_in(pool, mark_and_yield, &stop);
    must(ABT_self_yield());
    text_open(&text);
    prints(text, ABT_info_print_thread_stacks_in_pool(text.fp, pool));
    is_int(count_in(&text, "ULT 0x"), 3, "three units");
    ok(count_in(&text, PATTERN_TEXT) >= 12, "and their stacks");
    text_close(&text);
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        must(ABT_thread_free(&threads[i]));
    must(ABT_finalize());
}

static ABT_bool blind_is_empty(ABT_pool pool)
{
    return ABT_TRUE;
}

static ABT_thread blind_pop(ABT_pool pool, ABT_pool_context context)
{
    return ABT_THREAD_NULL;
}

static void blind_push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
}

static ABT_pool new_blind_pool(void)
{
    ABT_pool_user_def def;
    ABT_pool pool;

    must(ABT_pool_user_def_create(unit_as_handle, leave_unit, blind_is_empty, blind_pop, blind_push, &def));
    must(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool));
    must(ABT_pool_user_def_free(&def));
    return pool;
}

static void test_blind_pool(void)
{
    struct text text;
    ABT_pool pool = new_blind_pool();

    text_open(&text);
    prints(text, ABT_info_print_pool(text.fp, pool));
    if (!ABT_NULL)
        ok_err(ABT_info_print_thread_stacks_in_pool(text.fp, pool), ABT_ERR_POOL);
    text_close(&text);
    must(ABT_pool_free(&pool));
}

/* --- The dump of everything --- */

struct dump {
    struct text text;
    double timeout;
    atomic_int calls, timed_out; /* of the callback */
};

static struct dump *signal_dump;

static void dump_done(ABT_bool timed_out, void *arg)
{
    struct dump *dump = arg;

    if (timed_out == ABT_TRUE)
        atomic_fetch_add(&dump->timed_out, 1);
    atomic_fetch_add(&dump->calls, 1);
}

static void trigger(struct dump *dump)
{
    must(ABT_info_trigger_print_all_thread_stacks(dump->text.fp, dump->timeout, dump_done, dump));
}

static void on_signal(int number)
{
    trigger(signal_dump);
}

static void test_dump_by_signal(void)
{
    enum { STREAMS = 3 };
    struct dump dump = {.timeout = -1.0};
    struct sigaction action = {.sa_handler = on_signal};
    ABT_xstream streams[STREAMS];
    ABT_thread thread;
    atomic_int stop = 0;

    text_open(&dump.text);
    signal_dump = &dump;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < STREAMS; i++)
        streams[i] = new_xstream();
    thread = ult_in(pool_of(streams[0]), mark_and_yield, &stop);
    nap_ms(20); /* the others go to sleep */
    raise(SIGUSR1);
    ok(soon(atomic_load(&dump.calls) == 1), "a dump is made");
    is_int(atomic_load(&dump.timed_out), 0, "all streams have halted");
    is_int(count_in(&dump.text, "\npool "), STREAMS + 1, "each pool is printed");
    is_int(count_in(&dump.text, "===="), 4, "between header and footer");
    raise(SIGUSR1);
    raise(SIGUSR1);
    wait_for(atomic_load(&dump.calls) == 2);
    atomic_store(&stop, 1);
    must(ABT_thread_free(&thread));
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    is_int(atomic_load(&dump.calls), 2, "a request while one is pending is dropped");
    text_close(&dump.text);
}

static void test_dump_shared_pool(void)
{
    struct dump dump = {.timeout = 10.0};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_xstream streams[2];

    text_open(&dump.text);
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC_WAIT, 1, &pool, ABT_SCHED_CONFIG_NULL, &streams[i]));
    trigger(&dump);
    wait_for(atomic_load(&dump.calls) == 1);
    is_int(count_in(&dump.text, "\npool "), 2, "a shared pool is printed once");
    must(ABT_xstream_join(streams[0]));
    trigger(&dump);
    wait_for(atomic_load(&dump.calls) == 2);
    is_int(atomic_load(&dump.timed_out), 0, "a terminated stream is not waited for");
    must(ABT_xstream_revive(streams[0]));
    must(ABT_info_trigger_print_all_thread_stacks(dump.text.fp, 1.0, NULL, NULL));
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_pool_free(&pool));
    text_close(&dump.text);
}

static void spin(void *stop)
{
    while (!atomic_load((atomic_int *)stop))
        continue;
}

/* A stream that does not look in time. */
static void test_dump_timeout(double timeout)
{
    struct dump dump = {.timeout = timeout};
    ABT_xstream xstream;
    ABT_pool pool;
    ABT_thread thread;
    atomic_int stop = 0;

    text_open(&dump.text);
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstream));
    thread = ult_in(pool, spin, &stop);
    wait_for(state_of(thread) == ABT_THREAD_STATE_RUNNING);
    double before = now();
    trigger(&dump);
    wait_for(atomic_load(&dump.calls) == 1);
    is_int(atomic_load(&dump.timed_out), 1, "the callback hears that the time was up");
    ok(now() - before >= timeout * 0.9, "after that time");
    ok(count_in(&dump.text, "\npool ") >= 1, "pools are printed all the same");
    atomic_store(&stop, 1);
    must(ABT_thread_free(&thread));
    dump.timeout = -1.0;
    trigger(&dump);
    wait_for(atomic_load(&dump.calls) == 2);
    is_int(atomic_load(&dump.timed_out), 1, "the next time it looks");
    must(ABT_xstream_free(&xstream));
    text_close(&dump.text);
}

/* Private pools are looked through only when their stream has halted. */
static void test_dump_private(void)
{
    enum { UNITS = 50, DUMPS = 20 };
    struct dump dump = {.timeout = 0.0};
    ABT_thread threads[UNITS];
    ABT_xstream xstream;
    ABT_pool pool;
    atomic_int stop = 0;

    text_open(&dump.text);
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    for (int i = 0; i < UNITS; i++)
        threads[i] = ult_in(pool, mark_and_yield, &stop);
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstream));
    for (int i = 0; i < DUMPS; i++) {
        trigger(&dump);
        wait_for(atomic_load(&dump.calls) == i + 1);
    }
    pass("%d dumps, %d not in time", DUMPS, atomic_load(&dump.timed_out));
    dump.timeout = -1.0;
    trigger(&dump);
    wait_for(atomic_load(&dump.calls) == DUMPS + 1);
    ok(count_in(&dump.text, PATTERN_TEXT) >= UNITS, "the stacks of its units");
    atomic_store(&stop, 1);
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_free(&threads[i]));
    must(ABT_xstream_free(&xstream));
    text_close(&dump.text);
}

/* What cannot be counted is named all the same: a private pool in use, one without the operation. */
static void test_dump_gaps(void)
{
    struct dump dump = {.timeout = 0.0};
    ABT_xstream busy, blind;
    ABT_pool pools[2] = {ABT_POOL_NULL, new_blind_pool()};
    ABT_thread thread;
    atomic_int stop = 0;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pools[0]));
    thread = ult_in(pools[0], spin, &stop);
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pools[0], ABT_SCHED_CONFIG_NULL, &busy));
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pools[1], ABT_SCHED_CONFIG_NULL, &blind));
    wait_for(state_of(thread) == ABT_THREAD_STATE_RUNNING);
    text_open(&dump.text);
    trigger(&dump);
    wait_for(atomic_load(&dump.calls) == 1);
    is_int(atomic_load(&dump.timed_out), 1, "a stream still runs");
    is_int(count_in(&dump.text, "its execution stream still runs, 0 blocked\n"), 1, "its private pool is not counted");
    is_int(count_in(&dump.text, "does not tell its size, 0 blocked\n"), 1, "nor is a pool that does not count");
    atomic_store(&stop, 1);
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&busy));
    must(ABT_xstream_free(&blind));
    must(ABT_pool_free(&pools[1]));
    text_close(&dump.text);
}

/* A file whose reader takes its time. */
struct slow_file {
    atomic_bool written, go_on;
    ABT_pool pool;
    atomic_int stage;
};

static ssize_t write_slowly(void *cookie, const char *chars, size_t size)
{
    struct slow_file *file = cookie;

    atomic_store(&file->written, true);
    while (!atomic_load(&file->go_on))
        nap_ms(0.1);
    return (ssize_t)size;
}

/* Runs on a stream that has not halted. */
static void free_pool_meanwhile(void *arg)
{
    struct slow_file *file = arg;

    atomic_store(&file->stage, 1);
    while (!atomic_load(&file->written))
        continue;
    atomic_store(&file->stage, 2);
    must(ABT_pool_free(&file->pool));
    atomic_store(&file->stage, 3);
}

static void *let_go_on(void *arg)
{
    struct slow_file *file = arg;

    while (atomic_load(&file->stage) < 2)
        nap_ms(0.1);
    nap_ms(5);
    is_int(atomic_load(&file->stage), 2, "who frees a pool waits for the dump that may look into it");
    atomic_store(&file->go_on, true);
    return NULL;
}

static void test_dump_keeps_pools(void)
{
    struct dump dump = {.timeout = 0.0};
    struct slow_file file = {.pool = new_pool(ABT_POOL_FIFO, ABT_FALSE)};
    ABT_xstream xstream = new_xstream();
    ABT_thread thread = ult_in(pool_of(xstream), free_pool_meanwhile, &file);
    pthread_t native;

    dump.text.fp = fopencookie(&file, "w", (cookie_io_functions_t){.write = write_slowly});
    if (!dump.text.fp || setvbuf(dump.text.fp, NULL, _IONBF, 0))
        bail_out("file");
    wait_for(atomic_load(&file.stage) == 1);
    must(pthread_create(&native, NULL, let_go_on, &file));
    trigger(&dump);
    wait_for(atomic_load(&dump.calls) == 1);
    must(ABT_thread_free(&thread));
    is_int(atomic_load(&file.stage), 3, "and goes on then");
    pthread_join(native, NULL);
    must(ABT_xstream_free(&xstream));
    fclose(dump.text.fp);
}

/* Requests one after the other while streams come and go. */
struct storm {
    struct dump dump;
    atomic_bool stop;
};

static void *storm_native(void *arg)
{
    struct storm *storm = arg;

    while (!atomic_load(&storm->stop)) {
        trigger(&storm->dump);
        nap_ms(0.1);
    }
    return NULL;
}

static void test_dump_storm(void)
{
    struct storm storm = {.dump.timeout = 0.01};
    double end = now() + tap_seconds(0.5);
    pthread_t native;

    storm.dump.text.fp = fopen("/dev/null", "w");
    if (!storm.dump.text.fp)
        skip_all("no /dev/null");
    must(pthread_create(&native, NULL, storm_native, &storm));
    for (int i = 0; now() < end || atomic_load(&storm.dump.calls) < 3; i++) {
        ABT_xstream streams[2] = {new_xstream(), new_xstream()};
        atomic_int counter = 0;
        for (int j = 0; j < 20; j++)
            must(ABT_thread_create(pool_of(streams[j % 2]), count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
        must(ABT_xstream_join(streams[0]));
        must(ABT_xstream_set_main_sched(streams[0], ABT_SCHED_NULL));
        must(ABT_xstream_revive(streams[0]));
        must(ABT_xstream_free(&streams[1]));
        must(ABT_xstream_free(&streams[0]));
        if (atomic_load(&counter) != 20)
            bail_out("%d of 20 units", atomic_load(&counter));
    }
    atomic_store(&storm.stop, true);
    pthread_join(native, NULL);
    /* The last one may be pending. */
    must(ABT_finalize());
    must(ABT_init(0, NULL));
    pass("%d dumps, %d not in time", atomic_load(&storm.dump.calls), atomic_load(&storm.dump.timed_out));
    int calls = atomic_load(&storm.dump.calls);
    trigger(&storm.dump);
    wait_for(atomic_load(&storm.dump.calls) == calls + 1);
    pass("one more in another life");
    fclose(storm.dump.text.fp);
}

int main(void)
{
    ABT_thread primary;

    ok_abt(ABT_info_trigger_print_all_thread_stacks(stderr, 0.0, NULL, NULL));
    test_environment();
    test_tool();
    test_print_at_init();
    test_stack(true);
    test_stack(false);
    setenv("ABT_PRINT_RAW_STACK", "1", 1); /* also in a build that leaves it out */
    test_stacks_in_pool();
    must(ABT_init(0, NULL));
    primary = self();
    call_as_each(test_query, NULL);
    call_as_each(test_objects, &primary);
    test_blind_pool();
    test_dump_by_signal();
    test_dump_shared_pool();
    test_dump_timeout(0.05);
    test_dump_timeout(0.0);
    test_dump_private();
    test_dump_gaps();
    test_dump_keeps_pools();
    test_dump_storm();
    must(ABT_finalize());
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_info_print_*: what is said of each kind of object, in each of its states. Stacks and dumps are in info.c. */
#include "text.h"
#include "user_pool.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer) || defined(__SANITIZE_ADDRESS__) ||                \
    __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* What a print function prints of one object, until the next one is asked. */
static struct text text;

static void begin(void)
{
    if (text.fp)
        text_close(&text);
    text_open(&text);
    fputc('\n', text.fp); /* so that every line has one before it */
}

/* says(call, lines): the call succeeds, and what it prints has these lines once. says_all(call, line, ...): each of
 * these. */
#define says(call, ...) (begin(), must(call), has_lines(__VA_ARGS__))
#define says_all(call, ...)                                                                                            \
    do {                                                                                                               \
        begin();                                                                                                       \
        must(call);                                                                                                    \
        for (const char *const *line_ = (const char *const[]){__VA_ARGS__, NULL}; *line_; line_++)                     \
            has_lines("%s", *line_);                                                                                   \
    } while (0)

__attribute__((format(printf, 1, 2))) static void has_lines(const char *fmt, ...)
{
    char lines[256] = "\n";
    va_list args;
    size_t len;

    va_start(args, fmt);
    vsnprintf(lines + 1, sizeof(lines) - 2, fmt, args);
    va_end(args);
    len = strlen(lines);
    strcpy(lines + len, "\n");
    if (!ok(count_in(&text, lines) == 1, "it says: %.*s", (int)len - 1, lines + 1 + strspn(lines + 1, " ")))
        diag("it says: %s", text.chars ? text.chars : "nothing");
}

/* --- Configuration --- */

static const char *const settings[][2] = {
    {"ABT_THREAD_STACKSIZE", "48k"}, {"ABT_SCHED_EVENT_FREQ", "77"}, {"ABT_MAX_NUM_XSTREAMS", "12"},
    {"ABT_MEM_LP_ALLOC", "malloc"},  {"ABT_SET_AFFINITY", "{0:2}"},  {"ABT_CHECK", "no"},
};
enum { NUM_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static void test_config(void)
{
    for (int i = 0; i < NUM_SETTINGS; i++)
        setenv(settings[i][0], settings[i][1], 1);
    must(ABT_init(0, NULL));
    for (int i = 0; i < NUM_SETTINGS; i++)
        unsetenv(settings[i][0]);
    begin();
    must(ABT_info_print_config(text.fp));
    ok(count_in(&text, "\nlibabt " ABTX_VERSION ", ") == 1, "it begins with the version of the library");
    ok(count_in(&text, "\n  ABT_THREAD_STACKSIZE=49152 (default: ") == 1, "it shows a value and its default");
    ok(count_in(&text, "\n  ABT_SCHED_EVENT_FREQ=77 (default: 50; 1 to ") == 1, "and limits");
    ok(count_in(&text, "\n  ABT_CHECK=no (default: no; no | yes | abort)\n      ") == 1, "and words");
    ok(count_in(&text, "ABT_MUTEX_MAX_WAKEUPS") == 0, "but not what has no effect");
    if (can_bind())
        ok(count_in(&text, "\n  ABT_SET_AFFINITY=a list (default: not set; ") == 1, "a list is said to be there");
    says_all(ABT_info_print_config(text.fp), "  execution streams: 1 of 12", "  chunks come from: malloc");
    must(ABT_finalize());
}

/* --- Execution streams --- */

static void test_xstreams(void)
{
    ABT_xstream xstream = new_xstream();
    ABT_sched sched;

    must(ABT_xstream_get_main_sched(xstream, &sched));
    says_all(ABT_info_print_xstream(text.fp, own_xstream()), "  rank: 0", "  type: primary");
    says(ABT_info_print_xstream(text.fp, own_xstream()), "  current unit: %p", (void *)self());
    says_all(ABT_info_print_xstream(text.fp, xstream), "  rank: 1", "  type: secondary", "  state: RUNNING");
    says(ABT_info_print_xstream(text.fp, xstream), "execution stream %p:", (void *)xstream);
    says(ABT_info_print_xstream(text.fp, xstream), "  main scheduler: %p", (void *)sched);
    must(ABT_xstream_join(xstream));
    says_all(ABT_info_print_xstream(text.fp, xstream), "  state: TERMINATED",
             "  native thread: waits to be revived or freed");
    says(ABT_info_print_xstream(text.fp, xstream), "  current unit: %p", NULL);
    says(ABT_info_print_all_xstreams(text.fp), "execution streams: 2");
    says(ABT_info_print_all_xstreams(text.fp), "execution stream %p:", (void *)xstream);
    is_int(count_in(&text, "\n  rank: "), 2, "and something of each");
    must(ABT_xstream_free(&xstream));
}

/* --- Schedulers --- */

static void run_nothing(ABT_sched sched)
{
}

static void test_scheds(void)
{
    static const struct {
        ABT_sched_predef kind;
        const char *name;
    } kinds[] = {{ABT_SCHED_DEFAULT, "BASIC"},
                 {ABT_SCHED_BASIC, "BASIC"},
                 {ABT_SCHED_PRIO, "PRIO"},
                 {ABT_SCHED_RANDWS, "RANDWS"},
                 {ABT_SCHED_BASIC_WAIT, "BASIC_WAIT"}};
    ABT_sched_def def = {.run = run_nothing};
    ABT_pool pools[2] = {new_pool(ABT_POOL_FIFO, ABT_FALSE), new_pool(ABT_POOL_FIFO, ABT_FALSE)}, outer;
    ABT_sched sched;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        must(ABT_sched_create_basic(kinds[i].kind, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
        says(ABT_info_print_sched(text.fp, sched), "  kind: %s", kinds[i].name);
        must(ABT_sched_free(&sched));
    }
    must(ABT_sched_create(&def, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_sched_set_data(sched, &def));
    says_all(ABT_info_print_sched(text.fp, sched), "  kind: user-defined",
             "  used: no\n  automatic: no\n  requests: none", "  pools: 2");
    says(ABT_info_print_sched(text.fp, sched), "scheduler %p:", (void *)sched);
    says(ABT_info_print_sched(text.fp, sched), "  data: %p", (void *)&def);
    says(ABT_info_print_sched(text.fp, sched), "pool %p:", (void *)pools[1]);
    must(ABT_sched_finish(sched));
    says(ABT_info_print_sched(text.fp, sched), "  requests: FINISH");
    must(ABT_sched_exit(sched));
    says_all(ABT_info_print_sched(text.fp, sched), "  requests: FINISH EXIT", "  has work: no");
    outer = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    must(ABT_pool_add_sched(outer, sched));
    says(ABT_info_print_sched(text.fp, sched), "  used: stacked in a pool");
    ABT_thread popped;
    must(ABT_pool_pop_thread(outer, &popped));
    says(ABT_info_print_thread(text.fp, popped), "  kind: stacked scheduler");
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_sched_free(&sched));
    must(ABT_pool_free(&pools[0]));
    must(ABT_pool_free(&pools[1]));
    must(ABT_xstream_get_main_sched(own_xstream(), &sched));
    says(ABT_info_print_sched(text.fp, sched), "  used: main\n  automatic: yes");
    must(ABT_pool_free(&outer));
}

/* --- Pools --- */

static void test_pools(void)
{
    static const char *const names[] = {"PRIV", "SPSC", "MPSC", "SPMC", "MPMC"};
    struct list list;
    ABT_xstream xstream;
    ABT_thread threads[3], blocked;
    ABT_pool pool;
    int id;

    for (int access = ABT_POOL_ACCESS_PRIV; access <= ABT_POOL_ACCESS_MPMC; access++) {
        must(ABT_pool_create_basic(ABT_POOL_FIFO, (ABT_pool_access)access, ABT_FALSE, &pool));
        says(ABT_info_print_pool(text.fp, pool), "  access: %s", names[access]);
        must(ABT_pool_free(&pool));
    }
    pool = make_old(&list, (ABT_pool_access)77, true, ABT_POOL_CONFIG_NULL); /* nobody looks at what it says */
    says(ABT_info_print_pool(text.fp, pool), "  access: unknown");
    says(ABT_info_print_pool(text.fp, pool), "  data: %p", (void *)&list);
    must(ABT_pool_free(&pool));
    pool = new_pool(ABT_POOL_RANDWS, ABT_TRUE);
    must(ABT_pool_get_id(pool, &id));
    says_all(ABT_info_print_pool(text.fp, pool), "  automatic: yes", "  empty: yes", "  schedulers: 0");
    says(ABT_info_print_pool(text.fp, pool), "pool %p:", (void *)pool);
    says(ABT_info_print_pool(text.fp, pool), "  id: %d", id);
    must(ABT_xstream_create_basic(ABT_SCHED_RANDWS, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstream));
    blocked = ult_in(pool, suspend_once, NULL);
    wait_for(state_of(blocked) == ABT_THREAD_STATE_BLOCKED);
    must(ABT_xstream_cancel(xstream));
    must(ABT_xstream_join(xstream));
    for (int i = 0; i < 3; i++)
        threads[i] = ult_in(pool, do_nothing, NULL);
    says_all(ABT_info_print_pool(text.fp, pool), "  empty: no", "  size: 3", "  blocked: 1", "  schedulers: 1");
    must(ABT_thread_resume(blocked));
    must(ABT_xstream_revive(xstream));
    must(ABT_thread_free_many(3, threads));
    must(ABT_thread_free(&blocked));
    must(ABT_xstream_free(&xstream));
}

/* --- Work units --- */

/* The main scheduler is told of by a unit that it runs: a user's scheduler knows its own handle. */
static _Atomic(ABT_thread) sched_unit;

static void run_and_tell(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;

    atomic_store(&sched_unit, self());
    while (!stop) {
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static void test_main_sched_unit(void)
{
    ABT_sched_def def = {.run = run_and_tell};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    ABT_sched sched;
    ABT_xstream xstream;

    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &xstream));
    wait_for(atomic_load(&sched_unit));
    says_all(ABT_info_print_thread(text.fp, sched_unit), "  kind: main scheduler", "  migratable: no");
    must(ABT_xstream_free(&xstream));
    must(ABT_sched_free(&sched));
}

static void test_units(void)
{
    ABT_pool parked = new_pool(ABT_POOL_FIFO, ABT_FALSE), pool = own_pool();
    ABT_thread thread = ult_in(parked, suspend_once, NULL), popped;
    ABT_task task;

    says_all(ABT_info_print_thread(text.fp, self()), "  kind: primary ULT", "  state: RUNNING", "  named: no",
             "  stack size: 0");
    says_all(ABT_info_print_thread(text.fp, thread), "  kind: ULT", "  yieldable: yes", "  state: READY",
             "  rank of its last execution stream: -1", "  named: yes", "  requests: none");
    says(ABT_info_print_thread(text.fp, thread), "work unit %p:", (void *)thread);
    says(ABT_info_print_thread(text.fp, thread), "  pool: %p", (void *)parked);
    says(ABT_info_print_thread_stack(text.fp, thread), "  has not started: no context");
    must(ABT_pool_pop_thread(parked, &popped));
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION)) {
        must(ABT_thread_migrate_to_pool(thread, pool));
        says(ABT_info_print_thread(text.fp, thread), "  requests: MIGRATE");
        must(ABT_self_schedule(popped, ABT_POOL_NULL)); /* which only moves it */
    } else {
        must(ABT_pool_push_thread(pool, popped));
    }
    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    says_all(ABT_info_print_thread(text.fp, thread), "  state: BLOCKED", "  rank of its last execution stream: 0");
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL)) {
        must(ABT_thread_cancel(thread));
        says(ABT_info_print_thread(text.fp, thread), "  requests: CANCEL");
    }
    must(ABT_thread_resume(thread));
    must(ABT_thread_join(thread));
    says(ABT_info_print_thread(text.fp, thread), "  state: TERMINATED");
    says(ABT_info_print_thread_stack(text.fp, thread), "  has ended");
    must(ABT_thread_free(&thread));

    must(ABT_task_create(pool, do_nothing, &pool, &task));
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION)) {
        must(ABT_thread_set_migratable(task, ABT_FALSE));
        says(ABT_info_print_task(text.fp, task), "  migratable: no");
    }
    says_all(ABT_info_print_task(text.fp, task), "  kind: tasklet", "  yieldable: no", "  stack size: 0");
    says(ABT_info_print_task(text.fp, task), "  argument: %p", (void *)&pool);
    must(ABT_task_free(&task));
    must(ABT_pool_free(&parked));
}

static void print_sleeping(void *ult)
{
    begin();
    must(ABT_info_print_thread_stack(text.fp, ult));
}

/* Calls it so far down the stack that it does not matter what the compiler makes of either caller. */
static __attribute__((noinline)) void call_deep_down(void (*func)(void))
{
    char frame[65536];

    __asm__ volatile("" : : "r"(frame) : "memory"); /* somebody looks at it, the compiler has to believe */
    func();
    __asm__ volatile("" : : "r"(frame) : "memory");
}

static void init(void)
{
    must(ABT_init(0, NULL));
}

/* A ULT prints the primary one, which joins it. */
static void print_while_joining(void)
{
    ABT_thread thread = ult_in(own_pool(), print_sleeping, self());

    must(ABT_thread_free(&thread));
}

/*
 * The primary ULT's stack is the process's: what lies above the frame that has called ABT_init is not the library's,
 * unless a sanitizer has made it ask for the whole.
 */
static void test_primary_stack(void)
{
    static const char not_ours[] = ", which is not on a stack of the library\n";

    init();
    says(ABT_info_print_thread_stack(text.fp, self()), "  runs: its context is not saved");
    call_deep_down(print_while_joining);
    is_int(count_in(&text, not_ours), 0, "the part of the process's stack that is ours is shown");
    must(ABT_finalize());
    call_deep_down(init);
    print_while_joining();
    is_int(count_in(&text, not_ours), !SANITIZED, "the other is not");
    must(ABT_finalize());
}

static void test_attr(void)
{
    ABT_thread_attr attr;
    int arg;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 123456));
    says_all(ABT_info_print_thread_attr(text.fp, attr), "  stack size: 123456", "  migratable: yes");
    says(ABT_info_print_thread_attr(text.fp, attr), "ULT attribute %p:", (void *)attr);
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION)) {
        must(ABT_thread_attr_set_callback(attr, NULL, &arg));
        says(ABT_info_print_thread_attr(text.fp, attr), "  callback argument: %p", (void *)&arg);
        must(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
        says(ABT_info_print_thread_attr(text.fp, attr), "  migratable: no");
    }
    must(ABT_thread_attr_free(&attr));
}

int main(void)
{
    test_config();
    test_primary_stack();
    must(ABT_init(0, NULL));
    test_xstreams();
    test_scheds();
    test_pools();
    test_main_sched_unit();
    test_units();
    test_attr();
    begin();
    text_close(&text);
    ok_abt(ABT_finalize());
    return done_testing();
}

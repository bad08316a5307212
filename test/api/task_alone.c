/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tasklet that stands alone in its pool when it is joined: it runs at once, on the scheduler's stack but without the
 * scheduler, and its joiner goes on when it has ended. Nobody is to notice, whatever it does.
 */
#include <fenv.h>
#include <string.h>
#include <sys/mman.h>

#include "common.h"
#include "sanitizers.h"
#include "watchdog.h"

enum { ROUNDS = 300 }; /* more than there are between two event checks */

/* Under a sanitizer all goes through the scheduler, which is slower and may run others first. */
static const bool is_direct = !UNDER_ASAN && !UNDER_TSAN;

static ABT_pool pool;
static ABT_thread joiner;

/* --- Ways to join --- */

static void free_thread(ABT_thread *unit)
{
    ok_abt(ABT_thread_free(unit));
}

static void free_task(ABT_thread *unit)
{
    ok_abt(ABT_task_free(unit));
}

static void join_and_free(ABT_thread *unit)
{
    ok_abt(ABT_thread_join(*unit));
    is_int(state_of(*unit), ABT_THREAD_STATE_TERMINATED, "joined");
    must(ABT_thread_free(unit));
}

static void (*const ends[])(ABT_thread *) = {free_thread, free_task, join_and_free};
enum { NUM_ENDS = sizeof(ends) / sizeof(ends[0]) };

static ABT_thread task_of(void (*func)(void *), void *arg)
{
    ABT_thread task = ABT_THREAD_NULL;

    must(ABT_task_create(pool, func, arg, &task));
    return task;
}

/* --- What a tasklet sees --- */

struct seen {
    ABT_thread self;
    ABT_unit_type type;
    ABT_thread_state state, joiner_state;
    size_t size, total;
    int yields, suspends, joins, exits, rounding;
};

static void look(void *arg)
{
    struct seen *seen = arg;

    seen->self = self();
    must(ABT_self_get_type(&seen->type));
    seen->state = state_of(self());
    seen->joiner_state = state_of(joiner);
    seen->size = size_of(pool);
    seen->total = total_size_of(pool);
    seen->rounding = fegetround();
    if (!ABT_NULL) {
        seen->yields = ABT_self_yield();
        seen->suspends = ABT_self_suspend();
        seen->exits = ABT_self_exit();
        seen->joins = ABT_thread_join(self());
    }
}

static void test_views(void)
{
    bool keeps_words = has_feature(ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU);

    for (int i = 0; i < NUM_ENDS; i++) {
        struct seen seen = {0};
        size_t others = total_size_of(pool); /* of the primary ULT, which waits for the caller */
        ABT_thread task = task_of(look, &seen), copy = task;

        fesetround(keeps_words ? FE_UPWARD : FE_TONEAREST);
        ends[i](&task);
        is_int(fegetround(), keeps_words ? FE_UPWARD : FE_TONEAREST, "the joiner's rounding");
        fesetround(FE_TONEAREST);
        is_ptr(task, ends[i] == free_task ? ABT_TASK_NULL : ABT_THREAD_NULL, "the handle is null");
        is_ptr(seen.self, copy, "itself");
        is_int(seen.type, ABT_UNIT_TYPE_TASK, "a tasklet");
        is_int(seen.state, ABT_THREAD_STATE_RUNNING, "that runs");
        is_int(seen.joiner_state, ABT_THREAD_STATE_BLOCKED, "its joiner waits");
        is_int(seen.size, 0, "nothing is in the pool");
        is_int(seen.total, others + 1, "but the joiner belongs there");
        is_int(seen.rounding, FE_TONEAREST, "the scheduler's rounding");
        if (!ABT_NULL) {
            is_int(seen.yields, ABT_ERR_INV_THREAD, "it cannot yield");
            is_int(seen.suspends, ABT_ERR_INV_THREAD, "nor suspend itself");
            is_int(seen.exits, ABT_ERR_INV_THREAD, "nor exit");
            is_int(seen.joins, ABT_ERR_INV_THREAD, "nor join itself");
        }
        is_ptr(self(), joiner, "the joiner is itself again");
        is_int(state_of(joiner), ABT_THREAD_STATE_RUNNING, "and runs");
        is_int(total_size_of(pool), others, "and the pool counts nothing");
    }
}

/* As much stack as no ULT has. */
static void use_stack(void *arg)
{
    volatile char large[256 * 1024];

    memset((char *)large, 1, sizeof(large));
    *(int *)arg = large[sizeof(large) - 1];
}

static void test_stack(void)
{
    int used = 0;
    ABT_thread task = task_of(use_stack, &used);

    free_thread(&task);
    is_int(used, 1, "it has the scheduler's stack");
}

/* --- What a tasklet does --- */

static ABT_thread made[2];
static atomic_int num_made_ran;
static ABT_eventual eventual;

static void make(void *arg)
{
    made[0] = ult_in(pool, count_up, &num_made_ran);
    must(ABT_task_create(pool, count_up, &num_made_ran, &made[1]));
}

/* Whether the kernel guards pages. Filters may forbid both ways. */
static bool can_guard(void)
{
    enum { SIZE = 65536, GUARD_INSTALL = 102 /* MADV_GUARD_INSTALL, which older headers have not got */ };
    char *page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        bail_out("mmap");
    bool can = madvise(page, SIZE, GUARD_INSTALL) == 0 || mprotect(page, SIZE, PROT_NONE) == 0;
    munmap(page, SIZE);
    return can;
}

/* Whether the caller's stack has a canary: then it goes the long way, on which that is looked at. */
static bool has_canary(void)
{
    enum { NONE, CANARY }; /* what the query says */
    ABT_bool is_primary;
    int check;

    must(ABT_self_is_primary(&is_primary));
    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK, &check));
    return !is_primary && (check == CANARY || (check != NONE && !can_guard()));
}

static void test_make(bool is_main)
{
    bool stays_direct = is_direct && is_main && !has_canary();

    for (int i = 0; i < NUM_ENDS; i++) {
        ABT_thread task = task_of(make, NULL);
        size_t others = total_size_of(pool) - 1;

        num_made_ran = 0;
        ends[i](&task);
        if (stays_direct)
            is_int(num_made_ran, 0, "the joiner goes on first");
        is_int(total_size_of(pool) - others, stays_direct ? 2 : 0, "what the tasklet has made is there");
        must(ABT_thread_free(&made[0]));
        must(ABT_thread_free(&made[1]));
        is_int(num_made_ran, 2, "and runs");
    }
}

static void wait_for_eventual(void *arg)
{
    must(ABT_eventual_wait(eventual, NULL));
    count_up(arg);
}

static void set_eventual(void *arg)
{
    must(ABT_eventual_set(eventual, NULL, 0));
    must(ABT_thread_free(arg));
}

static void test_wake(void)
{
    atomic_int woken = 0;
    ABT_thread waits = ult_in(pool, wait_for_eventual, &woken), ended = ult_in(pool, do_nothing, NULL), task;

    must(ABT_thread_join(ended));
    wait_for(state_of(waits) == ABT_THREAD_STATE_BLOCKED);
    task = task_of(set_eventual, &ended);
    free_thread(&task);
    is_ptr(ended, ABT_THREAD_NULL, "the tasklet has freed another unit");
    must(ABT_thread_free(&waits));
    is_int(woken, 1, "and woken one");
    must(ABT_eventual_reset(eventual));
}

static ABT_mutex mutex;
static atomic_int num_locked;

static void lock_mutex(void *arg)
{
    must(ABT_mutex_lock(mutex));
    count_up(arg);
    must(ABT_mutex_unlock(mutex));
}

static void *hold_mutex(void *arg)
{
    must(ABT_mutex_lock(mutex));
    count_up(arg);
    nap_ms(5);
    must(ABT_mutex_unlock(mutex));
    return NULL;
}

static void test_block(void)
{
    ABT_thread task = task_of(lock_mutex, &num_locked);
    pthread_t native;

    num_locked = 0;
    must(ABT_mutex_create(&mutex));
    must(pthread_create(&native, NULL, hold_mutex, &num_locked));
    while (num_locked == 0)
        nap_ms(0.1);
    free_thread(&task);
    is_int(num_locked, 2, "a tasklet that waits keeps its stream and goes on");
    must(pthread_join(native, NULL));
    must(ABT_mutex_free(&mutex));
}

static void cancel_task(void *arg)
{
    must(ABT_thread_cancel(arg));
}

static void join_one_that_cancels(void *arg)
{
    static ABT_thread task;

    task = task_of(cancel_task, self());
    must(ABT_thread_free(&task));
    count_up(arg);
}

/* A tasklet that is cancelled does not run, and its joiner goes on. One that cancels its joiner is the last it joins.
 */
static void test_cancel(void)
{
    atomic_int ran = 0;
    ABT_thread task = task_of(count_up, &ran), ult;

    must(ABT_thread_cancel(task));
    free_thread(&task);
    is_int(ran, 0, "a cancelled one has not run");
    ult = ult_in(pool, join_one_that_cancels, &ran);
    must(ABT_thread_free(&ult)); /* the caller waits, so that the tasklet is alone */
    is_int(ran, 0, "a cancelled joiner does not go on");
}

static atomic_int num_finished;

static void note_event(ABT_thread thread, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    if (thread == arg && event == ABT_TOOL_EVENT_THREAD_FINISH)
        count_up(&num_finished);
}

static void begin_to_listen(void *arg)
{
    must(ABT_tool_register_thread_callback(note_event, ABT_TOOL_EVENT_THREAD_ALL, self()));
}

static void test_tool(void)
{
    ABT_thread task = task_of(begin_to_listen, NULL);

    num_finished = 0;
    free_thread(&task);
    is_int(num_finished, 1, "a listener that the tasklet has brought is told of its end");
    must(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL));
}

static void test_many(void)
{
    atomic_int ran = 0;
    int before = 0, wrong = 0;

    for (int i = 0; i < ROUNDS; i++, before++) {
        ABT_thread task = task_of(count_up, &ran);

        wrong += ran != before;
        must(i % 2 ? ABT_thread_free(&task) : ABT_task_free(&task));
        wrong += ran != before + 1;
    }
    is_int(wrong, 0, "each runs when it is joined");
}

static void test_all(void *arg)
{
    joiner = self();
    test_views();
    test_stack();
    test_make(arg != NULL);
    test_wake();
    test_block();
    test_many();
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL))
        test_cancel();
    if (has_tool())
        test_tool();
}

/* --- Kinds of schedulers --- */

static const struct {
    const char *what;
    ABT_sched_predef sched;
    ABT_pool_kind kind;
    ABT_pool_access access;
} places[] = {
    {"private", ABT_SCHED_BASIC, ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV},
    {"shared", ABT_SCHED_BASIC, ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC},
    {"RANDWS", ABT_SCHED_RANDWS, ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC},
    {"by priority", ABT_SCHED_PRIO, ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC},
};

static char is_main; /* its address says so */

/* The primary ULT joins, then one whose stack is its own. */
static void test_places(void)
{
    ABT_xstream xstream = own_xstream();
    ABT_thread_attr attr;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 256 * 1024));
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        ABT_thread ult;

        diag("%s", places[i].what);
        must(ABT_pool_create_basic(places[i].kind, places[i].access, ABT_TRUE, &pool));
        must(ABT_xstream_set_main_sched_basic(xstream, places[i].sched, 1, &pool));
        test_all(&is_main);
        must(ABT_thread_create(pool, test_all, &is_main, attr, &ult));
        must(ABT_thread_free(&ult));
    }
    must(ABT_thread_attr_free(&attr));
}

static atomic_int num_at_once;

static void join_many(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        ABT_thread task;

        must(ABT_task_create(*(ABT_pool *)arg, count_up, &num_at_once, &task));
        must(ABT_thread_free(&task));
    }
}

/* Two streams share the pools: others take what is joined, and what joins. */
static void test_streams(ABT_sched_predef predef, ABT_pool_kind kind)
{
    enum { ULTS = 8 };
    ABT_pool pools[2], turned[2];
    ABT_xstream streams[2];
    ABT_thread ults[ULTS];

    num_at_once = 0;
    for (int i = 0; i < 2; i++)
        pools[i] = new_pool(kind, ABT_FALSE);
    turned[0] = pools[1];
    turned[1] = pools[0];
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_create_basic(predef, 2, i ? turned : pools, ABT_SCHED_CONFIG_NULL, &streams[i]));
    for (int i = 0; i < ULTS; i++)
        ults[i] = ult_in(pools[i % 2], join_many, &pools[i / 2 % 2]);
    for (int i = 0; i < ULTS; i++)
        must(ABT_thread_free(&ults[i]));
    is_int(num_at_once, ULTS * ROUNDS, "each has run once");
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&streams[i]));
    for (int i = 0; i < 2; i++) {
        is_int(total_size_of(pools[i]), 0, "nothing is left");
        must(ABT_pool_free(&pools[i]));
    }
}

/* Under a scheduler that is stacked, or a user's, tasklets are the scheduler's. */
static void test_stacked(void)
{
    ABT_sched sched;
    ABT_thread ult;
    ABT_pool outer = own_pool();

    diag("stacked");
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    ult = ult_in(pool, test_all, NULL);
    must(ABT_pool_add_sched(outer, sched));
    while (state_of(ult) != ABT_THREAD_STATE_TERMINATED)
        ABT_thread_yield();
    must(ABT_thread_free(&ult));
}

int main(void)
{
    want_tool();
    watchdog_begin(0);
    must(ABT_init(0, NULL));
    must(ABT_eventual_create(0, &eventual));
    test_places();
    test_stacked();
    test_streams(ABT_SCHED_RANDWS, ABT_POOL_RANDWS);
    test_streams(ABT_SCHED_BASIC, ABT_POOL_FIFO);
    must(ABT_eventual_free(&eventual));
    must(ABT_finalize());
    return done_testing();
}

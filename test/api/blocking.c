/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ABTX_blocking_begin and _end: a ULT blocks its native thread in foreign code, and the other units of its stream run
 * on another one.
 */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "emulated.h"
#include "parking.h"
#include "watchdog.h"

static FILE *nowhere;               /* what tools print */
static _Thread_local int of_thread; /* a variable of the native thread's */

/* --- A region that ends when it is told to --- */

struct region {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool may_end; /* mutex */
    atomic_int stage;
    bool same_thread, same_rank;
    bool starts_again;
};

enum { BEGUN = 1, INSIDE, OUTSIDE };

static struct region region_new(void)
{
    return (struct region){.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
}

/* Foreign code that blocks: it knows nothing of the library. */
static void block(struct region *r)
{
    pthread_mutex_lock(&r->mutex);
    while (!r->may_end)
        pthread_cond_wait(&r->cond, &r->mutex);
    pthread_mutex_unlock(&r->mutex);
}

static void let_end(struct region *r)
{
    pthread_mutex_lock(&r->mutex);
    r->may_end = true;
    pthread_cond_signal(&r->cond);
    pthread_mutex_unlock(&r->mutex);
}

static void be_in_region(void *arg)
{
    struct region *r = arg;
    int rank = own_rank(), mark;

    atomic_store(&r->stage, BEGUN);
    must(ABTX_blocking_begin());
    pthread_t thread = pthread_self();
    mark = of_thread = rand();
    atomic_store(&r->stage, INSIDE);
    block(r);
    errno = 4711;
    must(ABTX_blocking_end());
    r->same_thread = pthread_equal(thread, pthread_self()) && of_thread == mark && errno == 4711;
    r->same_rank = own_rank() == rank;
    atomic_store(&r->stage, OUTSIDE);
    must(ABT_self_yield());
}

/* --- Others run meanwhile --- */

struct other {
    atomic_int *ran;
    pthread_t not_on;
    bool elsewhere;
    int rank;
};

static void run_meanwhile(void *arg)
{
    struct other *other = arg;

    other->elsewhere = !pthread_equal(pthread_self(), other->not_on);
    other->rank = own_rank();
    must(ABT_self_yield());
    atomic_fetch_add(other->ran, 1);
}

/* Units of a stream run while some of its ULTs are in regions. */
static void test_others(ABT_pool pool, int num)
{
    enum { MAX = 8, NUM_OTHERS = 20 };
    struct region regions[MAX];
    ABT_thread threads[MAX], others[NUM_OTHERS];
    struct other other[NUM_OTHERS];
    atomic_int ran = 0;
    int good = 0;
    size_t total = 0;

    for (int i = 0; i < num; i++) {
        regions[i] = region_new();
        must(ABT_thread_create(pool, be_in_region, &regions[i], ABT_THREAD_ATTR_NULL, &threads[i]));
    }
    for (int i = 0; i < num; i++)
        wait_for(atomic_load(&regions[i].stage) == INSIDE);
    pass("%d ULTs of a stream are in regions at once", num);
    is_int(state_of(threads[0]), ABT_THREAD_STATE_BLOCKED, "one is blocked");
    must(ABT_pool_get_total_size(pool, &total));
    ok(total >= (size_t)num, "they count in their pool");
    must(ABT_info_print_thread_stack(nowhere, threads[0]));
    must(ABT_info_print_thread_stacks_in_pool(nowhere, pool));
    for (int i = 0; i < NUM_OTHERS; i++) {
        other[i] = (struct other){.ran = &ran, .not_on = pthread_self()};
        must(ABT_thread_create(pool, run_meanwhile, &other[i], ABT_THREAD_ATTR_NULL, &others[i]));
    }
    must(ABT_task_create(pool, count_up, &ran, NULL));
    ok(soon(atomic_load(&ran) == NUM_OTHERS + 1), "other units of the stream run meanwhile");
    for (int i = 0; i < NUM_OTHERS; i++)
        must(ABT_thread_free(&others[i]));
    for (int i = num - 1; i >= 0; i--) {
        let_end(&regions[i]);
        ok(soon(atomic_load(&regions[i].stage) == OUTSIDE), "one that ends its region goes on");
        must(ABT_thread_free(&threads[i]));
        good += regions[i].same_thread && regions[i].same_rank;
    }
    is_int(good, num, "on the same native thread, with errno, and on the same stream");
}

static void on_secondary(int num)
{
    ABT_xstream stream = new_xstream();
    test_others(pool_of(stream), num);
    must(ABT_xstream_join(stream));
    must(ABT_xstream_revive(stream));
    test_others(pool_of(stream), 1);
    must(ABT_xstream_free(&stream));
}

/* The primary ULT is in a region itself, and a ULT of its stream ends that. */
static void end_for_primary(void *arg)
{
    struct region *r = arg;

    r->same_rank = own_rank() == 0;
    let_end(r);
}

static void by_primary(void)
{
    struct region r = region_new();
    pthread_t before = pthread_self();

    ABT_thread thread = ult_in(own_pool(), end_for_primary, &r);
    ok_abt(ABTX_blocking_begin());
    block(&r);
    ok_abt(ABTX_blocking_end());
    ok(r.same_rank, "a ULT of the primary stream has run while the primary ULT was in a region");
    ok(pthread_equal(before, pthread_self()), "the primary ULT goes on on its thread");
    must(ABT_thread_free(&thread));
}

/* --- Callers --- */

static void test_caller(enum caller who, void *arg)
{
    ABT_xstream xstream;
    int rank;

    ok_err(ABTX_blocking_end(), ABT_ERR_INV_THREAD);
    ok_abt(ABTX_blocking_begin());
    ok_err(ABTX_blocking_begin(), ABT_ERR_INV_THREAD);
    if (!ABT_NULL) {
        is_int(ABT_self_get_xstream_rank(&rank), ABT_ERR_INV_XSTREAM, "in it there is no rank");
        is_int(ABT_self_get_xstream(&xstream), ABT_ERR_INV_XSTREAM, "and no stream");
    }
    ok_abt(ABTX_blocking_end());
    ok_err(ABTX_blocking_end(), ABT_ERR_INV_THREAD);
    if (!is_left_out(who != EXTERNAL))
        is_int(ABT_self_get_xstream_rank(&rank), code_for_es(who, ABT_SUCCESS), "after it all is as before");
}

/* The region is that of an external thread: it may wake units of the library's. */
static void set_in_region(void *arg)
{
    must(ABTX_blocking_begin());
    must(ABT_eventual_set(arg, NULL, 0));
    must(ABTX_blocking_end());
}

static void wakes_from_region(void)
{
    ABT_eventual eventual;

    must(ABT_eventual_create(0, &eventual));
    ABT_thread thread = ult_in(own_pool(), set_in_region, eventual);
    ok_abt(ABT_eventual_wait(eventual, NULL));
    must(ABT_thread_free(&thread));
    must(ABT_eventual_free(&eventual));
}

/* --- The end of streams --- */

struct ending {
    ABT_xstream stream;
    atomic_bool ended;
};

static void *free_stream(void *arg)
{
    struct ending *ending = arg;

    must(ABT_xstream_free(&ending->stream));
    atomic_store(&ending->ended, true);
    return NULL;
}

/* A stream waits for its regions, whether it is joined or cancelled and whether others serve its pool or not. */
static void ends_with_region(bool shared, bool cancelled)
{
    struct ending ending = {.ended = false};
    struct region r = region_new();
    ABT_pool pool;
    ABT_xstream other = ABT_XSTREAM_NULL;
    pthread_t native;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &ending.stream));
    ABT_thread thread = ult_in(pool, be_in_region, &r);
    wait_for(atomic_load(&r.stage) == INSIDE);
    if (shared)
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &other));
    if (cancelled)
        must(ABT_xstream_cancel(ending.stream));
    must(pthread_create(&native, NULL, free_stream, &ending));
    nap_ms(3);
    ok(!atomic_load(&ending.ended), "a %s stream waits for a region (its pool is %s)",
       cancelled ? "cancelled" : "joined", shared ? "shared" : "its own");
    let_end(&r);
    pthread_join(native, NULL);
    ok(atomic_load(&r.stage) == OUTSIDE && r.same_thread && r.same_rank, "which has ended before");
    if (!shared)
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &other));
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&other));
    must(ABT_pool_free(&pool));
}

/* A ULT that nobody joins is in a region on the primary stream. The primary ULT may be elsewhere when it ends. */
static void finalize_with_region(void)
{
    struct region r = region_new();

    must(ABT_init(0, NULL));
    must(ABT_thread_create(own_pool(), be_in_region, &r, ABT_THREAD_ATTR_NULL, NULL));
    wait_for(atomic_load(&r.stage) == INSIDE);
    let_end(&r);
    ok_abt(ABT_finalize());
    is_int(atomic_load(&r.stage), OUTSIDE, "finalize has waited for a region");
}

/* --- A scheduler of the user's --- */

static void on_user_sched(void)
{
    ABT_sched_def def = {ABT_SCHED_TYPE_ULT, sched_is_ready, run_parking, sched_is_left, NULL};
    ABT_sched sched;
    ABT_pool pool;
    ABT_xstream stream;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &stream));
    test_others(pool, 3);
    must(ABT_xstream_free(&stream));
    must(ABT_sched_free(&sched));
}

/* --- Drivers --- */

static atomic_int starts, calls_elsewhere;
static pthread_t driver_thread;

static int start_driver(void *arg, void **data)
{
    driver_thread = pthread_self();
    atomic_fetch_add(&starts, 1);
    return ABT_SUCCESS;
}

static ABT_bool poll_driver(void *data, ABT_bool about_to_sleep)
{
    if (!pthread_equal(driver_thread, pthread_self()))
        atomic_fetch_add(&calls_elsewhere, 1);
    return ABT_FALSE;
}

static void end_driver(void *data)
{
    (void)poll_driver(data, ABT_FALSE);
}

struct with_driver {
    ABTX_driver driver;
    pthread_t begun;
    bool same;
    int code;
};

static void attach_in_vain(void *arg)
{
    struct with_driver *w = arg;

    w->code = ABTX_driver_attach(w->driver, own_xstream());
}

static void with_drivers(void)
{
    ABTX_driver_ops ops = {.start = start_driver};
    struct with_driver w;
    struct region r = region_new();
    ABT_thread thread, other;

    must(ABTX_driver_create(&ops, NULL, &w.driver));
    ABT_xstream stream = new_xstream();
    must(ABT_thread_create(pool_of(stream), be_in_region, &r, ABT_THREAD_ATTR_NULL, &thread));
    wait_for(atomic_load(&r.stage) == INSIDE);
    must(ABT_thread_create(pool_of(stream), attach_in_vain, &w, ABT_THREAD_ATTR_NULL, &other));
    must(ABT_thread_free(&other));
    is_int(w.code, ABT_ERR_INV_XSTREAM, "a unit cannot attach a driver to a stream that is on another thread");
    must(ABTX_driver_attach(w.driver, stream));
    nap_ms(3);
    is_int(atomic_load(&starts), 0, "one that is attached by others does not start there");
    let_end(&r);
    must(ABT_thread_free(&thread));
    ok(soon(atomic_load(&starts) == 1), "but when the stream is back");

    r = region_new();
    atomic_int ran = 0;
    must(ABT_thread_create(pool_of(stream), be_in_region, &r, ABT_THREAD_ATTR_NULL, &thread));
    wait_for(atomic_load(&r.stage) == INSIDE);
    must(ABT_task_create(pool_of(stream), count_up, &ran, NULL));
    nap_ms(3);
    is_int(atomic_load(&ran), 0, "a stream with a driver is not handed over");
    let_end(&r);
    must(ABT_thread_free(&thread));
    ok(r.same_thread && r.same_rank && soon(atomic_load(&ran) == 1), "and goes on after the region");
    must(ABT_xstream_free(&stream));
    must(ABTX_driver_free(&w.driver));
}

struct with_region {
    struct region region;
    ABTX_driver driver;
    bool comes_last;
};

/* On the thread of the region, to which the stream comes for that. */
static void call_after_region(void *arg)
{
    struct with_region *w = arg;
    ABT_bool found;

    must(ABTX_blocking_begin());
    atomic_store(&w->region.stage, INSIDE);
    block(&w->region);
    must(ABTX_blocking_end());
    if (w->comes_last) {
        must(ABTX_driver_look(w->driver, &found));
        must(ABTX_driver_detach(w->driver, own_xstream()));
    }
    atomic_store(&w->region.stage, OUTSIDE);
}

/* A driver comes while two ULTs are in regions. The first one has the stream's own thread. */
static void with_drivers_of_regions(void)
{
    ABTX_driver_ops ops = {.start = start_driver, .poll = poll_driver, .end = end_driver};
    struct with_region w[2] = {{.region = region_new()}, {.region = region_new(), .comes_last = true}};
    ABTX_driver driver;
    ABT_thread threads[2];

    atomic_store(&starts, 0);
    must(ABTX_driver_create(&ops, NULL, &driver));
    ABT_xstream stream = new_xstream();
    must(ABTX_xstream_set_spin(stream, 0)); /* it makes no further check before it sleeps */
    for (int i = 0; i < 2; i++) {
        w[i].driver = driver;
        must(ABT_thread_create(pool_of(stream), call_after_region, &w[i], ABT_THREAD_ATTR_NULL, &threads[i]));
        wait_for(atomic_load(&w[i].region.stage) == INSIDE);
    }
    must(ABTX_driver_attach(driver, stream));
    let_end(&w[0].region);
    must(ABT_thread_free(&threads[0]));
    wait_for(atomic_load(&starts) == 1);
    let_end(&w[1].region);
    must(ABT_thread_free(&threads[1]));
    must(ABT_xstream_free(&stream));
    must(ABTX_driver_free(&driver));
    is_int(atomic_load(&calls_elsewhere), 0, "a ULT that comes back to another thread calls no driver of the stream's");
}

/* --- Hooks --- */

static atomic_int leaves, backs;

static void on_leave(void *arg)
{
    atomic_fetch_add(&leaves, 1);
}

static void on_back(void *arg)
{
    atomic_fetch_add(&backs, 1);
}

static void use_hooks(void *arg)
{
    static ABTX_switch_link link = {.hooks = {on_leave, on_back, NULL}};

    must(ABTX_self_add_switch_hooks(&link));
    must(ABTX_blocking_begin());
    is_int(atomic_load(&leaves), 1, "the ULT's switch hooks hear of its leave");
    must(ABTX_blocking_end());
    is_int(atomic_load(&backs), 1, "and that it is back");
    must(ABTX_self_remove_switch_hooks(&link));
}

static void with_hooks(void)
{
    ABT_thread thread = ult_in(own_pool(), use_hooks, NULL);
    must(ABT_thread_free(&thread));
}

/* --- Fork --- */

static void fork_in_region(void *arg)
{
    must(ABTX_blocking_begin());
    pid_t child = fork();
    if (child == 0) {
        int num = 0;
        alarm(60);
        bool good = ABTX_blocking_end() == ABT_SUCCESS && ABTX_blocking_end() == ABT_ERR_INV_THREAD;
        good = good && ABT_xstream_get_num(&num) == ABT_SUCCESS && num == 1 && ABT_self_yield() == ABT_SUCCESS;
        _Exit(good ? 7 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    *(int *)arg = status;
    must(ABTX_blocking_end());
}

/* The child has no spare threads: it begins with none. */
static void fork_after_region(void)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        must(ABTX_blocking_begin());
        must(ABTX_blocking_end());
        _Exit(ABT_finalize() == ABT_SUCCESS ? 7 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a child that is forked after regions has its own");
}

static void with_fork(void)
{
    int status = -1;

    if (is_emulated() || !FORKS_WITH_THREADS) {
        skip(2, "children of a fork cannot make threads here, or a sanitizer's threads and locks are not there");
        return;
    }
    ABT_thread thread = ult_in(own_pool(), fork_in_region, &status);
    must(ABT_thread_free(&thread));
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "in the child of a fork in a region that is over");
    fork_after_region();
}

int main(void)
{
    watchdog_begin(0);
    nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        bail_out("there is no /dev/null");
    must(ABT_init(0, NULL));
    call_as_each(test_caller, NULL);
    test_others(own_pool(), 1);
    test_others(own_pool(), 4);
    on_secondary(1);
    on_secondary(5);
    by_primary();
    wakes_from_region();
    for (int i = 0; i < 4; i++)
        ends_with_region(i & 1, i & 2);
    on_user_sched();
    with_drivers();
    with_drivers_of_regions();
    with_hooks();
    with_fork();
    must(ABT_finalize());
    finalize_with_region();
    finalize_with_region();
    ok_abt(ABTX_blocking_begin());
    ok_abt(ABTX_blocking_end());
    fclose(nowhere);
    return done_testing();
}

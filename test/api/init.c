/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_init, ABT_initialized and ABT_finalize; what is there after the one and what the other waits for and frees. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

/* --- Without initialisation --- */

static void test_uninitialized(void)
{
    is_int(ABT_initialized(), ABT_ERR_UNINITIALIZED, "the library is down");
    ok_err(ABT_finalize(), ABT_ERR_UNINITIALIZED);
    if (ABT_NULL)
        return;
}

/* --- The primary ULT and its ES --- */

static void test_primary_xstream(void)
{
    ABT_xstream xstream = own_xstream();
    ABT_sched sched = ABT_SCHED_NULL;
    ABT_pool pool = own_pool();
    ABT_pool_access access;
    ABT_bool flag = ABT_FALSE;
    int n = -1;

    ok_abt(ABT_xstream_get_rank(xstream, &n));
    is_int(n, 0, "the primary ES has rank 0");
    ok_abt(ABT_xstream_is_primary(xstream, &flag));
    is_int(flag, ABT_TRUE, "and is the primary one");
    ok_abt(ABT_xstream_get_num(&n));
    is_int(n, 1, "there is no other");
    ok_abt(ABT_xstream_get_main_sched(xstream, &sched));
    ok_abt(ABT_sched_get_num_pools(sched, &n));
    is_int(n, 1, "its scheduler has one pool");
    ok_abt(ABT_pool_get_id(pool, &n));
    is_int(n, 0, "pool ids start at 0");
    ok_abt(ABT_pool_get_access(pool, &access));
    is_int(access, ABT_POOL_ACCESS_MPMC, "anybody may use it");
    is_int(size_of(pool), 0, "it is empty");
    is_int(total_size_of(pool), 0, "nothing is blocked");
}

static void test_primary_ult(void)
{
    ABT_thread thread = ABT_THREAD_NULL, copy;
    ABT_pool pool = ABT_POOL_NULL;
    ABT_xstream xstream = ABT_XSTREAM_NULL;
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    ABT_unit_id id = 99;
    ABT_bool flag = ABT_FALSE;
    void *addr = &id, *arg = &id;
    void (*func)(void *) = do_nothing;
    size_t size = 99;

    ok_abt(ABT_thread_self(&thread));
    ok_abt(ABT_thread_get_id(thread, &id));
    is_int(id, 0, "work-unit ids start at 0 with the first query");
    ok_abt(ABT_thread_is_primary(thread, &flag));
    is_int(flag, ABT_TRUE, "main is the primary ULT");
    flag = ABT_FALSE;
    ok_abt(ABT_self_is_primary(&flag));
    is_int(flag, ABT_TRUE, "and knows it");
    is_int(state_of(thread), ABT_THREAD_STATE_RUNNING, "it runs");
    ok_abt(ABT_thread_get_stack(thread, &addr, &size));
    ok(addr == NULL && size == 0, "on the native stack");
    ok_abt(ABT_thread_get_stacksize(thread, &size));
    is_int(size, 0, "of no size");
    ok_abt(ABT_thread_get_attr(thread, &attr));
    addr = &id, size = 99;
    ok_abt(ABT_thread_attr_get_stack(attr, &addr, &size));
    ok(addr == NULL && size == 0, "its attribute says the same");
    must(ABT_thread_attr_free(&attr));
    ok_abt(ABT_thread_get_thread_func(thread, &func));
    ok(func == NULL, "without a function");
    ok_abt(ABT_thread_get_arg(thread, &arg));
    is_ptr(arg, NULL, "without an argument");
    ok_abt(ABT_thread_set_arg(thread, &copy));
    ok_abt(ABT_self_get_arg(&arg));
    is_ptr(arg, &copy, "until it is given one");
    flag = ABT_FALSE;
    ok_abt(ABT_thread_is_unnamed(thread, &flag));
    is_int(flag, ABT_TRUE, "unnamed");
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION)) {
        flag = ABT_TRUE;
        ok_abt(ABT_thread_is_migratable(thread, &flag));
        is_int(flag, ABT_FALSE, "not migratable");
    }
    ok_abt(ABT_thread_get_last_pool(thread, &pool));
    is_ptr(pool, own_pool(), "in the first main pool");
    ok_abt(ABT_thread_get_last_xstream(thread, &xstream));
    is_ptr(xstream, own_xstream(), "on the primary ES");
    if (ABT_NULL)
        return;
    copy = thread;
    ok_err(ABT_thread_free(&copy), ABT_ERR_INV_THREAD);
    ok_err(ABT_thread_join(thread), ABT_ERR_INV_THREAD);
    ok_err(ABT_thread_exit(), ABT_ERR_INV_THREAD);
    ok_err(ABT_self_exit(), ABT_ERR_INV_THREAD);
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL))
        ok_err(ABT_thread_cancel(thread), ABT_ERR_INV_THREAD);
    ok_err(ABT_xstream_exit(), ABT_ERR_INV_XSTREAM);
}

/* --- Counting --- */

static void pair_of_calls(enum caller who, void *arg)
{
    ABT_xstream before = ABT_XSTREAM_NULL, after = ABT_XSTREAM_NULL;
    int code = ABT_self_get_xstream(&before);

    ok_abt(ABT_initialized());
    ok_abt(ABT_init(0, NULL));
    is_int(ABT_self_get_xstream(&after), code, "%s stays what it is", caller_names[who]);
    is_ptr(after, before, "where it is");
    ok_abt(ABT_finalize());
    ok_abt(ABT_initialized());
}

/* The last call by somebody else is refused, and does not count. */
static void wrong_finalize(enum caller who, void *arg)
{
    if (who == PRIMARY_ULT)
        return;
    ok_err(ABT_finalize(), who == EXTERNAL || who == SECONDARY_ULT ? ABT_ERR_INV_XSTREAM : ABT_ERR_INV_THREAD);
    ok_abt(ABT_initialized());
}

static void test_counting(void)
{
    int n = 0;

    ok_abt(ABT_init(0, NULL));
    ok_abt(ABT_init(0, NULL));
    ok_abt(ABT_finalize());
    call_as_each(pair_of_calls, NULL);
    ok_abt(ABT_finalize());
    if (!ABT_NULL)
        call_as_each(wrong_finalize, NULL);
    must(ABT_xstream_get_num(&n));
    is_int(n, 1, "all is well");
}

/* --- What finalize waits for --- */

static void yield_often(void *counter)
{
    for (int i = 0; i < 100; i++)
        ABT_thread_yield();
    count_up(counter);
}

struct woken {
    ABT_thread thread;
    atomic_int done;
};

static void *resume_late(void *arg)
{
    struct woken *woken = arg;
    ABT_thread_state state;

    nap_ms(20);
    do
        ABT_thread_get_state(woken->thread, &state);
    while (state != ABT_THREAD_STATE_BLOCKED);
    ABT_thread_resume(woken->thread);
    return NULL;
}

static void set_done(void *arg)
{
    count_up(&((struct woken *)arg)->done);
}

static void suspend_woken(void *arg)
{
    ABT_self_suspend();
    set_done(arg);
}

static atomic_int destroyed;

static void destructor(void *value)
{
    atomic_fetch_add(&destroyed, 1);
}

static void test_unjoined(void)
{
    atomic_int counter = 0;
    struct woken woken = {.thread = ABT_THREAD_NULL};
    ABT_key key;
    pthread_t native;

    must(ABT_init(0, NULL));
    must(ABT_key_create(destructor, &key));
    must(ABT_self_set_specific(key, &key));
    for (int i = 0; i < 10; i++) {
        must(ABT_thread_create(own_pool(), yield_often, &counter, ABT_THREAD_ATTR_NULL, NULL));
        must(ABT_task_create(own_pool(), count_up, &counter, NULL));
    }
    /* Named, and never joined nor freed: it is waited for all the same. */
    must(ABT_thread_create(own_pool(), suspend_woken, &woken, ABT_THREAD_ATTR_NULL, &woken.thread));
    must(pthread_create(&native, NULL, resume_late, &woken));
    is_int(atomic_load(&counter), 0, "nothing has run yet");
    ok_abt(ABT_finalize());
    pthread_join(native, NULL);
    is_int(atomic_load(&counter), 20, "units that nobody joined have run to their end");
    is_int(atomic_load(&woken.done), 1, "so has one that was blocked");
    is_int(atomic_load(&destroyed), 1, "the primary ULT's value was destroyed");
    ok_err(ABT_initialized(), ABT_ERR_UNINITIALIZED);
    ok_err(ABT_finalize(), ABT_ERR_UNINITIALIZED);
    must(ABT_key_free(&key));
}

/* Units that run during finalize may create others, and use the library as a nested client does. */
static void create_more(void *counter)
{
    must(ABT_init(0, NULL));
    must(ABT_thread_create(own_pool(), yield_often, counter, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_finalize());
    count_up(counter);
}

static void test_late_units(void)
{
    atomic_int counter = 0;

    must(ABT_init(0, NULL));
    must(ABT_thread_create(own_pool(), create_more, &counter, ABT_THREAD_ATTR_NULL, NULL));
    ok_abt(ABT_finalize());
    is_int(atomic_load(&counter), 2, "a unit created during finalize has run, too");
}

/* --- What finalize frees: the primary ES's scheduler and pools, whatever their flags say --- */

static atomic_int pools_freed, scheds_freed;

static void free_unit(ABT_pool pool, ABT_unit unit)
{
    (void)pool, (void)unit;
}

/* A stack of at most eight units is enough. */
static ABT_thread units[8];
static int num_units;

static ABT_bool is_empty(ABT_pool pool)
{
    return num_units ? ABT_FALSE : ABT_TRUE;
}

static ABT_thread pop(ABT_pool pool, ABT_pool_context context)
{
    (void)pool, (void)context;
    return num_units ? units[--num_units] : ABT_THREAD_NULL;
}

static void push(ABT_pool pool, ABT_unit unit, ABT_pool_context context)
{
    (void)pool, (void)context;
    units[num_units++] = (ABT_thread)unit;
}

static void free_pool(ABT_pool pool)
{
    atomic_fetch_add(&pools_freed, 1);
}

static int free_sched(ABT_sched sched)
{
    atomic_fetch_add(&scheds_freed, 1);
    return ABT_SUCCESS;
}

static ABT_pool new_counted_pool(void)
{
    ABT_pool_user_def pool_def;
    ABT_pool pool;

    pools_freed = scheds_freed = 0;
    must(ABT_pool_user_def_create(unit_as_handle, free_unit, is_empty, pop, push, &pool_def));
    must(ABT_pool_user_def_set_free(pool_def, free_pool));
    must(ABT_pool_create(pool_def, ABT_POOL_CONFIG_NULL, &pool));
    must(ABT_pool_user_def_free(&pool_def));
    return pool;
}

static void test_frees_primary(void)
{
    ABT_sched_def def = {.run = run_until_stop, .free = free_sched};
    ABT_sched sched;
    ABT_pool pool;

    must(ABT_init(0, NULL));
    pool = new_counted_pool();
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    ok_abt(ABT_xstream_set_main_sched(own_xstream(), sched));
    ok(pools_freed == 0 && scheds_freed == 0, "neither is automatic");
    ok_abt(ABT_finalize());
    is_int(scheds_freed, 1, "finalize frees the primary ES's scheduler");
    is_int(pools_freed, 1, "and its pool");
}

/* The same pool may serve a scheduler under several numbers. */
static void test_frees_once(void)
{
    ABT_sched_def def = {.run = run_until_stop, .free = free_sched};
    ABT_sched sched;
    ABT_pool pool;

    must(ABT_init(0, NULL));
    pool = new_counted_pool();
    must(ABT_sched_create(&def, 3, (ABT_pool[]){pool, pool, pool}, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_set_main_sched(own_xstream(), sched));
    ok_abt(ABT_finalize());
    is_int(pools_freed, 1, "a pool that is there three times is freed once");
}

/* Another ES is left over: the process is told, and ends. In a child process, before there are any threads. */
static void finalize_too_early(int fd)
{
    struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
    dup2(fd, STDERR_FILENO);
    must(ABT_init(0, NULL));
    new_xstream();
    ABT_finalize();
    _exit(0);
}

static void test_left_over(void)
{
    char text[256];
    int fds[2], status = 0;
    pid_t child;
    ssize_t len;

    must(pipe(fds));
    fflush(stdout);
    child = fork();
    if (child == 0)
        finalize_too_early(fds[1]);
    close(fds[1]);
    len = read(fds[0], text, sizeof(text) - 1);
    text[len > 0 ? len : 0] = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        bail_out("child");
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "an ES that was not freed: the process is aborted");
    ok(strstr(text, "have not been freed"), "and told why: %s", text);
    close(fds[0]);
}

/* --- Again --- */

static void test_again(void)
{
    ABT_thread_attr attr;
    size_t size = 0, old_size = 0;

    must(ABT_init(0, NULL));
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_get_stacksize(attr, &old_size));
    must(ABT_thread_attr_free(&attr));
    ok_abt(ABT_finalize());

    setenv("ABT_THREAD_STACKSIZE", "65536", 1);
    for (int i = 0; i < 3; i++) {
        ok_abt(ABT_init(0, NULL));
        test_primary_xstream();
        test_primary_ult();
        must(ABT_thread_attr_create(&attr));
        must(ABT_thread_attr_get_stacksize(attr, &size));
        ok(size >= 65536 && size != old_size, "the environment was read anew: %zu bytes of stack", size);
        must(ABT_thread_attr_free(&attr));
        ok_abt(ABT_finalize());
    }
    unsetenv("ABT_THREAD_STACKSIZE");
}

/* Any native thread may be the primary one. */
static void *init_elsewhere(void *arg)
{
    atomic_int counter = 0;

    ok_abt(ABT_init(0, NULL));
    test_primary_xstream();
    test_primary_ult();
    must(ABT_thread_create(own_pool(), yield_often, &counter, ABT_THREAD_ATTR_NULL, NULL));
    ok_abt(ABT_finalize());
    is_int(counter, 1, "it has run a unit");
    return NULL;
}

static void test_elsewhere(void)
{
    pthread_t native;

    must(pthread_create(&native, NULL, init_elsewhere, NULL));
    pthread_join(native, NULL);
}

int main(void)
{
    test_left_over();
    test_uninitialized();
    ok_abt(ABT_init(0, NULL));
    is_int(ABT_initialized(), ABT_SUCCESS, "the library is up");
    test_primary_xstream();
    test_primary_ult();
    test_counting();
    ok_abt(ABT_finalize());
    test_uninitialized();
    test_unjoined();
    test_late_units();
    test_frees_primary();
    test_frees_once();
    test_again();
    test_elsewhere();
    return done_testing();
}

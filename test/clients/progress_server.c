/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A progress-loop server in the style of Margo, see rpc_server.h: the loop blocks when it is idle and only then, every
 * call gets its answer, pools and streams come and go under way, and nothing is left at the end.
 */
#include "rpc_server.h"

enum { CALLERS = 4, CALLS = 150, DEPTH = 3, HELD = 10 };

/* ---- Callers ---- */

static atomic_int callers, wrong;

static void call_many(void *arg)
{
    for (int i = 0; i < CALLS; i++) {
        int first = i % PROVIDERS, depth = 1 + i % DEPTH;
        struct rpc rpc = call(first, depth, false);
        for (int d = 0; d < depth; d++) {
            int provider = (first + depth - 1 - d) % PROVIDERS;
            rpc.value -= provider + 1;
            atomic_fetch_add(&wrong, rpc.crumbs % 10 != provider + 1);
            rpc.crumbs /= 10;
        }
        atomic_fetch_add(&wrong, rpc.value != 0 || rpc.crumbs != 0);
    }
    atomic_fetch_sub(&callers, 1);
}

static void *call_many_native(void *arg)
{
    call_many(arg);
    return NULL;
}

static void *call_and_hold(void *provider)
{
    call(*(int *)provider, 1, true);
    return NULL;
}

static void test_traffic(void)
{
    pthread_t natives[CALLERS];
    ABT_thread ults[CALLERS];
    ABT_thread_state state;
    long before = atomic_load(&server.handled), expected = 0;

    atomic_store(&callers, 2 * CALLERS);
    for (int i = 0; i < CALLERS; i++) {
        must(pthread_create(&natives[i], NULL, call_many_native, NULL));
        must(ABT_thread_create(server.handler_pool, call_many, NULL, ABT_THREAD_ATTR_NULL, &ults[i]));
    }
    /* Streams come and go under way. */
    for (int i = 0; i < server.num_streams && !server.shares_pool; i++) {
        ABT_xstream old = server.streams[i];
        server.streams[i] = start_stream(ABT_SCHED_BASIC);
        must(ABT_xstream_join(old));
        must(ABT_xstream_free(&old));
    }
    while (atomic_load(&callers) > 0)
        ABT_thread_yield();
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(natives[i], NULL);
        must(ABT_thread_join(ults[i]));
        must(ABT_thread_get_state(ults[i], &state));
        if (state != ABT_THREAD_STATE_TERMINATED)
            fail("joined and not terminated");
        must(ABT_thread_free(&ults[i]));
    }
    for (int i = 0; i < CALLS; i++)
        expected += 2 * CALLERS * (1 + i % DEPTH);
    is_int(atomic_load(&wrong), 0, "every call got its own answer");
    is_int(atomic_load(&server.handled) - before, expected, "each was handled once");
}

/* Handlers of the provider are blocked, as many as there are callers. While some are in its pool, the loop looks. */
static void test_held(int provider, ABT_pool pool)
{
    pthread_t natives[HELD];
    ABT_mutex lock = ABT_MUTEX_MEMORY_GET_HANDLE(&server.lock);

    server.is_released = false;
    for (int i = 0; i < HELD; i++)
        must(pthread_create(&natives[i], NULL, call_and_hold, &provider));
    ok(settles_at(pool, HELD), "the blocked handlers of provider %d are counted", provider);
    if (provider == 0) {
        long blocks = atomic_load(&server.blocks), looks = atomic_load(&server.looks_with_blocked) + 10;
        ok(soon(atomic_load(&server.looks_with_blocked) > looks), "the loop goes on looking while they are blocked");
        is_int(atomic_load(&server.blocks), blocks, "and does not block");
    } else {
        ok(soon(atomic_load(&server.is_blocking)), "the loop blocks, and has nothing to do with them");
    }
    must(ABT_mutex_lock(lock));
    server.is_released = true;
    must(ABT_mutex_unlock(lock));
    must(ABT_cond_broadcast(ABT_COND_MEMORY_GET_HANDLE(&server.released)));
    for (int i = 0; i < HELD; i++)
        pthread_join(natives[i], NULL);
}

static void test_idle(void)
{
    ok(settles_at(server.handler_pool, 0) && settles_at(server.progress_pool, 0), "nobody is left in the pools");
    ok(soon(atomic_load(&server.is_blocking)), "the idle loop blocks");
    long blocks = atomic_load(&server.blocks), looks = atomic_load(&server.looks);
    double share = cpu_share(cpu_clock_of(server.progress_native), 200, 0.2);
    ok(atomic_load(&server.blocks) == blocks && atomic_load(&server.looks) == looks, "and stays so");
    ok(policy_is_active() || share < 0.2, "it costs %.2f of a CPU", share);
    is_int(call(1, 1, false).value, 2, "a message wakes it");
}

/* ---- Changes at run time ---- */

static void stay_until_moved(void *moved)
{
    ABT_pool pool;

    do {
        must(ABT_thread_yield());
        must(ABT_self_get_last_pool(&pool));
    } while (pool != server.spare_pool);
    atomic_store((atomic_int *)moved, 1);
}

/* A pool is to go: its units move, and what runs is asked to. */
static void test_moves(FILE *file)
{
    enum { UNITS = 20, BATCH = 7 };
    ABT_pool closing;
    ABT_thread ults[BATCH], mover, next;
    ABT_unit_id id;
    atomic_int ran = 0, moved = 0, switched = 0;
    size_t num;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &closing));
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create(closing, count_up, &ran, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_info_print_thread_stacks_in_pool(file, closing));
    do {
        must(ABT_pool_pop_threads(closing, ults, BATCH, &num));
        must(ABT_pool_push_threads(server.handler_pool, ults, num));
    } while (num > 0);
    is_int(total_size_of(closing), 0, "the closing pool is empty");
    must(ABT_pool_free(&closing));
    must(ABT_thread_create(server.handler_pool, stay_until_moved, &moved, ABT_THREAD_ATTR_NULL, &mover));
    must(ABT_thread_migrate_to_pool(mover, server.spare_pool));
    must(ABT_thread_free(&mover));
    ok(atomic_load(&moved), "a ULT migrates");
    ok(soon(atomic_load(&ran) == UNITS), "every unit of the closing pool runs");
    ok(settles_at(server.handler_pool, 0) && settles_at(server.spare_pool, 0), "the pools get empty");

    ABT_pool own = main_pool();
    must(ABT_thread_create(own, count_up, &switched, ABT_THREAD_ATTR_NULL, &next));
    must(ABT_thread_get_id(next, &id));
    must(ABT_thread_yield_to(next));
    is_int(atomic_load(&switched), 1, "ULT %d was switched to", (int)id);
    must(ABT_thread_free(&next));
}

/* ---- Tools and information ---- */

static atomic_long created, deepest;

static void on_event(ABT_thread thread, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
    int depth = 0;

    if (event == ABT_TOOL_EVENT_THREAD_CREATE)
        atomic_fetch_add(&created, 1);
    if (event == ABT_TOOL_EVENT_THREAD_RUN)
        must(ABT_tool_query_thread(context, event, ABT_TOOL_QUERY_KIND_STACK_DEPTH, &depth));
    if (depth > atomic_load(&deepest))
        atomic_store(&deepest, depth);
}

static void test_tool(void)
{
    if (!has_tool()) {
        ok_err(ABT_tool_register_thread_callback(on_event, ABT_TOOL_EVENT_THREAD_ALL, NULL), ABT_ERR_FEATURE_NA);
        return;
    }
    must(ABT_tool_register_thread_callback(on_event, ABT_TOOL_EVENT_THREAD_ALL, NULL));
    call(1, DEPTH, false);
    must(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL));
    ok(atomic_load(&created) == DEPTH && atomic_load(&deepest) == 1, "the profile shows the handlers");
}

static void test_info(FILE *file, size_t stack_size)
{
    size_t size;

    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, &size));
    is_int(size, stack_size, "the environment was read at ABT_init");
    must(ABT_info_print_config(file));
    must(ABT_info_print_all_xstreams(file));
    ok(ftell(file) > 500, "there is something to read");
}

static void run(bool shares_pool, int num_streams, size_t stack_size)
{
    char text[32];
    FILE *file = tmpfile();
    long before = atomic_load(&server.handled), freed = atomic_load(&crumbs_freed);

    diag("%s, %d handler streams", shares_pool ? "one pool for all" : "a progress stream", num_streams);
    snprintf(text, sizeof(text), "%zu", stack_size);
    setenv("ABT_THREAD_STACKSIZE", text, 1);
    ok_err(ABT_initialized(), ABT_ERR_UNINITIALIZED);
    must(ABT_init(0, NULL));
    start_server(shares_pool, num_streams);
    test_info(file, stack_size);
    test_traffic();
    if (!shares_pool) {
        test_tool();
        test_held(0, server.progress_pool);
        test_held(1, server.handler_pool);
        test_idle();
        test_moves(file);
    }
    fclose(file);
    stop_server();
    must(ABT_finalize());
    is_int(atomic_load(&server.handlers), 0, "no handler is left");
    is_int(atomic_load(&crumbs_freed) - freed, atomic_load(&server.handled) - before, "each freed what it had by key");
    is_int(atomic_load(&prio_units), 0, "and its unit");
    is_int(atomic_load(&prio_pools), 0, "the handlers' pool is freed");
}

int main(void)
{
    want_tool();
    int streams = client_streams();

    client_begin();
    need_checks(); /* external threads ask who they are */
    need_cancel_and_migrate();
    run(false, streams, 65536);
    run(true, 0, 131072);
    run(true, streams, 65536);
    return done_testing();
}

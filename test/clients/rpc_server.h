/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An RPC server in the style of Margo. One ULT, the progress loop, receives messages. When ABT_pool_get_total_size says
 * that nobody else lives in its pool, ready or blocked, it blocks its stream in poll(); else it looks and yields. Each
 * request becomes an unnamed ULT in the pool of its provider: the progress loop's own, or one that handler streams
 * share. Handlers call other providers, and so does everybody else: ULTs and external threads.
 */
#ifndef TEST_CLIENTS_RPC_SERVER_H
#define TEST_CLIENTS_RPC_SERVER_H
#include <poll.h>

#include "prio_pool.h"

#if ABT_NUMVERSION < 10200000
#error "the server needs version 1.2"
#endif

enum { PROVIDERS = 4 };

/* ---- The network, which leads back here: a queue, and a pipe with a byte for each message in it ---- */

struct rpc {
    struct rpc *next;
    int provider; /* -1: the progress loop is to end */
    int depth;    /* how many calls are to be made one inside the other */
    bool is_hold, is_response;
    long value;  /* the sum of all providers called */
    long crumbs; /* who called whom: one digit each */
    ABT_eventual_memory done;
};

static struct {
    ABT_mutex_memory lock;
    struct rpc *first, **last;
    int pipe[2];
} net = {.lock = ABT_MUTEX_INITIALIZER, .last = &net.first};

static inline void net_send(struct rpc *rpc)
{
    ABT_mutex lock = ABT_MUTEX_MEMORY_GET_HANDLE(&net.lock);

    must(ABT_mutex_spinlock(lock));
    rpc->next = NULL;
    *net.last = rpc;
    net.last = &rpc->next;
    must(ABT_mutex_unlock(lock));
    if (write(net.pipe[1], "", 1) != 1)
        bail_out("the pipe breaks");
}

static inline struct rpc *net_receive(int timeout_ms)
{
    ABT_mutex lock = ABT_MUTEX_MEMORY_GET_HANDLE(&net.lock);
    struct pollfd fd = {.fd = net.pipe[0], .events = POLLIN};
    char byte;

    if (poll(&fd, 1, timeout_ms) != 1 || read(fd.fd, &byte, 1) != 1)
        return NULL;
    must(ABT_mutex_lock(lock));
    struct rpc *rpc = net.first;
    net.first = rpc->next;
    if (!net.first)
        net.last = &net.first;
    must(ABT_mutex_unlock(lock));
    return rpc;
}

/* ---- The server ---- */

static struct {
    bool shares_pool; /* one pool for main, progress loop and handlers */
    int num_streams;  /* handler streams */
    ABT_xstream progress_stream, streams[MAX_STREAMS + 1];
    ABT_pool progress_pool, handler_pool, spare_pool;
    ABT_thread progress;
    _Atomic(pthread_t) progress_native; /* where it ran last */
    atomic_bool is_blocking;
    atomic_long blocks, looks, looks_with_blocked, handled;
    atomic_int handlers; /* alive */
    ABT_mutex_memory lock;
    ABT_cond_memory released; /* held handlers may go on */
    bool is_released;
} server = {.lock = ABT_MUTEX_INITIALIZER, .released = ABT_COND_INITIALIZER};

static ABT_key crumbs_key; /* the crumbs of the running handler, from malloc */
static atomic_long crumbs_freed;

static inline void free_crumbs(void *crumbs)
{
    atomic_fetch_add(&crumbs_freed, 1);
    free(crumbs);
}

/* A call by anybody. Everything about it lies on the caller's stack. */
static inline struct rpc call(int provider, int depth, bool is_hold)
{
    struct rpc rpc = {.provider = provider, .depth = depth, .is_hold = is_hold, .done = ABT_EVENTUAL_INITIALIZER};
    long *crumbs = NULL;
    ABT_thread self;

    if (ABT_thread_self(&self) == ABT_SUCCESS)
        must(ABT_key_get(crumbs_key, (void **)&crumbs));
    rpc.crumbs = (crumbs ? *crumbs * 10 : 0) + provider + 1;
    net_send(&rpc);
    must(ABT_eventual_wait(ABT_EVENTUAL_MEMORY_GET_HANDLE(&rpc.done), NULL));
    return rpc;
}

static inline void hold(void)
{
    ABT_mutex lock = ABT_MUTEX_MEMORY_GET_HANDLE(&server.lock);

    must(ABT_mutex_lock(lock));
    while (!server.is_released)
        must(ABT_cond_wait(ABT_COND_MEMORY_GET_HANDLE(&server.released), lock));
    must(ABT_mutex_unlock(lock));
}

static inline void handle(void *arg)
{
    struct rpc *rpc = arg;
    long *crumbs = malloc(sizeof(*crumbs));

    *crumbs = rpc->crumbs;
    must(ABT_key_set(crumbs_key, crumbs));
    if (rpc->is_hold)
        hold();
    rpc->value = rpc->provider + 1;
    if (rpc->depth > 1) {
        struct rpc inner = call((rpc->provider + 1) % PROVIDERS, rpc->depth - 1, false);
        rpc->value += inner.value;
        rpc->crumbs = inner.crumbs;
    }
    rpc->is_response = true;
    atomic_fetch_add(&server.handled, 1);
    net_send(rpc);
    atomic_fetch_sub(&server.handlers, 1);
}

/* False: the loop is to end. */
static inline bool dispatch(struct rpc *rpc)
{
    bool to_self = rpc->provider == 0;

    if (rpc->is_response) {
        must(ABT_eventual_set(ABT_EVENTUAL_MEMORY_GET_HANDLE(&rpc->done), NULL, 0));
    } else if (rpc->provider >= 0) {
        atomic_fetch_add(&server.handlers, 1);
        must(ABT_thread_create(to_self ? server.progress_pool : server.handler_pool, handle, rpc, ABT_THREAD_ATTR_NULL,
                               NULL));
        if (to_self)
            must(ABT_thread_yield());
    } else {
        return false;
    }
    return true;
}

static inline void progress(void *arg)
{
    struct rpc *rpc;

    do {
        atomic_store(&server.progress_native, pthread_self());
        rpc = net_receive(0);
        size_t others = total_size_of(server.progress_pool);
        if (!rpc && others == 0) {
            atomic_fetch_add(&server.blocks, 1);
            atomic_store(&server.is_blocking, true);
            /* In a shared pool the others may come from elsewhere, and find this stream blocked. */
            rpc = net_receive(server.shares_pool ? 1 : -1);
            atomic_store(&server.is_blocking, false);
        } else if (!rpc) {
            atomic_fetch_add(&server.looks, 1);
            if (size_of(server.progress_pool) == 0)
                atomic_fetch_add(&server.looks_with_blocked, 1);
            must(ABT_thread_yield());
        }
    } while (!rpc || dispatch(rpc));
    rpc->is_response = true;
    dispatch(rpc);
}

static inline ABT_xstream start_stream(ABT_sched_predef predef)
{
    ABT_pool pools[] = {server.handler_pool, server.spare_pool};
    ABT_xstream xstream;
    int cpu;

    must(ABT_xstream_create_basic(predef, 2, pools, ABT_SCHED_CONFIG_NULL, &xstream));
    if (ABT_xstream_get_cpubind(xstream, &cpu) == ABT_SUCCESS)
        must(ABT_xstream_set_affinity(xstream, 1, &cpu));
    return xstream;
}

/* ---- Start and end ---- */

/* Handler streams of every kind. The server's pool may be the one that main lives in. */
static inline void start_server(bool shares_pool, int num_streams)
{
    static const ABT_sched_predef predefs[] = {ABT_SCHED_BASIC_WAIT, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC};
    ABT_xstream self;
    ABT_sched sched;

    server.shares_pool = shares_pool;
    server.num_streams = num_streams;
    if (pipe(net.pipe) != 0)
        bail_out("no pipe");
    must(ABT_key_create(free_crumbs, &crumbs_key));
    server.handler_pool = prio_make();
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &server.spare_pool));
    if (shares_pool) {
        server.progress_pool = server.handler_pool;
        must(ABT_sched_create_basic(ABT_SCHED_BASIC_WAIT, 1, &server.handler_pool, ABT_SCHED_CONFIG_NULL, &sched));
        must(ABT_xstream_self(&self));
        must(ABT_xstream_set_main_sched(self, sched));
    } else {
        must(ABT_pool_create_basic(ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &server.progress_pool));
        must(ABT_sched_create_basic(ABT_SCHED_BASIC_WAIT, 1, &server.progress_pool, ABT_SCHED_CONFIG_NULL, &sched));
        must(ABT_xstream_create(sched, &server.progress_stream));
    }
    for (int i = 0; i < num_streams; i++)
        server.streams[i] = start_stream(predefs[i % 4]);
    must(ABT_thread_create(server.progress_pool, progress, NULL, ABT_THREAD_ATTR_NULL, &server.progress));
}

static inline void free_stream(ABT_xstream *xstream)
{
    ABT_bool home;

    /* Main, too, may be running on that stream. */
    while (ABT_self_on_primary_xstream(&home) == ABT_SUCCESS && !home)
        must(ABT_thread_yield());
    must(ABT_xstream_free(xstream));
}

static inline void stop_server(void)
{
    call(-1, 0, false);
    must(ABT_thread_join(server.progress));
    must(ABT_thread_free(&server.progress));
    for (int i = 0; i < server.num_streams; i++)
        free_stream(&server.streams[i]);
    if (!server.shares_pool) {
        free_stream(&server.progress_stream);
        must(ABT_pool_free(&server.handler_pool)); /* else it goes with the primary stream */
    }
    must(ABT_pool_free(&server.spare_pool));
    must(ABT_key_free(&crumbs_key));
    close(net.pipe[0]);
    close(net.pipe[1]);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The wait of a driver, where an idle stream is in an event loop: what wakes it, and how often. */
#include "common.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <unistd.h>

/* --- Counting: the library signals descriptors by this function, and so finds ours --- */

static _Thread_local int writes; /* by this thread */

ssize_t write(int fd, const void *buf, size_t count)
{
    static ssize_t (*_Atomic real)(int, const void *, size_t);

    if (!real)
        real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    writes++;
    return real(fd, buf, count);
}

/* --- A wait that sleeps in poll() --- */

struct loop {
    ABTX_driver driver;
    int extra_fd;           /* besides the library's; -1: none */
    atomic_int calls;       /* begun */
    atomic_int returns;     /* ended */
    atomic_int extra;       /* how often extra_fd was readable */
    atomic_int fd;          /* what it was told */
    atomic_bool changed;    /* it was told another one later */
    atomic_bool sleeping;   /* it is in poll() or about to be */
    _Atomic(int64_t) until; /* deadline of the last call */
    void (*on_extra)(void);
};

static void wait_in_poll(void *arg, int fd, int64_t deadline)
{
    struct loop *loop = arg;
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = loop->extra_fd, .events = POLLIN}};
    int64_t left = (deadline - ABTX_after(0) + 999999) / 1000000;

    if (atomic_exchange(&loop->fd, fd) != fd && atomic_load(&loop->calls) > 0)
        atomic_store(&loop->changed, true);
    atomic_store(&loop->until, deadline);
    count_up(&loop->calls);
    atomic_store(&loop->sleeping, true);
    int ready = poll(fds, loop->extra_fd < 0 ? 1 : 2, deadline == ABTX_FOREVER ? -1 : left > 0 ? (int)left : 0);
    atomic_store(&loop->sleeping, false);
    if (ready > 0 && loop->extra_fd >= 0 && fds[1].revents) {
        char byte;
        if (read(loop->extra_fd, &byte, 1) == 1) {
            count_up(&loop->extra);
            if (loop->on_extra)
                loop->on_extra();
        }
    }
    count_up(&loop->returns);
}

static void begin_loop(ABT_xstream es, struct loop *loop)
{
    const ABTX_driver_ops ops = {.poll = find_nothing, .wait = wait_in_poll, .any_thread = ABT_TRUE};

    must(ABTX_driver_create(&ops, loop, &loop->driver));
    must(ABTX_driver_attach(loop->driver, es));
}

static void end_loop(struct loop *loop)
{
    must(ABTX_driver_free(&loop->driver));
}

static void let_it_sleep(struct loop *loop)
{
    wait_for(atomic_load(&loop->sleeping));
    nap_ms(2);
}

/* A span without a call: who is kept awake has none. A busy machine may let the last calls come late. */
static bool comes_to_rest(atomic_int *calls, double ms)
{
    int before = -1;

    for (int i = 0; i < 20 && before != atomic_load(calls); i++) {
        before = atomic_load(calls);
        nap_ms(ms);
    }
    return before == atomic_load(calls);
}

static ABT_xstream xstream_with(ABT_sched_predef predef, int num, ABT_pool *pools)
{
    ABT_xstream es = ABT_XSTREAM_NULL;

    must(ABT_xstream_create_basic(predef, num, pools, ABT_SCHED_CONFIG_NULL, &es));
    return es;
}

/* --- Waking --- */

static void test_pushes(ABT_sched_predef predef, ABT_pool_kind kind, int num_pools)
{
    enum { MAX_POOLS = 4, ROUNDS = 12 };
    struct loop loop = {.extra_fd = -1};
    ABT_pool pools[MAX_POOLS];
    atomic_int ran = 0;
    int wrong = 0;
    ABT_xstream es;

    for (int i = 0; i < num_pools; i++)
        pools[i] = new_pool(kind, ABT_TRUE);
    es = xstream_with(predef, num_pools, pools);
    begin_loop(es, &loop);
    for (int i = 0; i < ROUNDS; i++) {
        let_it_sleep(&loop);
        int before = writes;
        must(ABT_task_create(pools[i % num_pools], count_up, &ran, NULL));
        wrong += writes - before != 1;
        wait_for(atomic_load(&ran) == i + 1);
    }
    let_it_sleep(&loop);
    is_int(wrong, 0, "scheduler %d, %d pools: a push wakes the loop by one write", predef, num_pools);
    ok(comes_to_rest(&loop.calls, 50), "and then it sleeps again, its descriptor is not readable");
    int calls = atomic_load(&loop.calls);
    /* A signal that is late ends one more sleep. */
    ok(calls <= 2 * ROUNDS + 3, "it slept once for each push: %d calls", calls);
    ok(atomic_load(&loop.until) == ABTX_FOREVER, "for ever");
    ok(!atomic_load(&loop.changed), "with the same descriptor");
    ok(fcntl(atomic_load(&loop.fd), F_GETFD) & FD_CLOEXEC, "which is closed on exec");
    int fd = atomic_load(&loop.fd);
    must(ABT_xstream_free(&es));
    is_int(fcntl(fd, F_GETFD), -1, "and closed with the ES");
    end_loop(&loop);
}

static void test_running(void)
{
    struct loop loop = {.extra_fd = -1};
    struct spinner s = {false, false};
    atomic_int ran = 0;
    ABT_xstream es = new_xstream();

    begin_loop(es, &loop);
    let_it_sleep(&loop);
    must(ABT_task_create_on_xstream(es, keep_spinning, &s, NULL));
    wait_for(atomic_load(&s.running));
    is_int(atomic_load(&loop.returns), atomic_load(&loop.calls), "the stream that runs is not in the wait");
    int before = writes;
    for (int i = 0; i < 100; i++)
        must(ABT_task_create_on_xstream(es, count_up, &ran, NULL));
    is_int(writes - before, 0, "pushes to a running ES write nothing");
    atomic_store(&s.stop, true);
    wait_for(atomic_load(&ran) == 100);
    must(ABT_xstream_free(&es));
    end_loop(&loop);
}

/* Events of its own, which make units ready. */
static ABT_eventual eventual;

static void set_eventual(void)
{
    must(ABT_eventual_set(eventual, NULL, 0));
}

static void wait_eventual(void *arg)
{
    must(ABT_eventual_wait(eventual, NULL));
}

static void test_own_events(void)
{
    struct loop loop = {.on_extra = set_eventual};
    ABT_xstream es = new_xstream();
    int pipe_fds[2];

    if (pipe(pipe_fds))
        bail_out("pipe");
    loop.extra_fd = pipe_fds[0];
    must(ABT_eventual_create(0, &eventual));
    begin_loop(es, &loop);
    for (int i = 0; i < 10; i++) {
        must(ABT_eventual_reset(eventual));
        ABT_thread ult = ult_in(pool_of(es), wait_eventual, NULL);
        wait_for(state_of(ult) == ABT_THREAD_STATE_BLOCKED);
        let_it_sleep(&loop);
        if (write(pipe_fds[1], "x", 1) != 1)
            bail_out("write");
        must(ABT_thread_free(&ult));
    }
    is_int(atomic_load(&loop.extra), 10, "what the wait makes ready is run");
    let_it_sleep(&loop);
    ok(comes_to_rest(&loop.calls, 50), "and leaves nothing readable behind");
    must(ABT_xstream_free(&es));
    end_loop(&loop);
    must(ABT_eventual_free(&eventual));
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

/* --- The primary ES, while main waits --- */

/* Ends when somebody is in the wait, or would have been. */
static void wait_for_sleep(void *arg)
{
    struct loop *loop = arg;

    wait_for(atomic_load(&loop->sleeping));
    count_up(&loop->extra);
}

static void nap_and_count(void *arg)
{
    nap_ms(20);
    count_up(arg);
}

static void test_primary(void)
{
    struct loop loop = {.extra_fd = -1};
    ABT_xstream es = new_xstream();
    ABT_thread ult;

    begin_loop(own_xstream(), &loop);
    ult = ult_in(pool_of(es), wait_for_sleep, &loop);
    must(ABT_thread_free(&ult));
    is_int(atomic_load(&loop.extra), 1, "the primary ULT is woken by a join");
    ok(atomic_load(&loop.calls) > 0, "the primary ES is in the wait meanwhile");
    end_loop(&loop);
    int calls = atomic_load(&loop.calls);
    ult = ult_in(pool_of(es), nap_and_count, &loop.extra);
    must(ABT_thread_free(&ult));
    is_int(atomic_load(&loop.calls), calls, "and not when the driver is gone");
    must(ABT_xstream_free(&es));
}

/* --- Requests and settings --- */

static void count_dump(ABT_bool timed_out, void *arg)
{
    count_up(arg);
}

static void test_requests(void)
{
    struct loop loop = {.extra_fd = -1};
    ABT_xstream es = new_xstream();
    atomic_int dumps = 0;
    FILE *fp = tmpfile();

    begin_loop(es, &loop);
    let_it_sleep(&loop);
    must(ABT_info_trigger_print_all_thread_stacks(fp, -1.0, count_dump, &dumps));
    wait_for(atomic_load(&dumps) == 1);
    pass("a stack dump wakes the loop");
    let_it_sleep(&loop);
    int calls = atomic_load(&loop.calls);
    must(ABTX_xstream_wake(es));
    wait_for(atomic_load(&loop.calls) > calls);
    pass("a wake wakes it");
    let_it_sleep(&loop);
    must(ABT_xstream_join(es));
    is_int(atomic_load(&loop.returns), atomic_load(&loop.calls), "a join does, and nobody is in the loop afterwards");
    calls = atomic_load(&loop.calls);
    must(ABT_xstream_revive(es));
    wait_for(atomic_load(&loop.calls) > calls);
    pass("the driver stays through a revival");
    must(ABT_xstream_free(&es));
    end_loop(&loop);
    fclose(fp);
}

/* --- A stream ends in a callback --- */

static atomic_bool exits;

static ABT_bool exit_if_asked(void *data, ABT_bool about_to_sleep)
{
    (void)data, (void)about_to_sleep;
    if (atomic_exchange(&exits, false))
        must(ABT_xstream_exit());
    return ABT_FALSE;
}

static ABT_pool snatched;
static atomic_bool snatching;

/* Whoever was woken for the unit comes too late, as a rule. */
static void *snatch(void *arg)
{
    ABT_thread *unit = arg;

    snatching = true;
    while (snatching && *unit == ABT_THREAD_NULL)
        must(ABT_pool_pop_thread(snatched, unit));
    return NULL;
}

/* It was woken for a unit that others took: they hear of those that come later. */
static void test_poll_exits(void)
{
    const ABTX_driver_ops ops = {.poll = exit_if_asked};
    ABTX_driver driver;
    enum { PUSHES = 6 };
    ABT_pool pool;
    ABT_xstream es[2];
    atomic_int ran = 0;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es[i]));
    must(ABTX_driver_create(&ops, NULL, &driver));
    must(ABTX_driver_attach(driver, es[0]));
    nap_ms(20);
    must(ABTX_xstream_wake(es[1])); /* so that the other one has slept longer */
    nap_ms(20);
    exits = true;
    ABT_thread first = ABT_THREAD_NULL;
    pthread_t snatcher;
    snatched = pool;
    snatching = false;
    must(pthread_create(&snatcher, NULL, snatch, &first));
    wait_for(snatching);
    must(ABT_task_create(pool, count_up, &ran, NULL));
    wait_for(!exits);
    snatching = false;
    must(pthread_join(snatcher, NULL));
    if (first != ABT_THREAD_NULL)
        must(ABT_pool_push_thread(pool, first));
    for (int i = 0; i < PUSHES; i++) {
        wait_for(ran == i + 1);
        nap_ms(1); /* it sleeps again */
        must(ABT_task_create(pool, count_up, &ran, NULL));
    }
    wait_for(ran == PUSHES + 1);
    pass("%d pushes were noticed, though a stream ended when it was woken for the first", PUSHES + 1);
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&es[i]));
    must(ABTX_driver_free(&driver));
}

int main(void)
{
    must(ABT_init(0, NULL));
    test_pushes(ABT_SCHED_BASIC, ABT_POOL_FIFO, 1);
    test_pushes(ABT_SCHED_PRIO, ABT_POOL_FIFO_WAIT, 4);
    test_pushes(ABT_SCHED_RANDWS, ABT_POOL_RANDWS, 2);
    test_pushes(ABT_SCHED_BASIC_WAIT, ABT_POOL_FIFO_WAIT, 2);
    test_running();
    test_own_events();
    test_primary();
    test_requests();
    test_poll_exits();
    must(ABT_finalize());
    return done_testing();
}

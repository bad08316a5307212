/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_xstream_set_idle_wait, ABTX_poller_add_every, ABTX_poller_remove: event loops around and inside streams. */
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

/* --- A hook that sleeps in poll() --- */

struct loop {
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

static void hook(void *arg, int fd, int64_t deadline)
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
    ok_abt(ABTX_xstream_set_idle_wait(es, hook, &loop));
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
}

static void test_running(void)
{
    struct loop loop = {.extra_fd = -1};
    struct spinner s = {false, false};
    atomic_int ran = 0;
    ABT_xstream es = new_xstream();

    must(ABTX_xstream_set_idle_wait(es, hook, &loop));
    let_it_sleep(&loop);
    must(ABT_task_create_on_xstream(es, keep_spinning, &s, NULL));
    wait_for(atomic_load(&s.running));
    is_int(atomic_load(&loop.returns), atomic_load(&loop.calls), "who runs is not in the hook");
    int before = writes;
    for (int i = 0; i < 100; i++)
        must(ABT_task_create_on_xstream(es, count_up, &ran, NULL));
    is_int(writes - before, 0, "pushes to a running ES write nothing");
    atomic_store(&s.stop, true);
    wait_for(atomic_load(&ran) == 100);
    must(ABT_xstream_free(&es));
}

/* A hook's own events: they make units ready. */
static ABT_eventual eventual;

static void set_eventual(void)
{
    must(ABT_eventual_set(eventual, NULL, 0));
}

static void wait_eventual(void *arg)
{
    (void)arg;
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
    must(ABTX_xstream_set_idle_wait(es, hook, &loop));
    for (int i = 0; i < 10; i++) {
        must(ABT_eventual_reset(eventual));
        ABT_thread ult = ult_in(pool_of(es), wait_eventual, NULL);
        wait_for(state_of(ult) == ABT_THREAD_STATE_BLOCKED);
        let_it_sleep(&loop);
        if (write(pipe_fds[1], "x", 1) != 1)
            bail_out("write");
        must(ABT_thread_free(&ult));
    }
    is_int(atomic_load(&loop.extra), 10, "what the hook makes ready is run");
    let_it_sleep(&loop);
    ok(comes_to_rest(&loop.calls, 50), "and leaves nothing readable behind");
    must(ABT_xstream_free(&es));
    must(ABT_eventual_free(&eventual));
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

/* --- The primary ES, while main waits --- */

/* Ends when somebody is in the hook, or would have been. */
static void wait_for_hook(void *arg)
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

    must(ABTX_xstream_set_idle_wait(own_xstream(), hook, &loop));
    ult = ult_in(pool_of(es), wait_for_hook, &loop);
    must(ABT_thread_free(&ult));
    is_int(atomic_load(&loop.extra), 1, "the primary ULT is woken by a join");
    ok(atomic_load(&loop.calls) > 0, "the primary ES waits in its hook meanwhile");
    must(ABTX_xstream_set_idle_wait(own_xstream(), NULL, NULL));
    int calls = atomic_load(&loop.calls);
    ult = ult_in(pool_of(es), nap_and_count, &loop.extra);
    must(ABT_thread_free(&ult));
    is_int(atomic_load(&loop.calls), calls, "and not when the hook has been removed");
    must(ABT_xstream_free(&es));
}

/* --- Requests and settings --- */

static void count_dump(ABT_bool timed_out, void *arg)
{
    (void)timed_out;
    count_up(arg);
}

static void test_requests(void)
{
    struct loop loop = {.extra_fd = -1};
    ABT_xstream es = new_xstream();
    atomic_int dumps = 0;
    FILE *fp = tmpfile();

    must(ABTX_xstream_set_idle_wait(es, hook, &loop));
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
    pass("the hook stays through a revival");
    must(ABT_xstream_free(&es));
    fclose(fp);
}

static void test_settings(void)
{
    struct loop loops[2] = {{.extra_fd = -1}, {.extra_fd = -1}};
    ABT_xstream es = new_xstream();
    int wrong = 0;

    for (int i = 0; i < 500; i++) {
        struct loop *old = &loops[i % 2], *loop = &loops[(i + 1) % 2];
        must(ABTX_xstream_set_idle_wait(es, hook, loop));
        wrong += atomic_load(&old->returns) != atomic_load(&old->calls);
        if (i % 7 == 0)
            wait_for(atomic_load(&loop->sleeping));
        if (i % 50 == 0)
            let_it_sleep(loop);
    }
    is_int(wrong, 0, "a hook that has been replaced does not run any more");
    must(ABTX_xstream_set_idle_wait(es, NULL, NULL));
    wrong = 0;
    for (int i = 0; i < 2; i++)
        wrong += atomic_load(&loops[i].returns) != atomic_load(&loops[i].calls);
    is_int(wrong, 0, "nor does one that has been removed");
    int calls = atomic_load(&loops[0].calls) + atomic_load(&loops[1].calls);
    nap_ms(10);
    is_int(atomic_load(&loops[0].calls) + atomic_load(&loops[1].calls), calls, "and it is not called again");
    must(ABT_xstream_free(&es));
}

/* A hook that removes itself. */
static void remove_hook(void *arg, int fd, int64_t deadline)
{
    (void)fd;
    (void)deadline;
    count_up(arg);
    must(ABTX_xstream_set_idle_wait(own_xstream(), NULL, NULL));
}

static void test_removes_itself(void)
{
    ABT_xstream es = new_xstream();
    atomic_int calls = 0, ran = 0;

    must(ABTX_xstream_set_idle_wait(es, remove_hook, &calls));
    wait_for(atomic_load(&calls) == 1);
    nap_ms(5);
    must(ABT_task_create_on_xstream(es, count_up, &ran, NULL));
    wait_for(atomic_load(&ran) == 1);
    is_int(atomic_load(&calls), 1, "a hook may remove itself");
    must(ABT_xstream_free(&es));
}

/* --- Pollers --- */

static int poll_count(void *arg)
{
    count_up(arg);
    return 0;
}

static void test_poller_periods(void)
{
    ABT_xstream es = new_xstream();
    atomic_int calls = 0;

    ok_abt(ABTX_poller_add_every(es, poll_count, &calls, ABTX_FOREVER));
    wait_for(atomic_load(&calls) > 0);
    ok(comes_to_rest(&calls, 100), "without a period a poller does not keep its ES awake");
    int before = atomic_load(&calls);
    must(ABTX_xstream_wake(es));
    wait_for(atomic_load(&calls) > before);
    pass("a wake has it called");
    ok_abt(ABTX_poller_remove(es, poll_count, &calls));

    ok_abt(ABTX_poller_add_every(es, poll_count, &calls, 10000000));
    nap_ms(5);
    double begin = now();
    before = atomic_load(&calls);
    nap_ms(200);
    ok(soon(atomic_load(&calls) - before >= 3), "a poller with a period is called");
    int often = atomic_load(&calls) - before;
    double ms = (now() - begin) * 1e3;
    ok(often <= ms / 10 + 1, "a period of 10 ms: %d calls in %.1f ms", often, ms);
    ok_abt(ABTX_poller_remove(es, poll_count, &calls));

    ok_abt(ABTX_poller_add_every(es, poll_count, &calls, 0));
    before = atomic_load(&calls);
    wait_for(atomic_load(&calls) > before + 20000);
    pass("a period of 0: no sleep");
    ok_abt(ABTX_poller_remove(es, poll_count, &calls));
    before = atomic_load(&calls);
    nap_ms(10);
    is_int(atomic_load(&calls), before, "a removed poller is called no more");
    must(ABT_xstream_free(&es));
}

/* With units that never stop coming, and with a hook. */
static void yield_until(void *arg)
{
    while (!atomic_load((atomic_bool *)arg))
        must(ABT_self_yield());
}

static void test_poller_and_load(void)
{
    struct loop loop = {.extra_fd = -1};
    ABT_xstream es = new_xstream();
    atomic_int calls = 0;
    atomic_bool stop = false;

    must(ABTX_poller_add_every(es, poll_count, &calls, 10000000));
    ABT_thread ult = ult_in(pool_of(es), yield_until, &stop);
    wait_for(atomic_load(&calls) > 100);
    pass("pollers are called while units run");
    atomic_store(&stop, true);
    must(ABT_thread_free(&ult));
    must(ABTX_xstream_set_idle_wait(es, hook, &loop));
    wait_for(atomic_load(&loop.calls) >= 2);
    double left = (double)(atomic_load(&loop.until) - ABTX_after(0)) * 1e-9;
    ok(left <= 0.01 && left > -10, "the hook is told of the period: %.1f ms", left * 1e3);
    int before = atomic_load(&loop.calls);
    wait_for(atomic_load(&loop.calls) > before + 3);
    pass("and called again after it");
    must(ABT_xstream_free(&es));
    pass("an ES is freed with its hook and its pollers");
}

/* A poller finds something for some calls: the ES does not sleep before it has found nothing. */
struct finds {
    atomic_int left, calls;
};

static int find_some(void *arg)
{
    struct finds *finds = arg;

    count_up(&finds->calls);
    if (atomic_load(&finds->left) == 0)
        return 0;
    atomic_fetch_sub(&finds->left, 1);
    return 1;
}

static void test_poller_finds(void)
{
    ABT_xstream es = new_xstream();
    struct finds finds = {5000, 0};

    must(ABTX_poller_add_every(es, find_some, &finds, ABTX_FOREVER));
    wait_for(atomic_load(&finds.left) == 0);
    ok(atomic_load(&finds.calls) >= 5000, "as long as pollers find something they are called");
    must(ABT_xstream_free(&es));
}

/* Pollers that remove and add pollers of their ES. */
static atomic_int chain_calls[3];

static int chain(void *arg)
{
    ABT_xstream es = own_xstream();
    atomic_int *calls = arg;

    count_up(calls);
    if (calls == &chain_calls[0] && atomic_load(calls) == 1) {
        must(ABTX_poller_remove(es, chain, &chain_calls[0]));
        must(ABTX_poller_remove(es, chain, &chain_calls[1]));
        must(ABTX_poller_add_every(es, chain, &chain_calls[2], 1000000));
    }
    return 0;
}

static void test_poller_changes(void)
{
    ABT_xstream es = new_xstream();

    must(ABTX_poller_add_every(es, chain, &chain_calls[1], ABTX_FOREVER));
    must(ABTX_poller_add_every(es, chain, &chain_calls[0], ABTX_FOREVER));
    wait_for(atomic_load(&chain_calls[2]) > 3);
    is_int(atomic_load(&chain_calls[0]), 1, "a poller may remove itself, and others of its ES");
    must(ABT_xstream_free(&es));
}

struct removal {
    atomic_int inside, calls;
};

static int poll_slowly(void *arg)
{
    struct removal *removal = arg;

    atomic_store(&removal->inside, 1);
    nap_ms(0.05);
    atomic_store(&removal->inside, 0);
    count_up(&removal->calls);
    return 0;
}

static void test_removal(void)
{
    struct removal removal = {0, 0};
    ABT_xstream es = new_xstream();
    int wrong = 0;

    for (int i = 0; i < 200; i++) {
        must(ABTX_poller_add_every(es, poll_slowly, &removal, 0));
        if (i % 3)
            wait_for(atomic_load(&removal.inside));
        must(ABTX_poller_remove(es, poll_slowly, &removal));
        int calls = atomic_load(&removal.calls);
        wrong += atomic_load(&removal.inside);
        nap_ms(0.02);
        wrong += atomic_load(&removal.calls) != calls;
    }
    is_int(wrong, 0, "a poller that has been removed does not run any more");
    must(ABT_xstream_free(&es));
}

/* --- A stream ends in a poller --- */

static atomic_bool exits;

static int exit_if_asked(void *arg)
{
    (void)arg;
    if (atomic_exchange(&exits, false))
        must(ABT_xstream_exit());
    return 0;
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
static void test_poller_exits(void)
{
    enum { PUSHES = 6 };
    ABT_pool pool;
    ABT_xstream es[2];
    atomic_int ran = 0;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es[i]));
    must(ABTX_poller_add_every(es[0], exit_if_asked, NULL, ABTX_FOREVER));
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
}

/* --- Who may call --- */

static void test_callers(enum caller who, void *arg)
{
    ABT_xstream es = arg;
    atomic_int calls = 0;
    struct loop loop = {.extra_fd = -1};

    (void)who;
    ok_abt(ABTX_xstream_set_idle_wait(es, hook, &loop));
    ok_abt(ABTX_xstream_set_idle_wait(es, NULL, NULL));
    ok_abt(ABTX_poller_add_every(es, poll_count, &calls, 1000000));
    ok_abt(ABTX_poller_remove(es, poll_count, &calls));
    if (is_left_out(false))
        return;
    ok_err(ABTX_poller_remove(es, poll_count, &calls), ABT_ERR_INV_ARG);
    ok_abt(ABTX_poller_add_every(es, poll_count, &calls, ABTX_FOREVER));
    ok_err(ABTX_poller_add_every(es, poll_count, &calls, 1000000000), ABT_ERR_INV_ARG);
    ok_abt(ABTX_poller_remove(es, poll_count, &calls));
    ok_err(ABTX_poller_add_every(es, NULL, &calls, 1000000), ABT_ERR_INV_ARG);
    ok_err(ABTX_poller_add_every(es, poll_count, &calls, -1), ABT_ERR_INV_ARG);
    ok_err(ABTX_poller_add_every(ABT_XSTREAM_NULL, poll_count, &calls, 0), ABT_ERR_INV_XSTREAM);
    ok_err(ABTX_poller_remove(ABT_XSTREAM_NULL, poll_count, &calls), ABT_ERR_INV_XSTREAM);
    ok_err(ABTX_xstream_set_idle_wait(ABT_XSTREAM_NULL, hook, NULL), ABT_ERR_INV_XSTREAM);
    ok_err(ABTX_xstream_set_idle_wait(NULL, hook, NULL), ABT_ERR_INV_XSTREAM);
}

/* Each function for itself, without a wait that would not end if another one did nothing. */
static void test_each(void)
{
    struct loop loop = {.extra_fd = -1};
    atomic_int polls = 0, looks = 0;
    ABT_xstream es = new_xstream();

    int before = -1;

    must(ABTX_poller_add_every(es, poll_count, &looks, ABTX_FOREVER));
    /* Until it sleeps. */
    for (int i = 0; i < 40 && (before <= 0 || before != atomic_load(&looks)); i++) {
        before = atomic_load(&looks);
        nap_ms(50);
    }
    must(ABTX_xstream_wake(es));
    ok(soon(atomic_load(&looks) > before), "one who is woken looks");
    must(ABTX_poller_add_every(es, poll_count, &polls, 1000000));
    ok(soon(atomic_load(&polls) > 2), "a poller is called");
    must(ABTX_poller_remove(es, poll_count, &polls));
    before = atomic_load(&polls);
    nap_ms(20);
    is_int(atomic_load(&polls), before, "one that is removed is not");
    must(ABTX_xstream_set_idle_wait(es, hook, &loop));
    ok(soon(atomic_load(&loop.calls) > 0), "a hook is called");
    must(ABT_xstream_free(&es));
}

int main(void)
{
    must(ABT_init(0, NULL));
    test_each();
    test_pushes(ABT_SCHED_BASIC, ABT_POOL_FIFO, 1);
    test_pushes(ABT_SCHED_PRIO, ABT_POOL_FIFO_WAIT, 4);
    test_pushes(ABT_SCHED_RANDWS, ABT_POOL_RANDWS, 2);
    test_pushes(ABT_SCHED_BASIC_WAIT, ABT_POOL_FIFO_WAIT, 2);
    test_running();
    test_own_events();
    test_primary();
    test_requests();
    test_settings();
    test_removes_itself();
    test_poller_periods();
    test_poller_and_load();
    test_poller_finds();
    test_poller_changes();
    test_removal();
    test_poller_exits();
    ABT_xstream es = new_xstream();
    call_as_each(test_callers, es);
    must(ABT_xstream_free(&es));
    call_as_each(test_callers, own_xstream());
    must(ABT_finalize());
    return done_testing();
}

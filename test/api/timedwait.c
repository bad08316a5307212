/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting with a deadline: what a ULT is while it waits, under every scheduler, what becomes of the wait when the ULT
 * is cancelled or its stream ends, and that nobody polls. What the waits answer is in cond.c and eventual.c.
 */
#include "sync.h"

/*
 * Waits for a time sleep. cpu_of(arg, ms) waits for `ms` and gives the seconds of CPU that took. What making and waking
 * cost is much on a slow machine but does not grow with the time, so longer waits are tried when the share of the time
 * is too large.
 */
static void check_sleeps(double (*cpu_of)(void *arg, long ms), void *arg, const char *what)
{
    double share = 1;

    for (long ms = 60; share >= 0.1 && ms < 12000; ms *= 4) {
        double begin = now(), cpu = cpu_of(arg, ms);
        share = policy_is_active() ? 0 : cpu / (now() - begin);
    }
    ok(share < 0.1, "%s sleeps: %.2f of a CPU", what, share);
}

/* --- Waits of all kinds --- */

enum wait_kind { COND, EVENTUAL, ANY, SLEEP, NUM_WAITS };

static const char *const wait_names[] = {"cond", "eventual", "any of two eventuals", "sleep"};

struct wait {
    enum wait_kind kind;
    long ms;
    ABT_mutex mutex;
    ABT_cond cond;
    ABT_eventual eventuals[2];
    int code;
    bool loops; /* as long as the time is up */
    atomic_int begun, ended;
    double end; /* when it was over */
    ABT_thread ult;
};

static void wait_init(struct wait *w, enum wait_kind kind, long ms)
{
    memset(w, 0, sizeof(*w));
    w->kind = kind;
    w->ms = ms;
    must(ABT_mutex_create(&w->mutex));
    must(ABT_cond_create(&w->cond));
    for (int i = 0; i < 2; i++)
        must(ABT_eventual_create(0, &w->eventuals[i]));
}

static void wait_fini(struct wait *w)
{
    must(ABT_cond_free(&w->cond));
    must(ABT_mutex_free(&w->mutex));
    for (int i = 0; i < 2; i++)
        must(ABT_eventual_free(&w->eventuals[i]));
}

static int wait_once(struct wait *w)
{
    struct timespec ts = in_ms(w->ms);
    int code = ABT_ERR_COND_TIMEDOUT, index;

    switch (w->kind) {
    case COND:
        must(ABT_mutex_lock(w->mutex));
        code = ABT_cond_timedwait(w->cond, w->mutex, &ts);
        must(ABT_mutex_unlock(w->mutex));
        break;
    case EVENTUAL: code = ABT_eventual_timedwait(w->eventuals[0], NULL, &ts); break;
    case ANY: code = ABTX_eventual_wait_any_until(2, w->eventuals, &index, ABTX_after(w->ms * INT64_C(1000000))); break;
    default: must(ABTX_self_sleep(w->ms * INT64_C(1000000)));
    }
    return code;
}

static void run_wait(void *arg)
{
    struct wait *w = arg;

    atomic_store(&w->begun, 1);
    do
        w->code = wait_once(w);
    while (w->loops && w->code == ABT_ERR_COND_TIMEDOUT);
    w->end = now();
    atomic_store(&w->ended, 1);
}

static void wake(struct wait *w)
{
    if (w->kind == COND)
        must(ABT_cond_signal(w->cond));
    else
        must(ABT_eventual_set(w->eventuals[w->kind == ANY], NULL, 0));
}

/* False: on a busy machine we were too slow to see it. */
static bool wait_until_blocked(struct wait *w)
{
    wait_for(state_of(w->ult) == ABT_THREAD_STATE_BLOCKED || atomic_load(&w->ended));
    return !atomic_load(&w->ended);
}

/* --- What it looks like from outside --- */

static void test_blocked(enum wait_kind kind)
{
    struct wait w;
    ABT_pool pool = pool_of(other_es);
    double begin = now();

    diag("%s", wait_names[kind]);
    wait_init(&w, kind, 100);
    w.ult = ult_in(pool, run_wait, &w);
    if (wait_until_blocked(&w)) {
        size_t size = size_of(pool), total = total_size_of(pool);
        if (state_of(w.ult) == ABT_THREAD_STATE_BLOCKED) /* still */
            ok(size == 0 && total == 1, "a ULT that waits for a time is blocked, and counted in its pool");
    }
    must(ABT_thread_join(w.ult));
    ok(w.end - begin >= 0.0999, "it waits as long as it should (%g s)", w.end - begin);
    is_int(w.code, ABT_ERR_COND_TIMEDOUT, "and is told so");
    is_int(total_size_of(pool), 0, "counted no more");
    must(ABT_thread_free(&w.ult));

    if (kind != SLEEP) {
        w.ms = 1000000;
        atomic_store(&w.ended, 0);
        w.ult = ult_in(pool, run_wait, &w);
        wait_until_blocked(&w);
        wake(&w);
        must(ABT_thread_free(&w.ult));
        is_int(w.code, ABT_SUCCESS, "woken before");
    }
    wait_fini(&w);
}

/* --- Under every scheduler and in every pool; nobody polls --- */

static ABT_xstream es_with(ABT_sched_predef predef, ABT_pool_kind kind, ABT_pool_access access, ABT_pool *pool)
{
    ABT_xstream es;

    must(ABT_pool_create_basic(kind, access, ABT_TRUE, pool));
    must(ABT_xstream_create_basic(predef, 1, pool, ABT_SCHED_CONFIG_NULL, &es));
    return es;
}

struct sched_kind {
    ABT_sched_predef predef;
    ABT_pool_kind kind;
};

static double cpu_of_sched(void *arg, long ms)
{
    enum { SLEEPERS = 10 };
    static struct wait waits[SLEEPERS];
    const struct sched_kind *of = arg;
    ABT_pool pool;
    ABT_xstream es = es_with(of->predef, of->kind, ABT_POOL_ACCESS_MPMC, &pool);
    double cpu = cpu_seconds();

    for (int i = 0; i < SLEEPERS; i++) {
        wait_init(&waits[i], (enum wait_kind)(i % NUM_WAITS), ms + i);
        must(ABT_thread_create_on_xstream(es, run_wait, &waits[i], ABT_THREAD_ATTR_NULL, &waits[i].ult));
    }
    for (int i = 0; i < SLEEPERS; i++) {
        must(ABT_thread_free(&waits[i].ult));
        wait_fini(&waits[i]);
    }
    cpu = cpu_seconds() - cpu;
    must(ABT_xstream_free(&es));
    pass("scheduler %d, pool kind %d: all are awake", of->predef, of->kind);
    return cpu;
}

static void test_scheds(void)
{
    static const ABT_sched_predef predefs[] = {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT};
    static const ABT_pool_kind kinds[] = {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS};

    for (int p = 0; p < 4; p++) {
        for (int k = 0; k < 3; k++)
            check_sleeps(cpu_of_sched, &(struct sched_kind){predefs[p], kinds[k]}, "an ES whose ULTs all wait");
    }
}

/* ULTs of private pools are made by their own stream, as which the primary one serves here. */
static double cpu_of_private(void *arg, long ms)
{
    double cpu = cpu_seconds();
    struct wait w;

    wait_init(&w, EVENTUAL, ms);
    w.ult = ult_in(*(ABT_pool *)arg, run_wait, &w);
    must(ABT_thread_free(&w.ult));
    is_int(w.code, ABT_ERR_COND_TIMEDOUT, "the time is up");
    wait_fini(&w);
    return cpu_seconds() - cpu;
}

static void test_private(ABT_pool_kind kind)
{
    ABT_pool pool;
    ABT_xstream es = own_xstream();

    must(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    must(ABT_xstream_set_main_sched_basic(es, ABT_SCHED_DEFAULT, 1, &pool));
    check_sleeps(cpu_of_private, &pool, "an ES with a private pool");
}

/* The time is looked at while others keep the stream busy. */
static void yield_until(void *arg)
{
    while (!atomic_load((atomic_int *)arg))
        must(ABT_thread_yield());
}

static void test_busy(void)
{
    struct wait w;
    ABT_thread ults[2];

    wait_init(&w, COND, 5);
    for (int i = 0; i < 2; i++)
        ults[i] = ult_in(own_pool(), yield_until, &w.ended);
    w.ult = ult_in(own_pool(), run_wait, &w);
    must(ABT_thread_free(&w.ult));
    for (int i = 0; i < 2; i++)
        must(ABT_thread_free(&ults[i]));
    pass("woken while others yield to each other");
    wait_fini(&w);
}

/* --- User-defined schedulers --- */

static atomic_int sched_naps;
static atomic_bool sched_exits, sched_ends;

static void run_checking(ABT_sched sched)
{
    do {
        if (!run_next(first_pool_of(sched)))
            nap_ms(0.5);
        if (atomic_load(&sched_exits))
            ABT_self_exit();
    } while (!is_last_turn(sched));
}

/* Sleeps in its pool for longer than the test may last, until the last unit comes. */
static void run_waiting(ABT_sched sched)
{
    do {
        ABT_thread unit = ABT_THREAD_NULL;
        bool ends = atomic_load(&sched_ends);
        atomic_fetch_add(&sched_naps, !ends);
        must(ABT_pool_pop_wait_thread(first_pool_of(sched), &unit, ends ? 0 : 1e6));
        if (unit != ABT_THREAD_NULL)
            must(ABT_self_schedule(unit, ABT_POOL_NULL));
    } while (!is_last_turn(sched));
}

static void test_user_sched(const char *name, void (*run)(ABT_sched))
{
    ABT_sched_def def = {.run = run};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    ABT_sched sched;
    ABT_xstream es;

    atomic_store(&sched_ends, false);
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &es));
    for (int kind = 0; kind < NUM_WAITS; kind++) {
        struct wait w;
        double begin = now();
        wait_init(&w, (enum wait_kind)kind, 20);
        w.ult = ult_in(pool, run_wait, &w);
        must(ABT_thread_free(&w.ult));
        is_int(w.code, ABT_ERR_COND_TIMEDOUT, "%s: the time is up", wait_names[kind]);
        ok(w.end - begin >= 0.0199, "a scheduler that %s wakes it", name);
        wait_fini(&w);
    }
    atomic_store(&sched_ends, true);
    must(ABT_task_create(pool, do_nothing, NULL, NULL));
    must(ABT_xstream_free(&es));
    must(ABT_sched_free(&sched));
}

/* --- Waiting pops: what sleeps is the native thread --- */

struct pop {
    ABT_pool_kind kind;
    bool absolute;
};

/* What is counted is the native thread that calls: the primary ULT polls meanwhile for the end of the others. */
static double cpu_of_pop(void *arg, long ms)
{
    struct pop *pop = arg;
    ABT_pool pool;
    ABT_thread unit = UNTOUCHED(ABT_thread);
    ABT_unit handle = UNTOUCHED(ABT_unit);
    double begin, cpu, secs = (double)ms * 1e-3;

    must(ABT_pool_create_basic(pop->kind, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    begin = now();
    cpu = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    if (pop->absolute) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        ok_abt(ABT_pool_pop_timedwait(pool, &handle, ABT_get_wtime() + secs));
#pragma GCC diagnostic pop
        is_ptr(handle, ABT_UNIT_NULL, "nothing came");
    } else {
        ok_abt(ABT_pool_pop_wait_thread(pool, &unit, secs));
        is_ptr(unit, ABT_THREAD_NULL, "nothing came");
    }
    cpu = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    ok(now() - begin >= secs - 0.0001, "kind %d: it waits as long as it should", pop->kind);
    must(ABT_pool_free(&pool));
    return cpu;
}

static void test_pop(enum caller who, void *arg)
{
    check_sleeps(cpu_of_pop, arg, caller_names[who]);
}

static void test_pops(void)
{
    static const ABT_pool_kind kinds[] = {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS};

    for (int i = 0; i < 6; i++) {
        struct pop pop = {kinds[i % 3], i >= 3};
        call_as_each(test_pop, &pop);
    }
}

/* --- Cancelled while it waits: soon, and leaving nothing behind --- */

static void test_cancel(enum wait_kind kind, bool loops)
{
    struct wait w;

    wait_init(&w, kind, loops ? 1 : 1000000);
    w.loops = loops;
    w.ult = ult_in(pool_of(other_es), run_wait, &w);
    if (loops)
        wait_for(atomic_load(&w.begun));
    else
        wait_until_blocked(&w);
    must(ABT_thread_cancel(w.ult));
    must(ABT_thread_join(w.ult));
    is_int(state_of(w.ult), ABT_THREAD_STATE_TERMINATED, "%s%s: it has ended", wait_names[kind],
           loops ? ", again and again" : "");
    is_int(atomic_load(&w.ended), 0, "without coming back");
    must(ABT_thread_free(&w.ult));
    /* Nothing of it is left in any queue. */
    if (kind != SLEEP)
        wake(&w);
    ok_abt(ABT_mutex_trylock(w.mutex));
    must(ABT_mutex_unlock(w.mutex));
    wait_fini(&w);
}

static void test_cancel_many(void)
{
    enum { NUM = 200 };
    static struct wait waits[NUM];

    for (int i = 0; i < NUM; i++) {
        wait_init(&waits[i], (enum wait_kind)(i % NUM_WAITS), i % 3 ? 1000000 : 20);
        waits[i].ult = ult_in(pool_of(other_es), run_wait, &waits[i]);
    }
    for (int i = 0; i < NUM; i++) {
        if (i % 3 == 1)
            must(ABT_thread_cancel(waits[i].ult));
    }
    for (int i = 0; i < NUM; i++) {
        if (i % 3 == 2 && waits[i].kind == SLEEP)
            must(ABT_thread_cancel(waits[i].ult));
        else if (i % 3 == 2) {
            wait_until_blocked(&waits[i]);
            wake(&waits[i]);
        }
    }
    for (int i = 0; i < NUM; i++) {
        must(ABT_thread_free(&waits[i].ult));
        wait_fini(&waits[i]);
    }
    pass("%d waits: some cancelled, some woken, of some the time was up", NUM);
}

/* --- Streams that end meanwhile --- */

/* Another stream serves the pool: it takes the timer over. */
static void test_taken_over(long ms, bool cancel)
{
    struct wait w;
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_xstream first, second;

    wait_init(&w, EVENTUAL, ms);
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &first));
    w.ult = ult_in(pool, run_wait, &w);
    wait_until_blocked(&w);
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &second));
    if (cancel)
        must(ABT_xstream_cancel(first));
    must(ABT_xstream_free(&first));
    pass("the first stream does not wait for its timers");
    if (ms > 1000)
        must(ABT_eventual_set(w.eventuals[0], NULL, 0));
    must(ABT_thread_free(&w.ult));
    is_int(w.code, ms > 1000 ? ABT_SUCCESS : ABT_ERR_COND_TIMEDOUT, "the second one ends the wait");
    must(ABT_xstream_free(&second));
    must(ABT_pool_free(&pool));
    wait_fini(&w);
}

/* Nobody else serves the shared pool: the stream stays until the ULT has ended. */
static double cpu_of_kept(void *arg, long ms)
{
    struct wait w;
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_xstream es[2];

    wait_init(&w, COND, ms);
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es[i]));
    w.ult = ult_in(pool, run_wait, &w);
    wait_until_blocked(&w);
    double cpu = cpu_seconds();
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_join(es[i]));
    cpu = cpu_seconds() - cpu;
    ok(atomic_load(&w.ended), "two streams end, the last one after a ULT that was waiting for a time");
    must(ABT_thread_free(&w.ult));
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&es[i]));
    must(ABT_pool_free(&pool));
    wait_fini(&w);
    return cpu;
}

/* No stream at all serves the pool: the timer fires, and the ULT is there for whoever comes. */
static void test_unserved(bool exits)
{
    ABT_sched_def def = {.run = run_checking};
    struct wait w;
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_sched sched;
    ABT_xstream es;

    wait_init(&w, ANY, 200);
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &es));
    w.ult = ult_in(pool, run_wait, &w);
    bool waits = wait_until_blocked(&w);
    if (exits)
        atomic_store(&sched_exits, true);
    else
        must(ABT_xstream_cancel(es));
    must(ABT_xstream_free(&es));
    atomic_store(&sched_exits, false);
    must(ABT_sched_free(&sched));
    if (!waits || atomic_load(&w.ended)) {
        skip(1, "too slow");
        must(ABT_thread_free(&w.ult));
        must(ABT_pool_free(&pool));
        wait_fini(&w);
        return;
    }
    is_int(atomic_load(&w.ended), 0, "the stream has gone before");
    wait_for(size_of(pool) == 1);
    is_int(state_of(w.ult), ABT_THREAD_STATE_READY, "its time is up, it is ready");
    is_int(total_size_of(pool), 1, "and counted once");
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
    must(ABT_thread_free(&w.ult));
    is_int(w.code, ABT_ERR_COND_TIMEDOUT, "a new stream runs it");
    must(ABT_xstream_free(&es));
    must(ABT_pool_free(&pool));
    wait_fini(&w);
}

/* --- The end of the library --- */

static void test_finalize(void)
{
    static struct wait w;
    double begin = now();

    wait_init(&w, SLEEP, 50);
    must(ABT_thread_create(own_pool(), run_wait, &w, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_thread_yield());
    wait_fini(&w);
    sync_fini();
    ok(atomic_load(&w.ended) && w.end - begin >= 0.0499, "ABT_finalize runs those to their end who wait for a time");
}

int main(void)
{
    sync_init();
    for (int kind = 0; kind < NUM_WAITS; kind++)
        test_blocked((enum wait_kind)kind);
    test_scheds();
    test_busy();
    test_user_sched("checks for events", run_checking);
    test_user_sched("waits in its pool", run_waiting);
    ok(atomic_load(&sched_naps) < 100, "the latter does not look often");
    test_pops();
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL)) {
        for (int kind = 0; kind < NUM_WAITS; kind++) {
            test_cancel((enum wait_kind)kind, false);
            test_cancel((enum wait_kind)kind, true);
        }
        test_cancel_many();
    }
    test_taken_over(50, false);
    test_taken_over(1000000, false);
    test_taken_over(50, true);
    test_taken_over(1000000, true);
    check_sleeps(cpu_of_kept, NULL, "who ends after the ULTs of its pool");
    test_unserved(false);
    test_unserved(true);
    test_private(ABT_POOL_FIFO);
    test_private(ABT_POOL_FIFO_WAIT);
    test_private(ABT_POOL_RANDWS);
    test_finalize();
    return done_testing();
}

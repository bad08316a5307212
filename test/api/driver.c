/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_driver_*, ABTX_xstream_set_spin: what a library does on streams beside their units, and when they sleep. */
#include "common.h"

#include <math.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include "emulated.h"
#include "watchdog.h"

enum { MOST = 12 };

/* What a driver sees of a stream: its data there. */
struct seen {
    pthread_t thread;
    ABT_xstream stream;
    atomic_bool started, ended;
    atomic_int polls, tells, waits;
    atomic_bool in_wait;
    _Atomic(int64_t) until; /* of the last wait */
};

/* The argument of a driver. */
struct lib {
    ABTX_driver driver;
    struct seen seen[MOST]; /* in the order of the starts */
    atomic_int begun, starts, ends, wrong;
    atomic_int refuses;   /* start is to fail so often */
    atomic_bool finds;    /* poll has found something, once */
    atomic_bool detaches; /* poll detaches the driver */
    int codes[3];
};

static struct lib lib, other;

static int start(void *arg, void **data)
{
    struct lib *l = arg;

    if (atomic_load(&l->refuses) > 0) {
        atomic_fetch_sub(&l->refuses, 1);
        return ABT_ERR_OTHER;
    }
    struct seen *seen = &l->seen[atomic_fetch_add(&l->begun, 1) % MOST]; /* two streams may come at a time */
    if (*data != arg)
        atomic_fetch_add(&l->wrong, 1);
    seen->thread = pthread_self();
    seen->stream = own_xstream();
    atomic_store(&seen->ended, false);
    atomic_store(&seen->started, true);
    *data = seen;
    count_up(&l->starts);
    return ABT_SUCCESS;
}

static struct lib *lib_of(struct seen *seen)
{
    return seen >= other.seen && seen < other.seen + MOST ? &other : &lib;
}

/* Each callback is on the thread of its stream, between start and end. */
static void look(struct seen *seen)
{
    bool right = pthread_equal(seen->thread, pthread_self()) && atomic_load(&seen->started) &&
                 !atomic_load(&seen->ended) && seen->stream == own_xstream();

    atomic_fetch_add(&lib_of(seen)->wrong, !right);
}

static void end(void *data)
{
    struct seen *seen = data;

    look(seen);
    atomic_store(&seen->ended, true);
    count_up(&lib_of(seen)->ends);
}

static ABT_bool look_for(void *data, ABT_bool about_to_sleep)
{
    struct seen *seen = data;
    struct lib *l = lib_of(seen);

    look(seen);
    count_up(about_to_sleep ? &seen->tells : &seen->polls);
    if (atomic_exchange(&l->detaches, false)) {
        if (!is_left_out(false)) {
            l->codes[0] = ABTX_driver_free(&l->driver);
            l->codes[1] = ABTX_driver_attach_all(l->driver);
        }
        l->codes[2] = ABTX_driver_detach(l->driver, seen->stream);
        atomic_fetch_add(&l->wrong, atomic_load(&seen->ended));
    }
    return atomic_exchange(&l->finds, false) ? ABT_TRUE : ABT_FALSE;
}

static void wait_in(void *data, int fd, int64_t deadline)
{
    struct seen *seen = data;
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};

    look(seen);
    atomic_store(&seen->until, deadline);
    count_up(&seen->waits);
    atomic_store(&seen->in_wait, true);
    poll(&pollfd, 1, deadline == INT64_MAX ? -1 : 1);
    atomic_store(&seen->in_wait, false);
}

static const ABTX_driver_ops all_ops = {start, end, look_for, wait_in, ABT_FALSE, ABT_FALSE};
static const ABTX_driver_ops no_wait = {start, end, look_for, NULL, ABT_FALSE, ABT_FALSE};
static const ABTX_driver_ops brief_ops = {start, end, NULL, NULL, ABT_FALSE, ABT_FALSE};

static void make(struct lib *l, const ABTX_driver_ops *ops)
{
    *l = (struct lib){.driver = NULL};
    must(ABTX_driver_create(ops, l, &l->driver));
}

static void unmake(struct lib *l)
{
    must(ABTX_driver_free(&l->driver));
    is_int(atomic_load(&l->ends), atomic_load(&l->starts), "each start has an end");
    is_int(atomic_load(&l->wrong), 0, "all calls were on the stream's thread, between start and end");
}

/* After ABT_init, streams that have the driver. */
static void begin_with(const ABTX_driver_ops *ops, int num, ABT_xstream *streams)
{
    must(ABT_init(0, NULL));
    make(&lib, ops);
    for (int i = 0; i < num; i++) {
        streams[i] = new_xstream();
        must(ABTX_driver_attach(lib.driver, streams[i]));
        wait_for(atomic_load(&lib.starts) == i + 1);
    }
}

/* --- Bad arguments --- */

static void get_data(enum caller who, void *arg)
{
    ABTX_driver driver = arg;
    void *data = &data;

    ok_err(ABTX_driver_get_data(driver, &data), code_for_es(who, ABT_SUCCESS));
    is_ptr(data, who == EXTERNAL ? (void *)&data : NULL, "there is none where it is not attached");
}

/* What a build without checks does not refuse. */
static void refuse_arguments(ABTX_driver driver, ABT_xstream self)
{
    static const ABTX_driver_ops only_wait = {.wait = wait_in};
    ABTX_driver none = NULL;
    void *data;

    if (is_left_out(false))
        return;
    ok_err(ABTX_driver_create(NULL, NULL, &none), ABT_ERR_INV_ARG);
    ok_err(ABTX_driver_create(&all_ops, NULL, NULL), ABT_ERR_INV_ARG);
    ok_err(ABTX_driver_create(&only_wait, NULL, &none), ABT_ERR_INV_ARG);
    ok_err(ABTX_driver_attach(none, self), ABT_ERR_INV_ARG);
    ok_err(ABTX_driver_attach(driver, ABT_XSTREAM_NULL), ABT_ERR_INV_XSTREAM);
    ok_err(ABTX_driver_attach_all(none), ABT_ERR_INV_ARG);
    ok_err(ABTX_driver_detach(none, self), ABT_ERR_INV_ARG);
    ok_err(ABTX_driver_detach(driver, ABT_XSTREAM_NULL), ABT_ERR_INV_XSTREAM);
    ok_err(ABTX_driver_get_data(none, &data), ABT_ERR_INV_ARG);
    ok_err(ABTX_driver_get_data(driver, NULL), ABT_ERR_INV_ARG);
    ok_err(ABTX_driver_free(&none), ABT_ERR_INV_ARG);
    ok_err(ABTX_driver_free(NULL), ABT_ERR_INV_ARG);
    ok_err(ABTX_xstream_set_spin(ABT_XSTREAM_NULL, 0), ABT_ERR_INV_XSTREAM);
}

static void test_arguments(void)
{
    ABTX_driver driver, many[ABTX_MAX_DRIVERS];
    ABT_xstream self;

    if (!is_left_out(false))
        ok_err(ABTX_driver_create(&all_ops, NULL, &driver), ABT_ERR_UNINITIALIZED);
    must(ABT_init(0, NULL));
    self = own_xstream();
    for (int i = 0; i < ABTX_MAX_DRIVERS; i++)
        must(ABTX_driver_create(&all_ops, NULL, &many[i]));
    ok_err(ABTX_driver_create(&all_ops, NULL, &driver), ABT_ERR_MEM);
    must(ABTX_driver_free(&many[3]));
    ok(!many[3], "one that is freed is NULL");
    ok_abt(ABTX_driver_create(&(ABTX_driver_ops){.start = NULL}, NULL, &driver));
    call_as_each(get_data, driver);
    refuse_arguments(driver, self);
    ok_err(ABTX_driver_detach(driver, self), ABT_ERR_INV_ARG);
    ok_abt(ABTX_driver_attach(driver, self));
    ok_err(ABTX_driver_attach(driver, self), ABT_ERR_INV_ARG);
    ok_abt(ABTX_driver_detach(driver, self));
    ok_abt(ABTX_driver_free(&driver));
    for (int i = 0; i < ABTX_MAX_DRIVERS; i++)
        if (many[i])
            must(ABTX_driver_free(&many[i]));
    must(ABT_finalize());
}

/* --- Start and end --- */

static void test_own_stream(void)
{
    void *data = NULL;
    ABT_xstream self;

    must(ABT_init(0, NULL));
    self = own_xstream();
    make(&lib, &brief_ops);
    atomic_store(&lib.refuses, 1);
    ok_err(ABTX_driver_attach(lib.driver, self), ABT_ERR_OTHER);
    ok_err(ABTX_driver_detach(lib.driver, self), ABT_ERR_INV_ARG);
    ok_abt(ABTX_driver_attach(lib.driver, self));
    is_int(atomic_load(&lib.starts), 1, "on the caller's own stream, start has returned");
    must(ABTX_driver_get_data(lib.driver, &data));
    is_ptr(data, &lib.seen[0], "the data is what start has set");
    ok_abt(ABTX_driver_detach(lib.driver, self));
    is_int(atomic_load(&lib.ends), 1, "and end has returned, likewise");
    must(ABTX_driver_get_data(lib.driver, &data));
    is_ptr(data, NULL, "there is no data any more");
    must(ABTX_driver_attach(lib.driver, self));
    must(ABT_finalize());
    is_int(atomic_load(&lib.ends), 2, "ABT_finalize ends it on the primary stream");
    ok(pthread_equal(lib.seen[1].thread, pthread_self()), "on the first thread");
    unmake(&lib);
}

static void note_data(void *arg)
{
    void **data = arg;

    must(ABTX_driver_get_data(lib.driver, data));
}

static void *data_on(ABT_xstream stream)
{
    void *data = &data;
    ABT_thread thread = ult_in(pool_of(stream), note_data, &data);

    must(ABT_thread_free(&thread));
    return data;
}

static void test_other_stream(void)
{
    ABT_xstream stream, refuser;

    must(ABT_init(0, NULL));
    stream = new_xstream();
    refuser = new_xstream();
    make(&lib, &all_ops);
    ok_abt(ABTX_driver_attach(lib.driver, stream));
    ok(soon(atomic_load(&lib.starts) == 1), "another stream starts it");
    is_ptr(data_on(stream), &lib.seen[0], "the data is known there");
    is_ptr(data_on(refuser), NULL, "and on no other stream");
    ok_err(ABTX_driver_attach(lib.driver, stream), ABT_ERR_INV_ARG);
    atomic_store(&lib.refuses, 1);
    ok_abt(ABTX_driver_attach(lib.driver, refuser));
    wait_for(atomic_load(&lib.refuses) == 0);
    ok(soon(ABTX_driver_attach(lib.driver, refuser) == ABT_SUCCESS), "one that failed to start is not attached");
    ok(soon(atomic_load(&lib.starts) == 2), "and can be attached again");
    ok_abt(ABTX_driver_detach(lib.driver, stream));
    ok(atomic_load(&lib.seen[0].ended), "when it is detached its end has returned");
    must(ABT_xstream_free(&refuser));
    is_int(atomic_load(&lib.ends), 2, "when its stream is freed it has ended");
    must(ABTX_driver_attach(lib.driver, stream));
    must(ABT_xstream_free(&stream));
    unmake(&lib);
    must(ABT_finalize());
}

static void note_starts(void *arg)
{
    *(int *)arg = atomic_load(&lib.starts);
}

static void test_all_streams(void)
{
    ABT_xstream there, later;
    ABT_pool pool = ABT_POOL_NULL;
    int starts = 0;

    must(ABT_init(0, NULL));
    there = new_xstream();
    make(&lib, &brief_ops);
    ok_abt(ABTX_driver_attach_all(lib.driver));
    ok(soon(atomic_load(&lib.starts) == 2), "the streams that are there start it");
    ok_err(ABTX_driver_attach(lib.driver, there), ABT_ERR_INV_ARG);
    pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    must(ABT_thread_create(pool, note_starts, &starts, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &later));
    must(ABT_xstream_join(later));
    is_int(starts, 3, "a new stream has started it before its first unit");
    is_int(atomic_load(&lib.ends), 1, "and ended it when it is joined");
    must(ABT_xstream_revive(later));
    ok(soon(atomic_load(&lib.starts) == 4), "it starts it again when it is revived");
    must(ABT_xstream_free(&later));
    ok_abt(ABTX_driver_detach(lib.driver, there));
    is_int(atomic_load(&lib.ends), 3, "it can be detached from one");
    must(ABTX_driver_attach_all(lib.driver));
    unmake(&lib);
    starts = atomic_load(&lib.starts);
    later = new_xstream();
    must(ABT_xstream_free(&later));
    must(ABT_xstream_free(&there));
    is_int(atomic_load(&lib.starts), starts, "one that is freed is attached to no new stream");
    must(ABT_pool_free(&pool));
    must(ABT_finalize());
}

/* Streams that detach from each other at the same time, by ULTs and by tasklets. */
struct pair {
    ABT_xstream target;
    atomic_int *ready;
};

static void detach_from(void *arg)
{
    struct pair *pair = arg;

    atomic_fetch_add(pair->ready, 1);
    while (atomic_load(pair->ready) < 2)
        ;
    must(ABTX_driver_detach(lib.driver, pair->target));
}

static void test_mutual(bool tasklets)
{
    atomic_int ready = 0;
    ABT_thread units[2];
    ABT_xstream streams[2];
    struct pair pairs[2];

    must(ABT_init(0, NULL));
    make(&lib, &brief_ops);
    must(ABTX_driver_attach_all(lib.driver));
    for (int i = 0; i < 2; i++)
        streams[i] = new_xstream();
    wait_for(atomic_load(&lib.starts) == 3);
    for (int i = 0; i < 2; i++) {
        pairs[i] = (struct pair){streams[!i], &ready};
        if (tasklets)
            must(ABT_task_create(pool_of(streams[i]), detach_from, &pairs[i], &units[i]));
        else
            units[i] = ult_in(pool_of(streams[i]), detach_from, &pairs[i]);
    }
    for (int i = 0; i < 2; i++)
        must(ABT_thread_free(&units[i]));
    is_int(atomic_load(&lib.ends), 2, "two streams detach it from each other");
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&streams[i]));
    unmake(&lib);
    must(ABT_finalize());
}

/* --- Poll and wait --- */

static void run_units(ABT_xstream stream, int num)
{
    ABT_pool pool = pool_of(stream);
    atomic_int ran = 0;

    for (int i = 0; i < num; i++)
        must(ABT_task_create(pool, count_up, &ran, NULL));
    wait_for(atomic_load(&ran) == num);
}

static void test_poll(void)
{
    struct seen *seen = &lib.seen[0];
    const ABTX_driver_ops often = no_wait;
    ABT_xstream stream;

    begin_with(&no_wait, 1, &stream);
    ok(soon(atomic_load(&seen->tells) > 0), "a driver is told that its stream is about to sleep");
    int polls = atomic_load(&seen->polls);
    run_units(stream, 1000);
    ok(atomic_load(&seen->polls) - polls >= 10, "and is asked while units run");
    nap_ms(20);
    polls = atomic_load(&seen->polls);
    nap_ms(20);
    is_int(atomic_load(&seen->polls), polls, "it is not asked while the stream sleeps");
    int tells = atomic_load(&seen->tells);
    atomic_store(&lib.finds, true);
    must(ABTX_xstream_wake(stream));
    ok(soon(atomic_load(&seen->tells) > tells), "one that has found something is asked again before the sleep");
    must(ABTX_driver_detach(lib.driver, stream));
    polls = atomic_load(&seen->polls);
    run_units(stream, 100);
    is_int(atomic_load(&seen->polls), polls, "one that is detached is not asked");
    unmake(&lib);
    make(&lib, &often);
    must(ABTX_driver_set_period(lib.driver, 200000));
    must(ABTX_driver_attach(lib.driver, stream));
    ok(soon(atomic_load(&seen->tells) > 10), "an idle stream wakes in time to ask");
    unmake(&lib);
    make(&lib, &often);
    must(ABTX_driver_set_period(lib.driver, 0));
    must(ABTX_driver_attach(lib.driver, stream));
    ok(soon(atomic_load(&seen->tells) > 1000), "or does not sleep");
    unmake(&lib);
    must(ABT_xstream_free(&stream));
    must(ABT_finalize());
}

static void nap(void *arg)
{
    must(ABTX_self_sleep(50000000));
}

static void test_wait(void)
{
    struct seen *seen = &lib.seen[0], *second = &other.seen[0];
    ABT_xstream stream;
    ABT_thread thread;

    must(ABT_init(0, NULL));
    stream = new_xstream();
    make(&lib, &all_ops);
    make(&other, &all_ops);
    must(ABTX_driver_attach(lib.driver, stream));
    ok(soon(atomic_load(&seen->in_wait)), "a stream sleeps in the wait of its driver");
    ok(atomic_load(&seen->until) == INT64_MAX, "for ever");
    is_int(atomic_load(&seen->tells), 0, "it is not told of that by poll");
    run_units(stream, 1);
    ok(soon(atomic_load(&seen->in_wait)), "and again, after units");
    thread = ult_in(pool_of(stream), nap, NULL);
    ok(soon(atomic_load(&seen->until) != INT64_MAX), "no longer than until the next thing to do");
    must(ABT_thread_free(&thread));
    must(ABTX_driver_attach(other.driver, stream));
    ok(soon(atomic_load(&second->tells) > 5), "a second one is asked every millisecond");
    is_int(atomic_load(&second->waits), 0, "and does not wait");
    must(ABTX_driver_detach(lib.driver, stream));
    ok(soon(atomic_load(&second->in_wait)), "until it is the first one");
    unmake(&other);
    must(ABTX_driver_free(&lib.driver));
    must(ABT_xstream_free(&stream));
    must(ABT_finalize());
}

/* --- Streams that their units block --- */

static _Atomic(uint32_t) dock_word;
static atomic_int at_dock;

static void block_stream(void *arg)
{
    atomic_fetch_add(&at_dock, 1);
    must(ABTX_word_wait(arg, 0, 0, ABT_TRUE, NULL, NULL));
    atomic_fetch_sub(&at_dock, 1);
}

/* Their drivers have been started. */
static void block_streams(int num, ABT_xstream *streams, ABT_thread *units, const ABTX_driver_ops *ops)
{
    must(ABT_init(0, NULL));
    make(&lib, ops);
    atomic_store(&dock_word, 0);
    for (int i = 0; i < num; i++) {
        streams[i] = new_xstream();
        must(ABTX_driver_attach(lib.driver, streams[i]));
    }
    wait_for(atomic_load(&lib.starts) == num);
    for (int i = 0; i < num; i++)
        units[i] = ult_in(pool_of(streams[i]), block_stream, &dock_word);
    wait_for(atomic_load(&at_dock) == num);
    nap_ms(5); /* most of them sleep */
}

static void free_streams(int num, ABT_xstream *streams, ABT_thread *units)
{
    for (int i = 0; i < num; i++) {
        must(ABT_thread_free(&units[i]));
        must(ABT_xstream_free(&streams[i]));
    }
}

static bool soon_in_wait(void)
{
    return soon(atomic_load(&lib.seen[0].in_wait) && atomic_load(&lib.seen[1].in_wait));
}

static void test_blocked(void)
{
    enum { NUM = 2 };
    ABT_xstream streams[NUM];
    ABT_thread units[NUM];

    block_streams(NUM, streams, units, &all_ops);
    make(&other, &no_wait);
    must(ABTX_driver_set_period(other.driver, 1000000));
    ok(soon_in_wait(), "a stream that its unit blocks sleeps in the wait of its driver");
    must(ABTX_driver_attach(other.driver, streams[0]));
    ok(soon(atomic_load(&other.starts) == 1), "it starts another one");
    ok(soon(atomic_load(&other.seen[0].tells) > 5), "which is asked");
    must(ABTX_driver_detach(lib.driver, streams[1]));
    is_int(atomic_load(&lib.ends), 1, "it ends a driver");
    unmake(&lib);
    unmake(&other);
    is_int(atomic_load(&at_dock), NUM, "and is blocked all the while");
    atomic_store(&dock_word, 1);
    must(ABTX_word_wake(&dock_word, NUM));
    free_streams(NUM, streams, units);
    is_int(atomic_load(&at_dock), 0, "until the word has changed");
    must(ABT_finalize());
}

/* `each`: as many at a time. */
static void test_blocked_group(const ABTX_driver_ops *ops, int each)
{
    ABT_xstream streams[MOST];
    ABT_thread units[MOST];

    block_streams(MOST, streams, units, ops);
    atomic_store(&dock_word, 1);
    for (int i = 0; i < MOST; i += each)
        must(ABTX_word_wake(&dock_word, (uint32_t)each));
    free_streams(MOST, streams, units);
    pass("%d streams with drivers are woken by the word, %d at a time", MOST, each);
    unmake(&lib);
    must(ABT_finalize());
}

/* --- Callbacks --- */

static void test_callback_detaches(void)
{
    ABT_xstream stream;

    begin_with(&no_wait, 1, &stream);
    atomic_store(&lib.detaches, true);
    must(ABTX_xstream_wake(stream));
    ok(soon(atomic_load(&lib.ends) == 1), "a callback detaches its own driver");
    if (!is_left_out(false)) {
        is_int(lib.codes[0], ABT_ERR_INV_THREAD, "it may not free it");
        is_int(lib.codes[1], ABT_ERR_INV_THREAD, "nor attach it to all");
    }
    is_int(lib.codes[2], ABT_SUCCESS, "but detach");
    unmake(&lib);
    must(ABT_xstream_free(&stream));
    must(ABT_finalize());
}

/* --- One leader --- */

static atomic_int inside;

static ABT_bool look_alone(void *data, ABT_bool about_to_sleep)
{
    if (atomic_fetch_add(&inside, 1) != 0)
        atomic_fetch_add(&lib.wrong, 1);
    ABT_bool found = look_for(data, about_to_sleep);
    atomic_fetch_sub(&inside, 1);
    return found;
}

static void wait_alone(void *data, int fd, int64_t deadline)
{
    if (atomic_fetch_add(&inside, 1) != 0)
        atomic_fetch_add(&lib.wrong, 1);
    wait_in(data, fd, deadline);
    atomic_fetch_sub(&inside, 1);
}

static int calls_of(const struct seen *seen)
{
    return atomic_load(&seen->polls) + atomic_load(&seen->tells) + atomic_load(&seen->waits);
}

/* The one of two streams that has called since the last time, in a span without a change; -1: both or none. */
static int find_leader(void)
{
    int before[2], after[2];

    for (int i = 0; i < 2; i++)
        before[i] = calls_of(&lib.seen[i]);
    nap_ms(10);
    for (int i = 0; i < 2; i++)
        after[i] = calls_of(&lib.seen[i]);
    bool calls[2] = {before[0] != after[0], before[1] != after[1]};
    return calls[0] == calls[1] ? -1 : calls[1];
}

static int num_waiting(void)
{
    return atomic_load(&lib.seen[0].in_wait) + atomic_load(&lib.seen[1].in_wait);
}

static void test_one_leader(void)
{
    static const ABTX_driver_ops ops = {start, end, look_alone, NULL, ABT_TRUE, ABT_FALSE};
    struct spinner spinner = {false, false};
    ABT_xstream streams[2];
    ABT_thread thread;
    int leader, other_one;

    must(ABT_init(0, NULL));
    make(&lib, &ops);
    must(ABTX_driver_set_period(lib.driver, 0));
    for (int i = 0; i < 2; i++) {
        streams[i] = new_xstream();
        must(ABTX_driver_attach(lib.driver, streams[i]));
        wait_for(atomic_load(&lib.starts) == i + 1);
    }
    ok(soon((leader = find_leader()) >= 0), "one of two idle streams asks");
    run_units(streams[!leader], 10);
    ok(soon(find_leader() >= 0), "and so it is after the other one has run something");
    wait_for((leader = find_leader()) >= 0);
    other_one = calls_of(&lib.seen[!leader]);
    thread = ult_in(pool_of(streams[leader]), keep_spinning, &spinner);
    ok(soon(calls_of(&lib.seen[!leader]) > other_one + 100), "when the leader runs a long unit the other one asks");
    atomic_store(&spinner.stop, true);
    must(ABT_thread_free(&thread));
    wait_for((leader = find_leader()) >= 0);
    must(ABT_xstream_free(&streams[leader]));
    other_one = calls_of(&lib.seen[!leader]);
    ok(soon(calls_of(&lib.seen[!leader]) > other_one + 100), "and when it is freed");
    must(ABT_xstream_free(&streams[!leader]));
    unmake(&lib);
    must(ABT_finalize());
}

static void test_one_waits(void)
{
    static const ABTX_driver_ops ops = {start, end, look_alone, wait_alone, ABT_TRUE, ABT_FALSE};
    ABT_xstream streams[2];

    begin_with(&ops, 2, streams);
    ok(soon(num_waiting() == 1), "one of two idle streams waits in the driver");
    for (int i = 0; i < 20; i++)
        run_units(streams[i % 2], 3);
    ok(soon(num_waiting() == 1), "whichever runs something");
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&streams[i]));
    unmake(&lib);
    must(ABT_finalize());
}

/* --- What a library asks for: looks, the lead, pauses --- */

static void look_now(void *arg)
{
    ABT_bool *found = arg;

    must(ABTX_driver_look(lib.driver, found));
}

static void test_look(void)
{
    ABT_xstream stream;
    ABT_bool found = ABT_TRUE, alone = ABT_FALSE;

    must(ABT_init(0, NULL));
    make(&lib, &no_wait);
    if (!is_left_out(false)) {
        ok_err(ABTX_driver_look(NULL, &found), ABT_ERR_INV_ARG);
        ok_err(ABTX_driver_look(lib.driver, NULL), ABT_ERR_INV_ARG);
        ok_err(ABTX_self_is_alone(NULL), ABT_ERR_INV_ARG);
    }
    ok_err(ABTX_driver_look(lib.driver, &found), ABT_ERR_INV_ARG);
    must(ABTX_driver_attach(lib.driver, own_xstream()));
    int polls = atomic_load(&lib.seen[0].polls);
    ok_abt(ABTX_driver_look(lib.driver, &found));
    ok(atomic_load(&lib.seen[0].polls) == polls + 1 && !found, "a ULT makes a look, which finds nothing");
    atomic_store(&lib.finds, true);
    ok_abt(ABTX_driver_look(lib.driver, &found));
    ok(found, "one that finds something");
    ok_abt(ABTX_self_is_alone(&alone));
    ok(alone, "nothing else is ready");
    ABT_thread thread = ult_in(own_pool(), look_now, &found);
    ok_abt(ABTX_self_is_alone(&alone));
    ok(!alone, "something is");
    must(ABT_thread_free(&thread));
    stream = new_xstream();
    must(ABTX_driver_attach(lib.driver, stream));
    wait_for(atomic_load(&lib.starts) == 2);
    for (int i = 0; i < 100; i++) {
        thread = ult_in(pool_of(stream), look_now, &found);
        must(ABT_thread_free(&thread));
    }
    must(ABT_xstream_free(&stream));
    unmake(&lib);
    must(ABT_finalize());
}

static void take_lead(void *arg)
{
    must(ABTX_driver_lead(lib.driver));
}

/* The leader sleeps in the driver's wait, and another stream takes the lead. */
static void test_lead(void)
{
    static const ABTX_driver_ops ops = {start, end, look_alone, wait_alone, ABT_TRUE, ABT_FALSE};
    ABT_xstream streams[2];
    ABT_thread thread;

    begin_with(&ops, 2, streams);
    if (!is_left_out(false))
        ok_err(ABTX_driver_lead(NULL), ABT_ERR_INV_ARG);
    ok_err(ABTX_driver_lead(lib.driver), ABT_ERR_INV_ARG);
    for (int i = 0; i < 20; i++) {
        int to = i % 2;
        wait_for(num_waiting() == 1);
        bool leads = false;
        for (int tries = 0; tries < 100 && !leads; tries++) { /* one that is kept from running loses the lead again */
            thread = ult_in(pool_of(streams[to]), take_lead, NULL);
            must(ABT_thread_free(&thread));
            for (int looks = 0; looks < 20 && !(leads = atomic_load(&lib.seen[to].in_wait)); looks++)
                nap_ms(1);
        }
        ok(leads, "stream %d leads", to);
    }
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&streams[i]));
    unmake(&lib);
    must(ABT_finalize());
}

/* After ABT_init, a stream with the driver, which has nothing to do and sleeps. */
static ABT_xstream begin_beside_sleeper(void)
{
    ABT_xstream stream;

    begin_with(&no_wait, 1, &stream);
    wait_for(atomic_load(&lib.seen[0].tells) > 0);
    return stream;
}

static void test_max_sleep(void)
{
    struct seen *seen = &lib.seen[0];
    ABT_xstream stream = begin_beside_sleeper();

    nap_ms(5);
    int polls = atomic_load(&seen->polls);
    nap_ms(20);
    is_int(atomic_load(&seen->polls), polls, "an idle stream sleeps");
    ok_abt(ABTX_driver_set_max_sleep(lib.driver, 100000));
    ok(soon(atomic_load(&seen->polls) > polls + 10), "it looks when it is told how often");
    ok_abt(ABTX_driver_set_max_sleep(lib.driver, ABTX_FOREVER));
    nap_ms(5);
    polls = atomic_load(&seen->polls);
    nap_ms(20);
    ok(atomic_load(&seen->polls) <= polls + 1, "until it may sleep again");
    if (!is_left_out(false)) {
        ok_err(ABTX_driver_set_max_sleep(NULL, 1), ABT_ERR_INV_ARG);
        ok_err(ABTX_driver_set_max_sleep(lib.driver, -1), ABT_ERR_INV_ARG);
    }
    unmake(&lib);
    must(ABT_xstream_free(&stream));
    must(ABT_finalize());
}

/* --- Any thread --- */

static atomic_int any_starts, any_ends, any_polls, others_ran;
static atomic_bool in_region, region_ends;

static int start_anywhere(void *arg, void **data)
{
    (void)arg, (void)data;
    count_up(&any_starts);
    return ABT_SUCCESS;
}

static void end_anywhere(void *data)
{
    count_up(&any_ends);
}

static ABT_bool poll_anywhere(void *data, ABT_bool about_to_sleep)
{
    (void)data, (void)about_to_sleep;
    count_up(&any_polls);
    return ABT_FALSE;
}

static void stay_in_region(void *arg)
{
    must(ABTX_blocking_begin());
    atomic_store(&in_region, true);
    while (!atomic_load(&region_ends))
        nap_ms(1);
    must(ABTX_blocking_end());
}

static void run_beside(void *arg)
{
    atomic_fetch_add(&others_ran, 1);
}

/* A stream with such a driver is handed over, and the driver is called, started and ended there. */
static void test_any_thread(void)
{
    static const ABTX_driver_ops ops = {start_anywhere, end_anywhere, poll_anywhere, NULL, ABT_FALSE, ABT_TRUE};
    ABTX_driver drivers[2];
    ABT_xstream stream;

    must(ABT_init(0, NULL));
    stream = new_xstream();
    for (int i = 0; i < 2; i++) {
        must(ABTX_driver_create(&ops, NULL, &drivers[i]));
        must(ABTX_driver_set_period(drivers[i], 100000));
    }
    must(ABTX_driver_attach(drivers[0], stream));
    wait_for(atomic_load(&any_starts) == 1);
    ABT_thread thread = ult_in(pool_of(stream), stay_in_region, NULL);
    wait_for(atomic_load(&in_region));
    ABT_thread beside = ult_in(pool_of(stream), run_beside, NULL);
    must(ABT_thread_free(&beside));
    is_int(atomic_load(&others_ran), 1, "another ULT runs while one is in a blocking region");
    int polls = atomic_load(&any_polls);
    ok(soon(atomic_load(&any_polls) > polls + 3), "and the driver is called meanwhile");
    must(ABTX_driver_attach(drivers[1], stream));
    ok(soon(atomic_load(&any_starts) == 2), "one that comes meanwhile is started");
    must(ABTX_driver_detach(drivers[0], stream));
    is_int(atomic_load(&any_ends), 1, "and one that goes is ended");
    atomic_store(&region_ends, true);
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&stream));
    is_int(atomic_load(&any_ends), 2, "each start has an end");
    for (int i = 0; i < 2; i++)
        must(ABTX_driver_free(&drivers[i]));
    must(ABT_finalize());
}

/* --- How long a stream looks before it sleeps --- */

static void test_spin(void)
{
    struct seen *seen = &lib.seen[0];
    ABT_xstream stream = begin_beside_sleeper();

    ok_abt(ABTX_xstream_set_spin(stream, INT64_MAX));
    run_units(stream, 1);
    int tells = atomic_load(&seen->tells), polls = atomic_load(&seen->polls);
    ok(soon(atomic_load(&seen->polls) > polls + 10000), "a stream that is to look for ever looks");
    is_int(atomic_load(&seen->tells), tells, "and does not sleep");
    ok_abt(ABTX_xstream_set_spin(stream, 0));
    ok(soon(atomic_load(&seen->tells) > tells), "one that is not to look sleeps");
    ok_abt(ABTX_xstream_set_spin(stream, 1000000));
    nap_ms(20);
    polls = atomic_load(&seen->polls);
    run_units(stream, 1);
    ok(soon(atomic_load(&seen->polls) > polls + 50), "one that is to look for a millisecond looks often");
    must(ABTX_xstream_set_spin(stream, -1));
    unmake(&lib);
    must(ABT_xstream_free(&stream));
    must(ABT_finalize());
}

/* --- The child of a fork --- */

static void await_child(pid_t child, const char *what)
{
    int status = -1;

    ok(child > 0 && waitpid(child, &status, 0) == child && status == 0, "%s", what);
}

static void test_fork(void)
{
    ABT_xstream stream;

    if (!FORKS_WITH_THREADS) {
        skip(3, "a sanitizer's threads and locks are not there in the child of a process with several threads");
        return;
    }
    if (is_emulated()) {
        skip(3, "an emulator makes no threads in the child of a fork");
        return;
    }
    must(ABT_init(0, NULL));
    stream = new_xstream();
    make(&lib, &brief_ops);
    must(ABTX_driver_attach_all(lib.driver));
    wait_for(atomic_load(&lib.starts) == 2);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        void *data = &data;
        watchdog_begin(60);
        must(ABTX_driver_get_data(lib.driver, &data));
        bool good = data == NULL && ABTX_driver_attach(lib.driver, own_xstream()) == ABT_SUCCESS;
        stream = new_xstream();
        while (atomic_load(&lib.starts) < 4)
            ABT_self_yield();
        good &= ABT_xstream_free(&stream) == ABT_SUCCESS && ABTX_driver_free(&lib.driver) == ABT_SUCCESS;
        good &= ABT_finalize() == ABT_SUCCESS && atomic_load(&lib.ends) == 2;
        _exit(good ? 0 : 1);
    }
    await_child(child, "in the child of a fork it is attached to the streams there");
    must(ABT_xstream_free(&stream));
    unmake(&lib);
    must(ABT_finalize());
}

int main(void)
{
    watchdog_begin(100);
    test_arguments();
    test_own_stream();
    test_other_stream();
    test_all_streams();
    test_mutual(false);
    test_mutual(true);
    test_poll();
    test_wait();
    test_blocked();
    test_blocked_group(&all_ops, 1);
    test_blocked_group(&brief_ops, MOST);
    test_callback_detaches();
    test_one_leader();
    test_one_waits();
    test_look();
    test_lead();
    test_max_sleep();
    test_any_thread();
    test_spin();
    test_fork();
    return done_testing();
}

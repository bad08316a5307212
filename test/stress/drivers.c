/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drivers on streams that run units, sleep, come, go, are joined and revived, while other threads attach and detach
 * them, one by one and all at once. Each start has one end on the same native thread, all other calls lie in between,
 * no call comes after a detach has returned, and every unit runs.
 */
#include "stress.h"

#include <poll.h>
#include "streams.h"

enum { DRIVERS = 5, SETTERS = 3, PUSHERS = 2, MOST_DATA = 64 };

/* A driver's data on a stream. The stream alone writes it. */
struct data {
    pthread_t thread;
    struct lib *lib;
    int state; /* 0: unused, 1: between start and end */
};

struct lib {
    ABTX_driver driver;
    struct data data[MOST_DATA];
    atomic_int used[MOST_DATA];
    atomic_int starts, ends;
    atomic_int inside;
    pthread_t last;
    int kind;
};

static struct lib libs[DRIVERS];
static pthread_rwlock_t lib_locks[DRIVERS]; /* who uses the handle */
static atomic_int pushed, ran, wrong, calls;
static atomic_bool stop;

static int start(void *arg, void **data)
{
    struct lib *lib = arg;
    int i = 0;
    if (atomic_fetch_add(&calls, 1) % 16 == 15)
        return ABT_ERR_OTHER;
    while (i < MOST_DATA && atomic_exchange(&lib->used[i], 1))
        i++;
    if (i == MOST_DATA)
        return ABT_ERR_MEM;
    lib->data[i] = (struct data){pthread_self(), lib, 1};
    atomic_fetch_add(&lib->starts, 1);
    *data = &lib->data[i];
    return ABT_SUCCESS;
}

static void look(struct data *data)
{
    if (data->state != 1 || !pthread_equal(data->thread, pthread_self()))
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&calls, 1);
}

static void end(void *arg)
{
    struct data *data = arg;
    look(data);
    data->state = 0;
    atomic_fetch_add(&data->lib->ends, 1);
    atomic_store(&data->lib->used[data - data->lib->data], 0);
}

static ABT_bool poll_now(void *arg, ABT_bool about_to_sleep)
{
    look(arg);
    return atomic_load(&calls) % 5 == 0 ? ABT_TRUE : ABT_FALSE;
}

static void wait_in(void *arg, int fd, int64_t deadline)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};
    look(arg);
    poll(&pollfd, 1, deadline == INT64_MAX ? -1 : 1);
    look(arg);
}

/* Those of a driver with one leader: of different streams they do not overlap. */
static void come_alone(struct data *data, int change)
{
    int others = atomic_fetch_add(&data->lib->inside, change);
    if (others != (change > 0 ? 0 : 1))
        atomic_fetch_add(&wrong, 1);
    data->lib->last = data->thread; /* by plain stores, which TSan looks at */
}

static ABT_bool poll_alone(void *arg, ABT_bool about_to_sleep)
{
    come_alone(arg, 1);
    ABT_bool found = poll_now(arg, about_to_sleep);
    come_alone(arg, -1);
    return found;
}

static void wait_alone(void *arg, int fd, int64_t deadline)
{
    come_alone(arg, 1);
    wait_in(arg, fd, deadline);
    come_alone(arg, -1);
}

static const ABTX_driver_ops kinds[DRIVERS] = {
    {start, end, poll_now, wait_in, ABT_FALSE, ABT_FALSE}, {start, end, poll_now, NULL, ABT_FALSE, ABT_TRUE},
    {start, end, NULL, NULL, ABT_FALSE, ABT_FALSE},        {start, end, poll_alone, wait_alone, ABT_TRUE, ABT_FALSE},
    {start, end, poll_alone, NULL, ABT_TRUE, ABT_FALSE},
};

static const int64_t periods[DRIVERS] = {ABTX_FOREVER, 300000, ABTX_FOREVER, ABTX_FOREVER, 0};

static void make_driver(int i)
{
    must(ABTX_driver_create(&kinds[libs[i].kind], &libs[i], &libs[i].driver));
    must(ABTX_driver_set_period(libs[i].driver, periods[libs[i].kind]));
}

static ABT_xstream make_stream(int i, struct rng *rng)
{
    static const ABT_sched_predef predefs[] = {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT};
    ABT_pool pools[2] = {own_pools[i], shared_pool};
    ABT_xstream stream;
    must(ABT_xstream_create_basic(predefs[below(rng, 4)], 2, pools, ABT_SCHED_CONFIG_NULL, &stream));
    return stream;
}

/* Looks, the lead and other pauses; codes say that the driver is not on here. */
static void ask_for_something(ABTX_driver driver, int number)
{
    ABT_bool found = ABT_FALSE;
    switch (number % 8) {
    case 0: (void)ABTX_driver_look(driver, &found); break;
    case 1: (void)ABTX_driver_lead(driver); break;
    case 2: must(ABTX_driver_set_max_sleep(driver, number % 3 ? 10000 : ABTX_FOREVER)); break;
    default: break;
    }
}

static void unit(void *arg)
{
    struct lib *lib = arg;
    void *data;
    ABT_self_yield();
    pthread_rwlock_rdlock(&lib_locks[lib - libs]);
    if (lib->driver) {
        must(ABTX_driver_get_data(lib->driver, &data));
        if (data)
            look(data);
        ask_for_something(lib->driver, atomic_load(&ran));
    }
    pthread_rwlock_unlock(&lib_locks[lib - libs]);
    atomic_fetch_add(&ran, 1);
}

static void *push(void *arg)
{
    struct rng rng = rng_make((uint64_t)(uintptr_t)arg);
    while (!atomic_load(&stop)) {
        ABT_pool pool = one_in(&rng, 4) ? shared_pool : own_pools[below(&rng, STREAMS)];
        atomic_fetch_add(&pushed, 1);
        must(ABT_thread_create(pool, unit, &libs[below(&rng, DRIVERS)], ABT_THREAD_ATTR_NULL, NULL));
        jitter(&rng);
        if (one_in(&rng, 32) || atomic_load(&pushed) - atomic_load(&ran) > 1000)
            nap_us(300);
    }
    return NULL;
}

/* What is asked of the driver on one stream, whose handle the caller has. */
static void change_one(struct lib *lib, ABT_xstream stream, struct rng *rng)
{
    int code = one_in(rng, 2) ? ABTX_driver_attach(lib->driver, stream) : ABTX_driver_detach(lib->driver, stream);
    if (code != ABT_SUCCESS && code != ABT_ERR_INV_ARG)
        atomic_fetch_add(&wrong, 1);
}

static void change_stream(int i, struct rng *rng)
{
    switch (below(rng, 3)) {
    case 0:
        must(ABT_xstream_free(&streams[i]));
        streams[i] = make_stream(i, rng);
        break;
    case 1:
        must(ABT_xstream_join(streams[i]));
        jitter(rng);
        must(ABT_xstream_revive(streams[i]));
        break;
    default: must(ABTX_xstream_set_spin(streams[i], (int64_t)below(rng, 100000) - 1000)); break;
    }
}

static void *set(void *arg)
{
    struct rng rng = rng_make((uint64_t)(uintptr_t)arg);
    while (!atomic_load(&stop)) {
        int i = (int)below(&rng, STREAMS), d = (int)below(&rng, DRIVERS);
        unsigned what = below(&rng, 8);
        if (what == 0) {
            pthread_rwlock_wrlock(&lib_locks[d]);
            ABTX_driver old = libs[d].driver;
            libs[d].driver = NULL;
            pthread_rwlock_unlock(&lib_locks[d]);
            if (old) { /* its callbacks run while nobody holds the lock */
                must(ABTX_driver_free(&old));
                if (atomic_load(&libs[d].starts) != atomic_load(&libs[d].ends))
                    atomic_fetch_add(&wrong, 1);
                pthread_rwlock_wrlock(&lib_locks[d]);
                make_driver(d);
                pthread_rwlock_unlock(&lib_locks[d]);
            }
            continue;
        }
        pthread_mutex_lock(&stream_locks[i]);
        if (what == 1) {
            change_stream(i, &rng);
        } else if (pthread_rwlock_tryrdlock(&lib_locks[d]) == 0) {
            if (libs[d].driver && what == 2)
                must(ABTX_driver_attach_all(libs[d].driver));
            else if (libs[d].driver)
                change_one(&libs[d], streams[i], &rng);
            pthread_rwlock_unlock(&lib_locks[d]);
        }
        pthread_mutex_unlock(&stream_locks[i]);
        jitter(&rng);
        if (one_in(&rng, 4))
            nap_us(200);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[PUSHERS + SETTERS];
    double seconds = tap_seconds(2);
    stress_begin();
    streams_begin(make_stream);
    for (int i = 0; i < DRIVERS; i++) {
        libs[i].kind = i;
        pthread_rwlock_init(&lib_locks[i], NULL);
        make_driver(i);
    }
    for (int i = 0; i < PUSHERS + SETTERS; i++)
        pthread_create(&threads[i], NULL, i < PUSHERS ? push : set, (void *)(uintptr_t)(i + 1));
    for (double until = now() + seconds; now() < until;)
        ABT_self_yield(), nap_us(1000);
    atomic_store(&stop, true);
    for (int i = 0; i < PUSHERS + SETTERS; i++) {
        while (pthread_tryjoin_np(threads[i], NULL)) /* they may wait for the primary stream to end a driver */
            ABT_self_yield(), nap_us(1000);
    }
    for (int i = 0; i < 60000 && atomic_load(&ran) < atomic_load(&pushed); i++)
        ABT_self_yield(), nap_us(1000);
    is_int(atomic_load(&ran), atomic_load(&pushed), "every unit has run, without any help");
    streams_end();
    for (int i = 0; i < DRIVERS; i++) {
        is_int(atomic_load(&libs[i].ends), atomic_load(&libs[i].starts), "driver %d: each start has one end", i);
        diag("%d starts", atomic_load(&libs[i].starts));
        must(ABTX_driver_free(&libs[i].driver));
    }
    is_int(atomic_load(&wrong), 0, "all calls were between start and end, on their thread");
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Idle streams: drivers, schedulers that park and waits of many, without memory or file descriptors. */
#include "cases.h"

#include <poll.h>

static ABT_xstream xstream; /* idle */

static void begin(void)
{
    xstream = probed_xstream();
}

static void end(void)
{
    probe_end();
    must(ABT_xstream_free(&xstream));
}

/* The stream works, whatever it waits in. */
static void it_works(void)
{
    probe_into(pool_of(xstream));
    probe_again();
}

/* --- Drivers --- */

static ABTX_driver driver;
static atomic_int started, ended, waited, polled;

static int start(void *arg, void **data)
{
    count_up(&started);
    return ABT_SUCCESS;
}

static void end_driver(void *data)
{
    count_up(&ended);
}

static ABT_bool poll_driver(void *data, ABT_bool about_to_sleep)
{
    count_up(&polled);
    return ABT_FALSE;
}

static void wait_in(void *data, int fd, int64_t deadline)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};

    count_up(&waited);
    poll(&pollfd, 1, 1);
}

static const ABTX_driver_ops driver_ops = {.start = start, .end = end_driver, .poll = poll_driver, .wait = wait_in};

static int create_driver(void)
{
    return ABTX_driver_create(&driver_ops, NULL, &driver);
}

/* One that needs no descriptor of the streams, which may be refused on them meanwhile. */
static int create_simple_driver(void)
{
    static const ABTX_driver_ops ops = {.start = start, .end = end_driver};
    return ABTX_driver_create(&ops, NULL, &driver);
}

static void free_driver(void)
{
    must(ABTX_driver_free(&driver));
}

static void begin_driver(void)
{
    begin();
    must(create_driver());
    started = ended = waited = 0;
}

static void begin_simple_driver(void)
{
    begin();
    must(create_simple_driver());
    started = ended = 0;
}

static void end_driver_and_stream(void)
{
    end();
    free_driver();
}

static int attach(void)
{
    return ABTX_driver_attach(driver, xstream);
}

static int attach_all(void)
{
    return ABTX_driver_attach_all(driver);
}

static void none_started(void)
{
    it_works();
    expect(started == ended, "it has been started nowhere, or ended");
    expect(ABTX_driver_detach(driver, xstream) == ABT_ERR_INV_ARG, "it is not attached");
}

/* A stream keeps its file descriptor, so that each time there is a new one. */
static void driver_is_called(void)
{
    wait_for(waited > 0);
    end();
    expect(started > 0, "it was started");
    free_driver();
    begin_driver();
}

static void driver_is_freed(void)
{
    wait_for(started >= 2);
    free_driver();
    expect(started == ended, "each start has its end");
    must(create_simple_driver());
    started = ended = 0;
}

/* The driver is attached to all, and each stream that is made starts it, or is not made. */
static void begin_everywhere(void)
{
    begin_simple_driver();
    must(attach_all());
    must(ABT_xstream_free(&xstream));
}

static int create_with_driver(void)
{
    return ABT_xstream_create(ABT_SCHED_NULL, &xstream);
}

static void free_with_driver(void)
{
    must(ABT_xstream_free(&xstream));
}

static void end_everywhere(void)
{
    free_driver();
    probe_end();
}

/* --- A user-defined scheduler that parks on many pools --- */

enum { MANY = 40 };

static ABT_pool pools[MANY];
static ABT_sched sched;
static atomic_bool asked, answered;
static int answer;

static void park_and_run(ABT_sched self)
{
    ABT_bool stop = ABT_FALSE;

    while (stop == ABT_FALSE) {
        if (atomic_exchange(&asked, false)) {
            answer = ABTX_xstream_park_until(MANY, pools, ABTX_after(100000));
            atomic_store(&answered, true);
        }
        must(ABTX_xstream_park_until(0, NULL, ABTX_after(1000000)));
        must(ABT_xstream_check_events(self));
        must(ABT_sched_has_to_stop(self, &stop));
    }
}

static void begin_parking(void)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .init = sched_is_ready, .run = park_and_run};

    for (int i = 0; i < MANY; i++)
        pools[i] = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    must(ABT_sched_create(&def, 1, pools, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &xstream));
    asked = true;
    wait_for(atomic_exchange(&answered, false));
}

static void end_parking(void)
{
    must(ABT_xstream_free(&xstream));
    must(ABT_sched_free(&sched));
    for (int i = 0; i < MANY; i++)
        must(ABT_pool_free(&pools[i]));
}

static int park(void)
{
    asked = true;
    must(ABTX_xstream_wake(xstream));
    wait_for(atomic_exchange(&answered, false));
    return answer;
}

/* --- Waiting for any of many --- */

static ABT_eventual eventuals[MANY];
static int index_of_ready;

static void begin_eventuals(void)
{
    for (int i = 0; i < MANY; i++)
        must(ABT_eventual_create(0, &eventuals[i]));
}

static void end_eventuals(void)
{
    for (int i = 0; i < MANY; i++)
        must(ABT_eventual_free(&eventuals[i]));
}

static void set_last(void *arg)
{
    must(ABT_eventual_set(arg, NULL, 0));
}

static ABT_thread setter;

static void begin_setter(void)
{
    begin_eventuals();
    begin();
    must(ABT_task_create(pool_of(xstream), set_last, eventuals[MANY - 1], &setter));
    must(ABT_task_join(setter));
    must(ABT_eventual_reset(eventuals[MANY - 1]));
}

static void end_setter(void)
{
    must(ABT_task_free(&setter));
    end();
    end_eventuals();
}

static int wait_any(void)
{
    index_of_ready = -1;
    int code = ABTX_eventual_wait_any_until(MANY, eventuals, &index_of_ready, 0);
    return code == ABT_ERR_COND_TIMEDOUT ? ABT_SUCCESS : code;
}

/* Nobody knows of a wait that has failed or is over. */
static void set_and_reset(void)
{
    expect(index_of_ready == -1, "none was ready");
    must(ABT_task_revive(pool_of(xstream), set_last, eventuals[MANY - 1], &setter));
    must(ABTX_eventual_wait_any_until(MANY, eventuals, &index_of_ready, ABTX_FOREVER));
    expect(index_of_ready == MANY - 1, "the last one has become ready");
    must(ABT_task_join(setter));
    must(ABT_eventual_reset(eventuals[MANY - 1]));
}

static void nothing(void)
{
}

static const struct fault_case cases[] = {
    {"ABTX_driver_create", 0, create_driver, NULL, free_driver, NULL, NULL},
    {"ABTX_driver_attach", FAULT_BRIEF, attach, none_started, driver_is_called, begin_driver, end_driver_and_stream},
    {"ABTX_driver_attach_all", FAULT_BRIEF | FAULT_HELPS, attach_all, none_started, driver_is_freed,
     begin_simple_driver, end_driver_and_stream},
    {"ABT_xstream_create, with a driver", FAULT_BRIEF | FAULT_HELPS, create_with_driver, NULL, free_with_driver,
     begin_everywhere, end_everywhere},
    {"ABTX_xstream_park_until", FAULT_BRIEF, park, NULL, nothing, begin_parking, end_parking},
    {"ABTX_eventual_wait_any_until", FAULT_EXTERNAL, wait_any, set_and_reset, set_and_reset, begin_setter, end_setter},
};

/* --- What is there goes on, changes and goes away without anything --- */

static void test_no_requests(void)
{
    int index = -1, before;

    must(ABT_init(0, NULL));
    begin_driver();
    begin_eventuals();
    must(ABT_eventual_set(eventuals[7], NULL, 0));
    must(attach());
    /* Once before: caches may grow by the way, and need not. */
    it_works();
    must(ABTX_self_sleep(1000000));
    ok(soon(waited > 0), "the stream is in the wait");
    fault_arm(1, FAULT_FROM);
    before = waited;
    ok(soon(waited > before), "the wait is called");
    before = polled;
    must(ABTX_xstream_wake(xstream));
    ok(soon(polled > before), "poll is called");
    it_works();
    ok_abt(ABTX_xstream_wake(xstream));
    ok_abt(ABTX_driver_detach(driver, xstream));
    ok_abt(ABTX_self_sleep(1000000));
    ok_abt(ABTX_eventual_wait_any_until(MANY, eventuals, &index, ABTX_FOREVER));
    is_int(index, 7, "the one that was ready");
    bool asked = fault_disarm();
    ok(!asked, "nothing of that has asked for anything");
    if (asked) {
        char text[512];
        fault_describe(text, sizeof(text));
        diag("asked for: %s", text);
    }
    end_eventuals();
    end_driver_and_stream();
    must(ABT_finalize());
}

/* --- Blocking regions --- */

/* One that finds no memory, or no thread, is a region without a hand-over. */
static void region(void)
{
    must(ABTX_blocking_begin());
    must(ABTX_blocking_end());
}

static void yield_and_region(void *arg)
{
    must(ABT_self_yield()); /* it has a stack now */
    region();
}

static bool regions_work(unsigned n, enum fault_mode mode)
{
    must(ABT_init(0, NULL));
    ABT_thread thread = ult_in(own_pool(), yield_and_region, NULL);
    must(ABT_self_yield());
    fault_arm(n, mode);
    must(ABT_thread_join(thread));
    region();
    bool failed = fault_disarm();
    must(ABT_thread_free(&thread));
    region();
    must(ABT_finalize());
    return failed;
}

static void test_regions(void)
{
    unsigned n[2];

    (void)regions_work(0, FAULT_ONE);
    struct fault_live before = fault_live();
    for (enum fault_mode mode = FAULT_ONE; mode <= FAULT_FROM; mode++) {
        for (n[mode] = 1; regions_work(n[mode], mode); n[mode]++)
            ;
    }
    ok(n[FAULT_ONE] > 3 && n[FAULT_FROM] > 3, "regions work whatever fails of %u requests", n[FAULT_FROM] - 1);
    ok(fault_same(before, fault_live()), "and nothing is lost");
}

int main(void)
{
    fault_begin();
    test_regions();
    fault_run_all(cases);
    test_no_requests();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_WATCHDOG: units that keep their stream, and units that stand ready and are not run. */
#include "children.h"

static ABT_pool pool;
static volatile sig_atomic_t heard; /* the report that is waited for */

static void hear(int sig)
{
    (void)sig;
    heard = 1;
}

static void begin(void)
{
    ABT_xstream self;

    signal(SIGUSR1, hear);
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&self));
    must(ABT_xstream_get_main_pools(self, 1, &pool));
}

static void compute_for(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        ;
}

/* The report takes its time on a busy machine. */
static void compute_until_heard(void)
{
    for (double end = now() + 50; !heard && now() < end;)
        ;
}

void compute(void *arg)
{
    (void)arg;
    compute_until_heard();
}

/* --- Those that keep their stream --- */

static void hog(void)
{
    ABT_thread thread;

    begin();
    must(ABT_thread_create(pool, compute, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_thread_free(&thread));
    must(ABT_finalize());
}

static void hogging_tasklet(void)
{
    ABT_xstream es;
    ABT_task task;

    begin();
    must(ABT_xstream_create(ABT_SCHED_NULL, &es));
    must(ABT_xstream_get_main_pools(es, 1, &pool));
    must(ABT_task_create(pool, compute, NULL, &task));
    must(ABT_task_free(&task));
    must(ABT_xstream_free(&es));
    must(ABT_finalize());
}

static void hogging_primary(void)
{
    begin();
    compute_until_heard();
    must(ABT_finalize());
}

/* --- Those that stand ready --- */

static void in_no_scheds_pool(void)
{
    ABT_thread threads[5];

    begin();
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    for (int i = 0; i < 5; i++)
        must(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    must(ABTX_self_sleep(100 * INT64_C(1000000000)));
}

static void behind_hog(void)
{
    ABT_xstream es;
    ABT_thread threads[2];

    begin();
    must(ABT_xstream_create(ABT_SCHED_NULL, &es));
    must(ABT_thread_create(pool, compute, NULL, ABT_THREAD_ATTR_NULL, &threads[0]));
    must(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, &threads[1]));
    must(ABT_thread_free_many(2, threads));
    must(ABT_xstream_free(&es));
    must(ABT_finalize());
}

/* --- Those of whom nothing is told --- */

static void yields_alone(void)
{
    begin();
    for (double end = now() + 1.5; now() < end;)
        must(ABT_thread_yield());
    must(ABT_finalize());
}

/* About as often as a look comes, and its stream looks at events as often. */
static void yields_slowly(void)
{
    begin();
    for (int i = 0; i < 40; i++) {
        compute_for(0.05);
        must(ABT_thread_yield());
    }
    must(ABT_finalize());
}

void take_turns(void *arg)
{
    (void)arg;
    for (double end = now() + 1.5; now() < end;)
        must(ABT_thread_yield());
}

static void takes_turns(void)
{
    ABT_thread threads[3];

    begin();
    for (int i = 0; i < 3; i++)
        must(ABT_thread_create(pool, take_turns, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    must(ABT_thread_free_many(3, threads));
    must(ABT_finalize());
}

/* One unit after the other runs in place for main, which is there at many looks. */
static void forks_and_joins(void)
{
    begin();
    for (double end = now() + 1.5; now() < end;) {
        ABT_thread thread;
        must(ABT_thread_create(pool, do_nothing, NULL, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
    }
    must(ABT_finalize());
}

static void sleeps(void)
{
    begin();
    must(ABTX_self_sleep(1500000000));
    must(ABT_finalize());
}

static void init_again(void)
{
    for (int i = 0; i < 50; i++) {
        begin();
        must(ABTX_self_sleep(5000000));
        must(ABT_finalize());
    }
}

#define SHORT "ABT_WATCHDOG=300"
#define LONG "ABT_WATCHDOG=1000"

static const struct child children[] = {
    {"a ULT", SHORT, hog, {"watchdog: ULT .* has kept stream 0 for [0-9]+ ms"}, 0},
    {"a tasklet", SHORT, hogging_tasklet, {"watchdog: tasklet .* has kept stream 1 for [0-9]+ ms"}, 0},
    {"the primary ULT", SHORT, hogging_primary, {"watchdog: primary ULT .* has kept stream 0 for [0-9]+ ms"}, 0},
    {"a pool without a scheduler",
     SHORT,
     in_no_scheds_pool,
     {"watchdog: ULT .* has been ready for [0-9]+ ms in pool [0-9]+ and was not run", "and so have 2 others of pool",
      "no scheduler takes units out of pool"},
     -1},
    {"behind one that keeps the stream, while another stream is idle",
     SHORT,
     behind_hog,
     {"watchdog: ULT .* has been ready for", "served by stream 0, which runs ULT",
      "stream 1 has nothing to do, and no scheduler for pool"},
     0},
    {"one that yields alone: nothing is told", LONG, yields_alone, {NULL}, 0},
    {"one that yields now and then: nothing is told", LONG, yields_slowly, {NULL}, 0},
    {"ULTs that take turns: nothing is told", LONG, takes_turns, {NULL}, 0},
    {"one that forks and joins: nothing is told", LONG, forks_and_joins, {NULL}, 0},
    {"one that sleeps: nothing is told", LONG, sleeps, {NULL}, 0},
    {"the library goes and comes", "ABT_WATCHDOG=400", init_again, {NULL}, 0},
};

int main(void)
{
    watchdog_begin(0);
    run_children(children, (int)(sizeof(children) / sizeof(children[0])));
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watchdog leaves a mark in the state of a unit that stands ready. A scheduler that picks took such a unit for one
 * that is not ready, and it was lost.
 */
#include "regress.h"

static ABT_pool pool;
static atomic_int ran;

static ABT_thread pick(ABT_sched sched)
{
    ABT_thread thread;

    (void)sched;
    must(ABT_pool_pop_thread(pool, &thread));
    return thread;
}

static ABT_sched make_sched(void)
{
    ABTX_sched_def def;
    ABT_sched_config config;
    ABT_sched sched;

    must(ABTX_sched_def_create(pick, &def));
    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    must(ABTX_sched_create(def, 1, &pool, config, &sched));
    must(ABT_sched_config_free(&config));
    must(ABTX_sched_def_free(&def));
    return sched;
}

/* It is picked by the scheduler, then by the ULT before it, which ends or yields. */
static void run(void *arg)
{
    (void)arg;
    must(ABT_thread_yield());
    atomic_fetch_add(&ran, 1);
}

int main(void)
{
    enum { UNITS = 3 };
    ABT_xstream es;
    ABT_thread units[UNITS];

    regress_begin();
    setenv("ABT_WATCHDOG", "40", 1); /* it looks each 5 ms */
    must(ABT_init(0, NULL));
    pool = make_pool(ABT_POOL_ACCESS_PRIV);
    must(ABT_xstream_self(&es));
    must(ABT_xstream_set_main_sched(es, make_sched()));
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
    for (double end = now() + 0.2; now() < end;)
        nap_ms(10); /* a signal of the watchdog's may end it */
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_free(&units[i]));
    is_int(atomic_load(&ran), UNITS, "units that the watchdog has seen are run");
    must(ABT_finalize());
    return done_testing();
}

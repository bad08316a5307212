/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test needs and does not test: calls that must succeed, and the time. */
#ifndef TEST_MUST_H
#define TEST_MUST_H

#include <stdatomic.h>
#include <time.h>

#include "abt.h"
#include "tap.h"

#define must(call) must_succeed((call), #call, __FILE__, __LINE__)

static inline void must_succeed(int code, const char *call, const char *file, int line)
{
    if (code != ABT_SUCCESS)
        bail_out("%s:%d: %s gives %d", file, line, call, code);
}

/* What the build has, once the library is initialised. */
static inline bool has_feature(ABT_info_query_kind kind)
{
    ABT_bool answer = ABT_FALSE;

    must(ABT_info_query_config(kind, &answer));
    return answer == ABT_TRUE;
}

/* Streams can be bound to CPUs: then the system refuses this one. A query says only whether some are bound. */
static inline bool can_bind(void)
{
    ABT_xstream self;

    must(ABT_xstream_self(&self));
    return ABT_xstream_set_cpubind(self, -1) == ABT_ERR_SYS;
}

/* For programs that use the tool interface, before ABT_init. */
static inline void want_tool(void)
{
    if (setenv("ABT_TOOL", "1", 1) != 0)
        bail_out("no memory for ABT_TOOL");
}

/* A tool can be registered in this build, after want_tool. */
static inline bool has_tool(void)
{
    return has_feature(ABT_INFO_QUERY_KIND_ENABLED_TOOL);
}

/* Who waits burns its CPU: the active wait policy. */
static inline bool policy_is_active(void)
{
    int policy = 0;

    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_WAIT_POLICY, &policy));
    return policy == 1;
}

/* For programs that cancel and migrate all the time, first of all. In builds without, test/errors sees to that. */
static inline void need_cancel_and_migrate(void)
{
    bool both;

    must(ABT_init(0, NULL));
    both = has_feature(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL) && has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION);
    must(ABT_finalize());
    if (!both)
        skip_all("units cannot be cancelled or migrated");
}

/* For programs that ask something which only a check answers. */
static inline void need_checks(void)
{
    if (ABT_NULL)
        skip_all("arguments and callers are not checked");
}

/* --- What units do, where it is all the same --- */

static inline void do_nothing(void *arg)
{
}

static inline void count_up(void *counter)
{
    atomic_fetch_add((atomic_int *)counter, 1);
}

static inline void unit_yields(void *arg)
{
    must(ABT_self_yield());
}

static inline void unit_suspends(void *arg)
{
    must(ABT_self_suspend());
}

/* --- Callbacks that do no more than they have to: of a scheduler, of a pool of work units, of a driver --- */

static inline int sched_is_ready(ABT_sched sched, ABT_sched_config config)
{
    (void)sched, (void)config;
    return ABT_SUCCESS;
}

static inline int sched_is_left(ABT_sched sched)
{
    return ABT_SUCCESS;
}

static inline ABT_unit unit_as_handle(ABT_pool pool, ABT_thread thread)
{
    return (ABT_unit)thread;
}

static inline void leave_unit(ABT_pool pool, ABT_unit unit)
{
    (void)pool, (void)unit;
}

static inline ABT_bool find_nothing(void *data, ABT_bool about_to_sleep)
{
    (void)data, (void)about_to_sleep;
    return ABT_FALSE;
}

/* --- What has to be known --- */

static inline int own_rank(void)
{
    int rank = -1;
    must(ABT_self_get_xstream_rank(&rank));
    return rank;
}

/* The first pool of the caller's stream. */
static inline ABT_pool main_pool(void)
{
    ABT_xstream es;
    ABT_pool pool;
    must(ABT_self_get_xstream(&es));
    must(ABT_xstream_get_main_pools(es, 1, &pool));
    return pool;
}

static inline ABT_thread ult_in(ABT_pool pool, void (*func)(void *), void *arg)
{
    ABT_thread thread = ABT_THREAD_NULL;
    must(ABT_thread_create(pool, func, arg, ABT_THREAD_ATTR_NULL, &thread));
    return thread;
}

static inline ABT_xstream new_xstream(void)
{
    ABT_xstream xstream = ABT_XSTREAM_NULL;
    must(ABT_xstream_create(ABT_SCHED_NULL, &xstream));
    return xstream;
}

/* A user-defined scheduler that is freed with its stream. */
static inline ABT_sched automatic_sched(ABT_sched_def *def, int num, ABT_pool *pools)
{
    ABT_sched_config config;
    ABT_sched sched = ABT_SCHED_NULL;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    must(ABT_sched_create(def, num, pools, config, &sched));
    must(ABT_sched_config_free(&config));
    return sched;
}

/* A stream with that main scheduler, which has one pool, from its begin to its end. */
static inline void run_main_sched(void (*run)(ABT_sched))
{
    ABT_sched_def def = {.run = run};
    ABT_sched sched;
    ABT_xstream xstream;

    must(ABT_sched_create(&def, 1, (ABT_pool[]){ABT_POOL_NULL}, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &xstream));
    must(ABT_xstream_free(&xstream));
    must(ABT_sched_free(&sched));
}

/* A ULT on a stream whose only pool is private. */
static inline void run_in_private(void (*func)(void *), void *arg)
{
    ABT_xstream xstream;
    ABT_pool pool;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    ABT_thread thread = ult_in(pool, func, arg);
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstream));
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&xstream));
}

static inline ABT_unit unit_of(ABT_thread thread)
{
    ABT_unit unit = ABT_UNIT_NULL;
    must(ABT_thread_get_unit(thread, &unit));
    return unit;
}

static inline ABT_thread_state state_of(ABT_thread thread)
{
    ABT_thread_state state = (ABT_thread_state)-1;
    must(ABT_thread_get_state(thread, &state));
    return state;
}

static inline bool is_blocked(ABT_thread thread)
{
    return state_of(thread) == ABT_THREAD_STATE_BLOCKED;
}

static inline double clock_seconds(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Seconds, from some start. */
static inline double now(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

/* Only native threads of no ES may use it without holding up work. */
static inline void nap_ms(double ms)
{
    struct timespec ts = {.tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)(ms * 1e6) % 1000000000L};

    nanosleep(&ts, NULL);
}

/* Seconds of all CPUs that the process has used. */
static inline double cpu_seconds(void)
{
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/*
 * How much of a CPU is used, by a clock of CPU time, while the caller naps for `ms`. Where that is more than `enough`,
 * it is looked at again, some times, and the least is told: who sleeps has a quiet span even on a slow and busy
 * machine, who polls has none.
 */
static inline double cpu_share(clockid_t clock, double ms, double enough)
{
    double least = 1e9;

    for (int i = 0; i < 10 && least >= enough; i++) {
        double begin = now(), cpu = clock_seconds(clock);
        nap_ms(ms);
        double share = (clock_seconds(clock) - cpu) / (now() - begin);
        least = share < least ? share : least;
    }
    return least;
}

#endif

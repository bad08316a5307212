/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs switch to one another by name, for as long as others have not run: a ULT that is ready in their pool, and one
 * that sleeps. These switches count as others do, so that events are looked at and those in the pool get a turn.
 */
#include "regress.h"

enum { ENOUGH = 3000000 }; /* switches after which the others are taken to starve */

static ABT_pool pool;
static ABT_thread pair[2];
static atomic_int others; /* that have yet to run */
static atomic_long switches;

static bool goes_on(void)
{
    return atomic_load(&others) > 0 && atomic_fetch_add(&switches, 1) < ENOUGH;
}

static ABT_thread partner(const void *arg)
{
    return pair[arg == &pair[0]];
}

static void yields_to(void *arg)
{
    while (goes_on())
        must(ABT_thread_yield_to(partner(arg)));
}

static bool is_blocked(ABT_thread thread)
{
    ABT_thread_state state;

    must(ABT_thread_get_state(thread, &state));
    return state == ABT_THREAD_STATE_BLOCKED;
}

/* The second one suspends itself before the first one begins. */
static void begin(const void *arg)
{
    if (arg == &pair[1])
        must(ABT_self_suspend());
    else
        while (!is_blocked(pair[1]))
            must(ABT_self_yield());
}

static void release_partner(const void *arg)
{
    if (is_blocked(partner(arg)))
        must(ABT_thread_resume(partner(arg)));
}

static void resumes_and_suspends(void *arg)
{
    begin(arg);
    while (goes_on())
        must(ABT_self_resume_suspend_to(partner(arg)));
    release_partner(arg);
}

static void take_out(ABT_thread thread)
{
    ABT_unit unit;

    must(ABT_thread_get_unit(thread, &unit));
    must(ABT_pool_remove(pool, unit));
}

static void suspends_to(void *arg)
{
    begin(arg);
    while (goes_on()) {
        must(ABT_thread_resume(partner(arg)));
        take_out(partner(arg));
        must(ABT_self_suspend_to(partner(arg)));
    }
    release_partner(arg);
}

/* Each ends for the next one, until the others have run. */
static void exits_to(void *arg)
{
    ABT_thread next;

    if (!goes_on())
        return;
    must(ABT_thread_create(pool, exits_to, arg, ABT_THREAD_ATTR_NULL, &next));
    take_out(next);
    ABT_thread *all = arg;
    long i = atomic_load(&switches);
    if (i < 100000)
        all[i] = next;
    must(ABT_self_exit_to(next));
}

static void other(void *arg)
{
    (void)arg;
    atomic_fetch_sub(&others, 1);
}

static void sleeper(void *arg)
{
    (void)arg;
    must(ABTX_self_sleep(2000000));
    atomic_fetch_sub(&others, 1);
}

static void judge(const char *name, const char *how)
{
    ok(atomic_load(&others) == 0, "%s, %s: others have run after %ld switches", name, how, atomic_load(&switches));
}

static void play_pair(const char *name, const char *how, void (*func)(void *))
{
    ABT_thread rest[2];

    atomic_store(&others, 2);
    atomic_store(&switches, 0);
    must(ABT_thread_create(pool, sleeper, NULL, ABT_THREAD_ATTR_NULL, &rest[0]));
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(pool, func, &pair[i], ABT_THREAD_ATTR_NULL, &pair[i]));
    must(ABT_thread_create(pool, other, NULL, ABT_THREAD_ATTR_NULL, &rest[1]));
    must(ABT_thread_join_many(2, pair));
    judge(name, how);
    must(ABT_thread_free_many(2, rest));
    must(ABT_thread_free_many(2, pair));
}

static void play_exits(const char *name)
{
    ABT_thread first, rest[2], *all = calloc(100001, sizeof(*all));

    atomic_store(&others, 2);
    atomic_store(&switches, 0);
    must(ABT_thread_create(pool, sleeper, NULL, ABT_THREAD_ATTR_NULL, &rest[0]));
    must(ABT_thread_create(pool, exits_to, all, ABT_THREAD_ATTR_NULL, &first));
    must(ABT_thread_create(pool, other, NULL, ABT_THREAD_ATTR_NULL, &rest[1]));
    must(ABT_thread_free_many(2, rest));
    must(ABT_thread_free(&first));
    judge(name, "self_exit_to");
    for (int i = 0; i < 100000; i++) {
        if (all[i])
            must(ABT_thread_free(&all[i]));
    }
    free(all);
}

static void play_pool(const char *name)
{
    play_pair(name, "thread_yield_to", yields_to);
    play_pair(name, "self_resume_suspend_to", resumes_and_suspends);
    play_pair(name, "self_suspend_to", suspends_to);
    play_exits(name);
}

static void run(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    ABT_thread thread;

    while (stop == ABT_FALSE) {
        must(ABT_pool_pop_thread(pool, &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static void set_user_sched(ABT_xstream self)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = run};
    ABT_sched_config config;
    ABT_sched sched;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    must(ABT_sched_create(&def, 1, &pool, config, &sched));
    must(ABT_sched_config_free(&config));
    must(ABT_xstream_set_main_sched(self, sched));
}

int main(void)
{
    ABT_xstream self;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_self_get_xstream(&self));
    pool = make_pool(ABT_POOL_ACCESS_PRIV);
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_BASIC, 1, &pool));
    play_pool("a private pool");
    pool = make_pool(ABT_POOL_ACCESS_MPMC);
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_PRIO, 1, &pool));
    play_pool("a shared pool");
    must(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_RANDWS, 1, &pool));
    play_pool("a RANDWS pool");
    pool = make_pool(ABT_POOL_ACCESS_PRIV);
    set_user_sched(self);
    play_pool("a user's scheduler");
    must(ABT_finalize());
    return done_testing();
}

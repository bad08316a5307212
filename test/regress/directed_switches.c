/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Directed switches go straight: the target runs next on the stream, always, whatever else is ready in its pools. Two
 * ULTs switch to one another by name, or one makes others and is gone to by them, thousands of times, beside ULTs that
 * are ready in each pool of the scheduler: none of these runs in between. But what needs no other unit is served all
 * the same: a deadline passes, a driver is called, the stream halts for a dump. The ULTs are in one pool, or in two of
 * one scheduler, or in pools that no scheduler uses. The scheduler may be a user-defined one, with user-defined pools,
 * a stacked one, or that of a thread that has entered, and a tool may watch.
 */
#include "handle_pool.h"
#include "regress.h"

enum { SWITCHES = 2500 }; /* at least, in each play: each function comes in some twenty */

static ABT_pool pools[2];             /* of the scheduler */
static struct handle_pool handles[2]; /* of them, where they are user-defined */
static int num_pools;
static ABT_pool homes[2]; /* of the pair */
static ABT_thread pair[2], sleeping;
static bool playing; /* the switches have begun, and are not over */
static bool naps;    /* the sleeper slept when they began */
static long switches, strays, intruders;
static ABTX_driver driver;
static atomic_int polls, dumps;
static FILE *nowhere;
static ABT_eventual never; /* it is not set */
static ABT_eventual over;  /* set when a chain has ended */

/* --- Who runs next --- */

static ABT_thread expected; /* the null handle: a new one, which nobody knows yet */

static void expect(ABT_thread thread)
{
    expected = thread;
    switches++;
}

/* Is called by a ULT that has been gone to. */
static void arrive(void)
{
    ABT_thread self;

    must(ABT_self_get_thread(&self));
    if (playing && expected != ABT_THREAD_NULL && expected != self)
        strays++;
}

static ABT_bool poll(void *data, ABT_bool about_to_sleep)
{
    (void)data, (void)about_to_sleep;
    atomic_fetch_add(&polls, 1);
    return ABT_FALSE;
}

static void dumped(ABT_bool timed_out, void *arg)
{
    if (timed_out == ABT_FALSE)
        atomic_fetch_add(&dumps, 1);
}

static void begin_switches(void)
{
    must(ABT_self_get_thread(&expected));
    playing = true;
    switches = strays = intruders = 0;
    naps = state_of(sleeping) == ABT_THREAD_STATE_BLOCKED;
    atomic_store(&polls, 0);
    atomic_store(&dumps, 0);
    must(ABT_info_trigger_print_all_thread_stacks(nowhere, -1.0, dumped, NULL));
}

static bool is_served(void)
{
    return atomic_load(&polls) > 0 && atomic_load(&dumps) > 0 &&
           !(naps && state_of(sleeping) == ABT_THREAD_STATE_BLOCKED);
}

static bool goes_on(void)
{
    if (playing && switches >= SWITCHES && is_served())
        playing = false;
    return playing;
}

static void other(void *arg)
{
    if (playing)
        intruders++;
}

static void sleeper(void *arg)
{
    int index;

    if (ABTX_eventual_wait_any_until(1, &never, &index, (int64_t)((now() + 5e-3) * 1e9)) != ABT_ERR_COND_TIMEDOUT)
        bail_out("a sleeper was woken");
    other(NULL);
}

/* --- Pairs --- */

static void take_out(ABT_thread thread)
{
    ABT_unit unit;
    ABT_pool pool;

    must(ABT_thread_get_unit(thread, &unit));
    must(ABT_thread_get_last_pool(thread, &pool));
    must(ABT_pool_remove(pool, unit));
}

static void by_thread_yield_to(ABT_thread partner)
{
    must(ABT_thread_yield_to(partner));
}

/* To one that is not ready there is no switch, and from a user-defined pool none. */
static void by_thread_yield_to_twice(ABT_thread partner)
{
    if (state_of(sleeping) == ABT_THREAD_STATE_BLOCKED) {
        int code = ABT_thread_yield_to(sleeping);
        if (code != ABT_ERR_POOL)
            must(code);
    }
    must(ABT_thread_yield_to(partner));
}

static void by_yield_to(ABT_thread partner)
{
    take_out(partner);
    must(ABT_self_yield_to(partner));
}

static void by_suspend_to(ABT_thread partner)
{
    if (state_of(partner) == ABT_THREAD_STATE_BLOCKED)
        must(ABT_thread_resume(partner));
    take_out(partner);
    must(ABT_self_suspend_to(partner));
}

static void by_resume_yield_to(ABT_thread partner)
{
    if (state_of(partner) == ABT_THREAD_STATE_BLOCKED)
        must(ABT_self_resume_yield_to(partner));
    else
        by_suspend_to(partner);
}

static void by_resume_suspend_to(ABT_thread partner)
{
    must(ABT_self_resume_suspend_to(partner));
}

static const struct way_to_switch {
    const char *name;
    void (*go)(ABT_thread partner);
    bool resumes; /* the second of the pair suspends itself first */
} ways[] = {
    {"self_resume_suspend_to", by_resume_suspend_to, true},
    {"self_resume_yield_to and suspend_to", by_resume_yield_to, true},
    {"self_suspend_to", by_suspend_to, true},
    {"self_yield_to", by_yield_to, false},
    {"thread_yield_to", by_thread_yield_to, false},
    {"thread_yield_to, also of one that sleeps", by_thread_yield_to_twice, false},
};
static const struct way_to_switch *way;

/* The first that sees the end goes on in the other, which perhaps nobody else would run. */
static void leave_to(ABT_thread partner)
{
    ABT_thread_state state = state_of(partner);

    if (state == ABT_THREAD_STATE_BLOCKED)
        must(ABT_self_resume_exit_to(partner));
    if (state == ABT_THREAD_STATE_READY) {
        take_out(partner);
        must(ABT_self_exit_to(partner));
    }
}

static void one_of_pair(void *arg)
{
    ABT_thread partner = pair[arg == &pair[0]];

    if (arg == &pair[0])
        begin_switches();
    else if (way->resumes)
        must(ABT_self_suspend());
    for (arrive(); goes_on(); arrive()) {
        expect(partner);
        way->go(partner);
    }
    leave_to(partner);
}

/* --- Chains --- */

/* Where the next one of a chain goes: they are in both pools by turns. */
static ABT_pool next_pool(void)
{
    return homes[switches % 2];
}

static void end_chain(ABT_thread *last)
{
    must(ABT_self_get_thread(last));
    must(ABT_eventual_set(over, NULL, 0));
}

/* Each ends for the next one, and frees the one that has ended for it. */
static void exits_to(void *arg)
{
    ABT_thread *last = arg, next;

    arrive();
    if (*last != ABT_THREAD_NULL)
        must(ABT_thread_free(last));
    else
        begin_switches();
    if (!goes_on()) {
        end_chain(last);
        return;
    }
    must(ABT_self_get_thread(last));
    must(ABT_thread_create(next_pool(), exits_to, arg, ABT_THREAD_ATTR_NULL, &next));
    take_out(next);
    expect(next);
    must(ABT_self_exit_to(next));
}

/* The same, for one that has started and suspended itself to go back to its maker. */
static void resumes_and_exits(void *arg)
{
    ABT_thread *last = arg, maker = *last, next;

    arrive();
    if (maker != ABT_THREAD_NULL) {
        take_out(maker);
        expect(maker);
        must(ABT_self_suspend_to(maker));
        arrive();
        must(ABT_thread_free(&maker));
    } else {
        begin_switches();
    }
    if (!goes_on()) {
        end_chain(last);
        return;
    }
    must(ABT_self_get_thread(last));
    expect(ABT_THREAD_NULL);
    must(ABT_thread_create_to(next_pool(), resumes_and_exits, arg, ABT_THREAD_ATTR_NULL, &next));
    arrive();
    expect(next);
    must(ABT_self_resume_exit_to(next));
}

static void goes_back(void *arg)
{
    ABT_thread maker = *(ABT_thread *)arg;

    arrive();
    take_out(maker);
    expect(maker);
    must(ABT_self_exit_to(maker));
}

/* One makes another one, and revives it. It ends for its maker each time. */
static void creates_to(void *arg)
{
    ABT_thread *self = arg, next;

    must(ABT_self_get_thread(self));
    for (begin_switches(); goes_on();) {
        expect(ABT_THREAD_NULL);
        must(ABT_thread_create_to(next_pool(), goes_back, self, ABT_THREAD_ATTR_NULL, &next));
        arrive();
        expect(next);
        must(ABT_thread_revive_to(next_pool(), goes_back, self, &next));
        arrive();
        must(ABT_thread_free(&next));
    }
    end_chain(self);
}

/* --- Plays --- */

static ABT_thread rest[4];
static int num_rest;

static void add_to_rest(ABT_pool pool, void (*func)(void *))
{
    must(ABT_thread_create(pool, func, NULL, ABT_THREAD_ATTR_NULL, &rest[num_rest++]));
}

static void add_sleeper(void)
{
    num_rest = 0;
    add_to_rest(pools[0], sleeper);
    sleeping = rest[0];
    while (state_of(sleeping) == ABT_THREAD_STATE_READY)
        must(ABT_self_yield());
}

static void add_others(void)
{
    for (int i = 0; i < num_pools; i++)
        add_to_rest(pools[i], other);
}

static void judge(const char *name, const char *how)
{
    ok(strays == 0 && intruders == 0, "%s, %s: each target ran next, of %ld switches", name, how, switches);
    ok(is_served(), "%s, %s: timers, drivers and requests are served", name, how);
    must(ABT_thread_free_many(num_rest, rest));
}

static void play_pair(const char *name)
{
    add_sleeper();
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(homes[i], one_of_pair, &pair[i], ABT_THREAD_ATTR_NULL, &pair[i]));
    if (way->resumes)
        must(ABT_thread_yield_to(pair[1]));
    add_others();
    must(ABT_thread_yield_to(pair[0]));
    must(ABT_thread_free_many(2, pair));
    judge(name, way->name);
}

static void play_chain(const char *name, const char *how, void (*func)(void *))
{
    ABT_thread first, last = ABT_THREAD_NULL;

    add_sleeper();
    add_others();
    must(ABT_eventual_reset(over));
    must(ABT_thread_create(homes[0], func, &last, ABT_THREAD_ATTR_NULL, &first));
    must(ABT_thread_yield_to(first));
    must(ABT_eventual_wait(over, NULL));
    must(ABT_thread_free(&last));
    judge(name, how);
}

static void play(const char *name)
{
    for (way = ways; way < ways + sizeof(ways) / sizeof(ways[0]); way++)
        play_pair(name);
    play_chain(name, "self_exit_to", exits_to);
    play_chain(name, "self_resume_exit_to", resumes_and_exits);
    play_chain(name, "thread_create_to and revive_to", creates_to);
}

/* --- Schedulers --- */

static void run(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    ABT_thread thread;

    while (stop == ABT_FALSE) {
        for (int i = 0; i < num_pools; i++) {
            must(ABT_pool_pop_thread(pools[i], &thread));
            if (thread != ABT_THREAD_NULL)
                must(ABT_self_schedule(thread, ABT_POOL_NULL));
        }
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

/* The pool is given with each unit, which makes the unit a member of it. */
static void run_units(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    ABT_unit unit;

    while (stop == ABT_FALSE) {
        for (int i = 0; i < num_pools; i++) {
            must(ABT_pool_pop(pools[i], &unit));
            if (unit != ABT_UNIT_NULL)
                must(ABT_xstream_run_unit(unit, pools[i]));
        }
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

enum way { PREDEFINED, BY_LOOP, BY_UNITS };

static ABT_sched loop_over(int num, ABT_pool *of, void (*function)(ABT_sched))
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = function};

    return automatic_sched(&def, num, of);
}

static const struct kind {
    const char *name;
    ABT_pool_kind pool_kind;
    ABT_pool_access access;
    ABT_sched_predef sched;
    enum way way;
    bool user_pools;
} kinds[] = {
    {"private pools", ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_SCHED_BASIC, .way = PREDEFINED},
    {"shared pools", ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_SCHED_PRIO, .way = PREDEFINED},
    {"BASIC_WAIT", ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC, ABT_SCHED_BASIC_WAIT, .way = PREDEFINED},
    {"RANDWS pools", ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_SCHED_RANDWS, .way = PREDEFINED},
    {"a user's scheduler", ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_SCHED_DEFAULT, .way = BY_LOOP},
    {"one that runs units", ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_SCHED_DEFAULT, .way = BY_UNITS},
};

/* These are for other ULTs than the pair: none is taken out of such a pool. */
static const struct kind user_kinds[] = {
    {"user-defined pools", .sched = ABT_SCHED_BASIC, .user_pools = true},
    {"a user's scheduler and pools", .way = BY_LOOP, .user_pools = true},
    {"one that runs units of user-defined pools", .way = BY_UNITS, .user_pools = true},
};

static void set_sched(ABT_xstream self, const struct kind *kind)
{
    if (kind->way == PREDEFINED)
        must(ABT_xstream_set_main_sched_basic(self, kind->sched, num_pools, pools));
    else
        must(ABT_xstream_set_main_sched(self, loop_over(num_pools, pools, kind->way == BY_LOOP ? run : run_units)));
}

static void make_pools(const struct kind *kind, int num)
{
    for (int i = 0; i < num; i++) {
        if (kind->user_pools) {
            handle_pool_begin(&handles[i], false, false);
            atomic_store(&handles[i].takes_schedulers, true);
            pools[i] = handles[i].pool;
        } else {
            must(ABT_pool_create_basic(kind->pool_kind, kind->access, ABT_TRUE, &pools[i]));
        }
    }
    num_pools = num;
    if (num == 1)
        pools[1] = pools[0];
    homes[0] = pools[0];
    homes[1] = pools[1];
}

static void end_pools(ABT_xstream self, const struct kind *kind)
{
    if (!kind->user_pools)
        return;
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_BASIC, 0, NULL));
    for (int i = 0; i < num_pools; i++) {
        is_int(handles_alive(&handles[i]), 0, "%s: no unit is left", kind->name);
        handle_pool_end(&handles[i]);
    }
}

static void play_kind(ABT_xstream self, const struct kind *kind, int num)
{
    char name[64];

    snprintf(name, sizeof(name), "%s, %d", kind->name, num);
    make_pools(kind, num);
    set_sched(self, kind);
    play(name);
}

/* The pair, or one of it, is in a pool that no scheduler uses. */
static void play_apart(ABT_xstream self, const struct kind *kind)
{
    char name[96];
    ABT_pool apart;

    make_pools(kind, 1);
    set_sched(self, kind);
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &apart));
    homes[0] = apart;
    if (!kind->user_pools) {
        snprintf(name, sizeof(name), "%s, and one apart", kind->name);
        homes[1] = pools[0];
        way = &ways[1];
        play_pair(name);
    }
    snprintf(name, sizeof(name), "%s, and both apart", kind->name);
    homes[1] = apart;
    play(name);
    end_pools(self, kind);
    must(ABT_pool_free(&apart));
}

static void play_all(void *arg)
{
    play(arg);
}

/* The scheduler is stacked in the stream's pool, and its first unit plays. */
static void play_stacked(ABT_xstream self)
{
    ABT_pool main_pool;
    ABT_sched sched;

    must(ABT_xstream_get_main_pools(self, 1, &main_pool));
    make_pools(&kinds[1], 2);
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
    ABT_thread player = ult_in(pools[0], play_all, (void *)"a stacked scheduler");
    must(ABT_pool_add_sched(main_pool, sched));
    must(ABT_thread_free(&player));
}

static void *enter(void *arg)
{
    ABT_xstream self;

    must(ABTX_xstream_enter(ABT_SCHED_NULL, &self));
    must(ABTX_driver_attach(driver, self));
    must(ABT_xstream_get_main_pools(self, 1, &pools[0]));
    pools[1] = homes[0] = homes[1] = pools[0];
    num_pools = 1;
    play("a thread that has entered");
    must(ABTX_xstream_leave(&self));
    return NULL;
}

/* The primary stream halts for dumps meanwhile. */
static void play_entered(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, enter, NULL) != 0)
        bail_out("no native thread");
    while (pthread_tryjoin_np(thread, NULL) != 0)
        must(ABT_self_yield());
}

static void watch(ABT_thread thread, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *arg)
{
}

static void play_observed(ABT_xstream self)
{
    if (!has_tool())
        return;
    must(ABT_tool_register_thread_callback(watch, ABT_TOOL_EVENT_THREAD_ALL, NULL));
    play_kind(self, &kinds[0], 2);
    must(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL));
}

/* --- Targets of which something is asked --- */

static bool ran;

static void tell_pool(void *arg)
{
    arrive();
    must(ABT_self_get_last_pool(arg));
    ran = true;
}

static ABT_thread ready_out_of_pool(void *arg)
{
    ABT_thread thread = ult_in(pools[0], tell_pool, arg);
    take_out(thread);
    ran = false;
    return thread;
}

/* One that is to migrate runs here next, as a unit of its new pool. One that is cancelled ends in place of that. */
static void play_asked(ABT_xstream self, const struct kind *kind)
{
    ABT_pool pool = ABT_POOL_NULL;

    make_pools(kind, 2);
    set_sched(self, kind);
    ABT_thread thread = ready_out_of_pool(&pool), bystander;
    must(ABT_thread_create(pools[0], other, NULL, ABT_THREAD_ATTR_NULL, &bystander));
    must(ABT_thread_migrate_to_pool(thread, pools[1]));
    playing = true;
    intruders = strays = 0;
    expect(thread);
    must(ABT_self_yield_to(thread));
    playing = false;
    ok(ran && strays == 0 && pool == pools[1], "%s: a target that is to migrate runs, and has migrated", kind->name);
    must(ABT_thread_free(&thread));
    must(ABT_thread_free(&bystander));
    thread = ready_out_of_pool(&pool);
    must(ABT_thread_cancel(thread));
    must(ABT_self_yield_to(thread));
    must(ABT_thread_free(&thread));
    ok(!ran, "%s: a target that is cancelled ends", kind->name);
}

int main(void)
{
    const ABTX_driver_ops ops = {.poll = poll};
    ABT_xstream self;

    regress_begin();
    want_tool();
    must(ABT_init(0, NULL));
    must(ABT_self_get_xstream(&self));
    must(ABT_eventual_create(0, &over));
    must(ABT_eventual_create(0, &never));
    must(ABTX_driver_create(&ops, NULL, &driver));
    must(ABTX_driver_attach(driver, self));
    nowhere = fopen("/dev/null", "w");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        play_kind(self, &kinds[i], 1);
        play_kind(self, &kinds[i], 2);
        play_apart(self, &kinds[i]);
        play_asked(self, &kinds[i]);
    }
    for (size_t i = 0; i < sizeof(user_kinds) / sizeof(user_kinds[0]); i++)
        play_apart(self, &user_kinds[i]);
    play_observed(self);
    play_stacked(self);
    play_entered();
    must(ABT_eventual_free(&over));
    must(ABT_eventual_free(&never));
    must(ABTX_driver_free(&driver));
    must(ABT_finalize());
    fclose(nowhere);
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs switch to one another by name, for as long as others have not run: a ULT that is ready in each of their pools,
 * and one that sleeps. These switches count as others do, so that events are looked at and those in the pools get a
 * turn. The two ULTs are in one pool, or in two of one scheduler, or one or both are in pools that no scheduler uses,
 * or one that does not run. The scheduler may be a user-defined one, with user-defined pools, too. Only switches count
 * while some other could run: what a switch takes, and how late a sleeper falls asleep, depends on the machine.
 */
#include "handle_pool.h"
#include "regress.h"

/* Switches after which the others are taken to starve. In a good run some 500 are made while one of them could run. */
enum { ENOUGH = 100000 };

static ABT_pool pools[2];             /* of the scheduler */
static struct handle_pool handles[2]; /* of them, where they are user-defined */
static int num_pools;
static ABT_pool homes[2]; /* of the pair */
static ABT_thread pair[2], sleeping;
static atomic_int others; /* that have yet to run */
static atomic_int ready;  /* of these, those that do not sleep */
static double due;        /* when the last of the sleepers is to wake */
static atomic_long switches;
static long starved; /* switches in a row while some other could run */
static bool gave_up;
static ABT_eventual over;  /* set when a chain has ended */
static ABT_eventual never; /* not set while anybody waits for it with a deadline of interest */

static bool goes_on(void)
{
    starved = atomic_load(&ready) > 0 || now() >= due ? starved + 1 : 0;
    gave_up = gave_up || (atomic_load(&others) > 0 && starved > ENOUGH);
    if (atomic_load(&others) == 0 || gave_up)
        return false;
    atomic_fetch_add(&switches, 1);
    return true;
}

static ABT_thread partner(const void *arg)
{
    return pair[arg == &pair[0]];
}

/* Where the next one of a chain goes: they are in both pools by turns. */
static ABT_pool next_pool(void)
{
    return pools[atomic_load(&switches) % 2];
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

/* For a target that is not ready, too. */
static void yields_to_all(void *arg)
{
    while (goes_on()) {
        must(ABT_thread_yield_to(partner(arg)));
        must(ABT_thread_yield_to(sleeping));
    }
}

static void take_out(ABT_thread thread)
{
    ABT_unit unit;
    ABT_pool pool;

    must(ABT_thread_get_unit(thread, &unit));
    must(ABT_thread_get_last_pool(thread, &pool));
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

/* Each ends for the next one, until the others have run, and frees the one that has ended for it. */
static void exits_to(void *arg)
{
    ABT_thread *last = arg, next;

    if (*last != ABT_THREAD_NULL)
        must(ABT_thread_free(last));
    must(ABT_self_get_thread(last));
    if (!goes_on()) {
        must(ABT_eventual_set(over, NULL, 0));
        return;
    }
    must(ABT_thread_create(next_pool(), exits_to, arg, ABT_THREAD_ATTR_NULL, &next));
    take_out(next);
    must(ABT_self_exit_to(next));
}

/* Each makes the next one, until the others have run. */
static void creates_to(void *arg)
{
    ABT_thread next;

    if (goes_on()) {
        must(ABT_thread_create_to(next_pool(), creates_to, arg, ABT_THREAD_ATTR_NULL, &next));
        must(ABT_thread_free(&next));
    } else {
        must(ABT_eventual_set(over, NULL, 0));
    }
}

/* As a deadline is given. */
static int64_t in_ns(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

static void count_run(void)
{
    atomic_fetch_sub(&others, 1);
    starved = 0;
}

static ABT_pool target = ABT_POOL_NULL;

static void other(void *arg)
{
    (void)arg;
    if (target != ABT_POOL_NULL)
        (void)ABT_thread_migrate_to_pool(pair[0], target); /* it may be there already */
    atomic_fetch_sub(&ready, 1);
    count_run();
}

/* It wakes at a point in time: if the system takes the processor away before it sleeps, it wakes no later for that. */
static void sleeper(void *arg)
{
    int index;

    (void)arg;
    due = now() + 2e-3;
    atomic_fetch_sub(&ready, 1);
    if (ABTX_eventual_wait_any_until(1, &never, &index, in_ns(due)) != ABT_ERR_COND_TIMEDOUT)
        bail_out("a sleeper was woken");
    count_run();
}

static void judge(const char *name, const char *how)
{
    ok(!gave_up, "%s, %s: others have run, %ld switches", name, how, atomic_load(&switches));
}

/* Others, in each pool that the scheduler uses: some at the head, and some at the tail, behind what is made between. */
static ABT_thread rest[6];
static int num_rest;

static void add_others(void (*func)(void *))
{
    for (int i = 0; i < num_pools; i++)
        must(ABT_thread_create(pools[i], func, NULL, ABT_THREAD_ATTR_NULL, &rest[num_rest++]));
}

static void begin_play(void)
{
    num_rest = 0;
    starved = 0;
    gave_up = false;
    must(ABT_eventual_reset(over));
    atomic_store(&others, 3 * num_pools);
    atomic_store(&ready, 3 * num_pools);
    atomic_store(&switches, 0);
    add_others(sleeper);
    sleeping = rest[0];
    add_others(other);
}

static void play_pair(const char *name, const char *how, void (*func)(void *))
{
    begin_play();
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(homes[i], func, &pair[i], ABT_THREAD_ATTR_NULL, &pair[i]));
    add_others(other);
    /* In two pools the scheduler would perhaps always choose the first one, and in pools apart it chooses none. */
    must(ABT_thread_yield_to(pair[1]));
    int code = ABT_thread_yield_to(pair[0]);
    if (code != ABT_ERR_POOL) /* it may wait in a user-defined pool, out of which none is taken */
        must(code);
    must(ABT_thread_join_many(2, pair));
    judge(name, how);
    must(ABT_thread_free_many(num_rest, rest));
    must(ABT_thread_free_many(2, pair));
}

static void play_chain(const char *name, const char *how, void (*func)(void *))
{
    ABT_thread first, last = ABT_THREAD_NULL;

    begin_play();
    must(ABT_thread_create(pools[0], func, &last, ABT_THREAD_ATTR_NULL, &first));
    add_others(other);
    must(ABT_thread_free_many(num_rest, rest));
    must(ABT_eventual_wait(over, NULL));
    must(ABT_thread_free(last == ABT_THREAD_NULL ? &first : &last));
    judge(name, how);
}

static void play(const char *name, bool randws)
{
    play_pair(name, "thread_yield_to", yields_to);
    play_pair(name, "thread_yield_to, also of one that sleeps", yields_to_all);
    play_pair(name, "self_resume_suspend_to", resumes_and_suspends);
    play_pair(name, "self_suspend_to", suspends_to);
    play_chain(name, "self_exit_to", exits_to);
    /* It leaves units behind in the first pool, and by RANDWS's choice the others are looked at when that is empty. */
    if (!randws || num_pools == 1)
        play_chain(name, "thread_create_to", creates_to);
}

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

/* From the pools by turns. */
static ABT_thread pick(ABT_sched sched)
{
    static int turn;
    ABT_thread thread = ABT_THREAD_NULL;

    (void)sched;
    for (int i = 0; i < num_pools && thread == ABT_THREAD_NULL; i++)
        thread = ABTX_pool_pop_thread(pools[turn++ % num_pools]);
    return thread;
}

enum way { PREDEFINED, BY_LOOP, BY_UNITS, PICKS };

static ABT_sched loop_over(int num, ABT_pool *of, void (*function)(ABT_sched))
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .run = function};
    ABT_sched_config config;
    ABT_sched sched;

    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    must(ABT_sched_create(&def, num, of, config, &sched));
    must(ABT_sched_config_free(&config));
    return sched;
}

static ABT_sched picks_from(int num, ABT_pool *of)
{
    ABTX_sched_def def;
    ABT_sched_config config;
    ABT_sched sched;

    must(ABTX_sched_def_create(pick, &def));
    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    must(ABTX_sched_create(def, num, of, config, &sched));
    must(ABT_sched_config_free(&config));
    must(ABTX_sched_def_free(&def));
    return sched;
}

static const struct kind {
    const char *name;
    ABT_pool_kind pool_kind;
    ABT_pool_access access;
    ABT_sched_predef sched;
    bool deadline; /* far away, and armed all the time: whoever yields at a look at events leaves to the scheduler */
    enum way way;
    bool user_pools;
} kinds[] = {
    {"private pools", ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_SCHED_BASIC, .deadline = false},
    {"shared pools", ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_SCHED_PRIO, .deadline = false},
    {"BASIC_WAIT", ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC, ABT_SCHED_BASIC_WAIT, .deadline = false},
    {"RANDWS pools", ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_SCHED_RANDWS, .deadline = false},
    {"RANDWS pools beside a deadline", ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_SCHED_RANDWS, .deadline = true},
    {"a user's scheduler", ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_SCHED_DEFAULT, .way = BY_LOOP},
    {"one that runs units", ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_SCHED_DEFAULT, .way = BY_UNITS},
    {"one that picks", ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_SCHED_DEFAULT, .way = PICKS},
};

/* Pools of the user's are for ULTs in other pools only: there is no taking out of them. */
static const struct kind user_kinds[] = {
    {"user-defined pools", .sched = ABT_SCHED_BASIC, .user_pools = true},
    {"a user's scheduler and pools", .way = BY_LOOP, .user_pools = true},
    {"one that runs units of user-defined pools", .way = BY_UNITS, .user_pools = true},
    {"one that picks from user-defined pools", .way = PICKS, .user_pools = true},
};

static void set_sched(ABT_xstream self, const struct kind *kind)
{
    if (kind->way == PREDEFINED)
        must(ABT_xstream_set_main_sched_basic(self, kind->sched, num_pools, pools));
    else if (kind->way == PICKS)
        must(ABT_xstream_set_main_sched(self, picks_from(num_pools, pools)));
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

static void waits_long(void *arg)
{
    int index;

    (void)arg;
    must(ABTX_eventual_wait_any_until(1, &never, &index, in_ns(now() + 3600)));
}

static void play_beside_deadline(const char *name, bool randws)
{
    ABT_thread thread;

    must(ABT_thread_create(pools[0], waits_long, NULL, ABT_THREAD_ATTR_NULL, &thread));
    while (!is_blocked(thread))
        must(ABT_self_yield());
    play(name, randws);
    must(ABT_eventual_set(never, NULL, 0));
    must(ABT_thread_free(&thread));
    must(ABT_eventual_reset(never));
}

static void play_kind(ABT_xstream self, const struct kind *kind, int num)
{
    char name[64];

    snprintf(name, sizeof(name), "%s, %d", kind->name, num);
    make_pools(kind, num);
    set_sched(self, kind);
    (kind->deadline ? play_beside_deadline : play)(name, kind->sched == ABT_SCHED_RANDWS);
}

/*
 * A ULT that has given way in another pool is a unit of its own pool again. But the first of the pair is to migrate
 * where `target` is a pool, which the others ask for while it may be in there.
 */
static bool strayed, moved;
static long spare; /* switches for that when all have run */

static bool goes_on_at_home(const void *arg)
{
    ABT_pool pool;

    must(ABT_self_get_last_pool(&pool));
    moved = moved || (arg == &pair[0] && pool == target);
    strayed = strayed || (target == ABT_POOL_NULL && pool != homes[arg == &pair[1]]);
    return goes_on() || (target != ABT_POOL_NULL && !moved && spare-- > 0);
}

/* The first one that sees the end goes on in the other, which nobody else would run. */
static void yields_to_and_exits(void *arg)
{
    ABT_thread_state state;

    while (goes_on_at_home(arg))
        must(ABT_thread_yield_to(partner(arg)));
    must(ABT_thread_get_state(partner(arg), &state));
    if (state == ABT_THREAD_STATE_READY) {
        take_out(partner(arg));
        must(ABT_self_exit_to(partner(arg)));
    }
}

static void resumes_and_exits(void *arg)
{
    if (arg == &pair[1])
        must(ABT_self_suspend());
    while (goes_on_at_home(arg))
        must(ABT_self_resume_suspend_to(partner(arg)));
    if (is_blocked(partner(arg)))
        must(ABT_self_resume_exit_to(partner(arg)));
}

/* `num` of the pair, the second one first, are in pools that are nobody's, or of a scheduler that does not run. */
static void play_apart(ABT_xstream self, const struct kind *kind, int num_of_sched, int num, bool have_sched)
{
    char name[96];
    ABT_pool apart[2];
    ABT_sched unused = ABT_SCHED_NULL;

    make_pools(kind, num_of_sched);
    set_sched(self, kind);
    for (int i = 0; i < num; i++) {
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &apart[i]));
        homes[1 - i] = apart[i];
    }
    if (have_sched)
        must(ABT_sched_create_basic(ABT_SCHED_BASIC, num, apart, ABT_SCHED_CONFIG_NULL, &unused));
    snprintf(name, sizeof(name), "%s, %d, and %d apart%s", kind->name, num_of_sched, num,
             have_sched ? " of a scheduler" : "");
    strayed = false;
    play_pair(name, "thread_yield_to", yields_to_and_exits);
    play_pair(name, "self_resume_suspend_to", resumes_and_exits);
    ok(!strayed, "%s: each is at home all the time", name);
    end_pools(self, kind);
    if (have_sched)
        must(ABT_sched_free(&unused));
    for (int i = 0; i < num; i++)
        must(ABT_pool_free(&apart[i]));
}

static void play_moving(ABT_xstream self, const struct kind *kind)
{
    make_pools(kind, 2);
    set_sched(self, kind);
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &homes[0]));
    homes[1] = homes[0];
    target = pools[0];
    moved = false;
    spare = ENOUGH;
    play_pair(kind->name, "thread_yield_to, and one migrates", yields_to_and_exits);
    ok(moved, "%s: it has migrated", kind->name);
    target = ABT_POOL_NULL;
    must(ABT_pool_free(&homes[0]));
}

/* Of a user-defined pool no ULT is taken out. */
static void play_all_apart(ABT_xstream self, const struct kind *kind)
{
    for (int num = 1; num <= 4; num++) {
        if (kind->user_pools && num % 2 == 0)
            continue;
        play_apart(self, kind, 1 + num / 3, 1 + num % 2, false);
        play_apart(self, kind, 1 + num / 3, 1 + num % 2, true);
    }
}

int main(void)
{
    ABT_xstream self;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_self_get_xstream(&self));
    must(ABT_eventual_create(0, &over));
    must(ABT_eventual_create(0, &never));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        play_kind(self, &kinds[i], 1);
        play_kind(self, &kinds[i], 2);
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!kinds[i].deadline)
            play_all_apart(self, &kinds[i]);
        if (kinds[i].way != PREDEFINED)
            play_moving(self, &kinds[i]);
    }
    for (size_t i = 0; i < sizeof(user_kinds) / sizeof(user_kinds[0]); i++)
        play_all_apart(self, &user_kinds[i]);
    must(ABT_eventual_free(&over));
    must(ABT_eventual_free(&never));
    must(ABT_finalize());
    return done_testing();
}

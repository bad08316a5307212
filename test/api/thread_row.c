/*
 * Joining and freeing many at once: units of a private pool then run one after the other on the joiner's stack, which
 * nobody is to notice, whatever they do.
 */
#include <fenv.h>

#include "common.h"

enum { MANY = 200 }; /* more than there are between two looks at events */

static ABT_pool pool;
static ABT_thread joiner, units[MANY];
static int num_run, order[MANY]; /* who has run when */
static int round_of[MANY];       /* rounding modes at the start */
static ABT_eventual eventual;
static ABT_key key;
static int num_destroyed;

static void note(void *arg)
{
    round_of[(intptr_t)arg] = fegetround();
    order[num_run++] = (int)(intptr_t)arg;
}

static void run_all(void)
{
    num_run = 0;
    for (int i = 0; i < MANY; i++)
        order[i] = -1;
}

static bool in_order(int num)
{
    bool yes = num_run == num;

    for (int i = 0; i < num; i++)
        yes = yes && order[i] == i;
    return yes;
}

static void create(int i, void (*func)(void *))
{
    must(ABT_thread_create(pool, func, (void *)(intptr_t)i, ABT_THREAD_ATTR_NULL, &units[i]));
}

/* --- What a unit sees --- */

static int num_wrong;

static void look(void *arg)
{
    int i = (int)(intptr_t)arg;
    size_t size, total;
    ABT_thread self;

    note(arg);
    must(ABT_self_get_thread(&self));
    must(ABT_pool_get_size(pool, &size));
    must(ABT_pool_get_total_size(pool, &total));
    num_wrong += self != units[i];
    num_wrong += state_of(joiner) != ABT_THREAD_STATE_BLOCKED;
    num_wrong += state_of(self) != ABT_THREAD_STATE_RUNNING;
    num_wrong += (int)size != MANY - 1 - i;
    num_wrong += (int)total != MANY - i; /* and the joiner */
}

static bool has_ended(ABT_thread unit)
{
    return state_of(unit) == ABT_THREAD_STATE_TERMINATED;
}

static bool is_freed(ABT_thread unit)
{
    return unit == ABT_THREAD_NULL;
}

/* Those before it are over, the others, and itself, are not. */
static void look_at_all(void *arg, bool (*is_over)(ABT_thread unit))
{
    look(arg);
    for (int i = 0; i < MANY; i++)
        num_wrong += is_over(units[i]) != (i < (intptr_t)arg);
}

static void look_after_join(void *arg)
{
    look_at_all(arg, has_ended);
}

static void look_after_free(void *arg)
{
    look_at_all(arg, is_freed);
}

static void test_views(void)
{
    size_t total;

    run_all();
    for (int i = 0; i < MANY; i++)
        create(i, look_after_join);
    ok_abt(ABT_thread_join_many(MANY, units));
    ok(in_order(MANY), "joined: all have run, in order");
    is_int(num_wrong, 0, "what they have seen of themselves, the others, the joiner and the pool");
    is_int(state_of(joiner), ABT_THREAD_STATE_RUNNING, "the joiner runs again");
    ok_abt(ABT_thread_free_many(MANY, units));
    run_all();
    for (int i = 0; i < MANY; i++)
        create(i, look_after_free);
    ok_abt(ABT_thread_free_many(MANY, units));
    ok(in_order(MANY), "freed: all have run, in order");
    is_int(num_wrong, 0, "what they have seen");
    must(ABT_pool_get_total_size(pool, &total));
    is_int((long)total, 0, "the pool is empty");
}

/* --- What a unit does --- */

static void yield(void *arg)
{
    must(ABT_self_yield());
    note(arg);
}

static void leave(void *arg)
{
    note(arg);
    ABT_self_exit();
}

static void wait_for_it(void *arg)
{
    must(ABT_eventual_wait(eventual, NULL));
    note(arg);
}

static void set_it(void *arg)
{
    note(arg);
    must(ABT_eventual_set(eventual, NULL, 0));
}

static void destroy(void *value)
{
    (void)value;
    num_destroyed++;
}

static void set_key(void *arg)
{
    note(arg);
    must(ABT_self_set_specific(key, &key));
}

static void round_otherwise(void *arg)
{
    note(arg);
    fesetround(FE_UPWARD);
}

static void have_row(void *arg)
{
    ABT_thread two[2];

    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(pool, note, arg, ABT_THREAD_ATTR_NULL, &two[i]));
    must(ABT_thread_free_many(2, two));
    num_run -= 2;
    note(arg);
}

static void never(void *arg)
{
    note(arg);
    bail_out("a cancelled unit runs");
}

static void do_many(int (*many)(int, ABT_thread *), const char *name, void (*odd)(void *), const char *what)
{
    enum { NUM = 9, ODD = 3 };
    bool all = true;

    run_all();
    num_destroyed = 0;
    must(ABT_eventual_reset(eventual));
    for (int i = 0; i < NUM; i++)
        create(i, i == ODD ? odd : i == NUM - 1 ? set_it : note);
    must(ABT_thread_free(&units[1])); /* while others stand before it */
    fesetround(FE_DOWNWARD);
    ok_abt(many(NUM, units));
    int round = fegetround();
    fesetround(FE_TONEAREST);
    is_int(num_run, NUM, "%s, one %s: all have run", name, what);
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU)) {
        is_int(round, FE_DOWNWARD, "the joiner keeps its rounding mode");
        for (int i = 0; i < NUM; i++)
            all = all && round_of[i] == FE_TONEAREST;
        ok(all, "each has begun with the usual one");
    }
    all = true;
    must(ABT_thread_free_many(NUM, units));
    for (int i = 0; i < NUM; i++)
        all = all && units[i] == ABT_THREAD_NULL;
    ok(all, "all are freed");
    is_int(num_destroyed, odd == set_key, "with their values");
}

static void test_deeds(int (*many)(int, ABT_thread *), const char *name)
{
    do_many(many, name, note, "does nothing");
    do_many(many, name, yield, "yields");
    do_many(many, name, leave, "exits");
    do_many(many, name, wait_for_it, "waits for one behind it");
    do_many(many, name, set_key, "has a value");
    do_many(many, name, round_otherwise, "rounds otherwise");
    do_many(many, name, have_row, "joins others itself");
}

static void test_cancelled(int (*many)(int, ABT_thread *))
{
    run_all();
    create(0, note);
    create(1, never);
    create(2, note);
    must(ABT_thread_cancel(units[1]));
    ok_abt(many(3, units));
    ok(num_run == 2 && order[0] == 0 && order[1] == 2, "a cancelled one does not run, the others do");
    must(ABT_thread_free_many(3, units));
}

int main(void)
{
    ABT_xstream xstream;

    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&xstream));
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    must(ABT_xstream_set_main_sched_basic(xstream, ABT_SCHED_BASIC, 1, &pool));
    must(ABT_self_get_thread(&joiner));
    must(ABT_eventual_create(0, &eventual));
    must(ABT_key_create(destroy, &key));
    test_views();
    test_deeds(ABT_thread_join_many, "joined");
    test_deeds(ABT_thread_free_many, "freed");
    if (has_feature(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL)) {
        test_cancelled(ABT_thread_join_many);
        test_cancelled(ABT_thread_free_many);
    }
    must(ABT_key_free(&key));
    must(ABT_eventual_free(&eventual));
    must(ABT_finalize());
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedulers: making them, stacking them, and making them main ones. */
#include "api/user_pool.h"
#include "cases.h"

static ABT_sched sched;
static ABT_pool pools[3];
static struct list list;

/* --- Making --- */

static void no_sched(void)
{
    expect_out(sched, ABT_SCHED_NULL);
}

static int num_of(ABT_sched of)
{
    int num = -1;

    must(ABT_sched_get_num_pools(of, &num));
    return num;
}

static void free_sched(void)
{
    must(ABT_sched_free(&sched));
}

/* Each with pools of its own, */
#define MAKES(fn, predef, num)                                                                                         \
    static int fn(void)                                                                                                \
    {                                                                                                                  \
        int code;                                                                                                      \
        sched = UNTOUCHED(ABT_sched);                                                                                  \
        code = ABT_sched_create_basic(predef, 0, NULL, ABT_SCHED_CONFIG_NULL, &sched);                                 \
        expect(code != ABT_SUCCESS || num_of(sched) == (num), "the number of pools");                                  \
        return code;                                                                                                   \
    }

MAKES(create_default, ABT_SCHED_DEFAULT, 1)
MAKES(create_prio, ABT_SCHED_PRIO, 3)
MAKES(create_randws, ABT_SCHED_RANDWS, 1)
MAKES(create_wait, ABT_SCHED_BASIC_WAIT, 1)

/* and with some of the user's, of which an automatic one that nobody uses must not go when the creation fails. */
static void begin_pools(void)
{
    pools[0] = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    pools[1] = ABT_POOL_NULL;
    pools[2] = new_pool(ABT_POOL_RANDWS, ABT_TRUE);
}

static void pools_are_there(void)
{
    no_sched();
    expect(total_size_of(pools[0]) == 0 && total_size_of(pools[2]) == 0, "the pools are there");
}

static void free_sched_and_pool(void)
{
    must(ABT_sched_free(&sched));
    pools[2] = new_pool(ABT_POOL_RANDWS, ABT_TRUE); /* the other has gone with its last scheduler */
}

static void end_pools(void)
{
    must(ABT_pool_free(&pools[0]));
    must(ABT_pool_free(&pools[2]));
}

static int create_basic(void)
{
    sched = UNTOUCHED(ABT_sched);
    return ABT_sched_create_basic(ABT_SCHED_PRIO, 3, pools, ABT_SCHED_CONFIG_NULL, &sched);
}

/* A user-defined one, whose init allocates and says in its own way that it could not. */
static int frees;

static int init_with_memory(ABT_sched newsched, ABT_sched_config config)
{
    void *memory = malloc(100);

    must(ABT_sched_set_data(newsched, memory));
    if (memory)
        return ABT_SUCCESS;
    fault_expect(ABT_ERR_KEY);
    return ABT_ERR_KEY;
}

static void run(ABT_sched self_sched)
{
    ABT_pool own[1];
    ABT_bool stop = ABT_FALSE;

    must(ABT_sched_get_pools(self_sched, 1, 0, own));
    while (!stop) {
        ABT_thread thread;
        must(ABT_pool_pop_thread(own[0], &thread));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        must(ABT_xstream_check_events(self_sched));
        must(ABT_sched_has_to_stop(self_sched, &stop));
    }
}

static int free_data(ABT_sched oldsched)
{
    void *memory;

    must(ABT_sched_get_data(oldsched, &memory));
    free(memory);
    frees++;
    return ABT_SUCCESS;
}

static ABT_sched_def sched_def = {.type = ABT_SCHED_TYPE_ULT, .init = init_with_memory, .run = run, .free = free_data};

static int create_user(void)
{
    frees = 0;
    sched = UNTOUCHED(ABT_sched);
    return ABT_sched_create(&sched_def, 3, pools, ABT_SCHED_CONFIG_NULL, &sched);
}

static void no_user_sched(void)
{
    pools_are_there();
    expect(frees == 0, "what was not made is not freed");
}

static void free_user_sched(void)
{
    free_sched_and_pool();
    expect(frees == 1, "it is freed once");
}

static const struct fault_case making[] = {
    {"ABT_sched_create_basic, DEFAULT", FAULT_EXTERNAL, create_default, no_sched, free_sched, NULL, NULL},
    {"ABT_sched_create_basic, PRIO", 0, create_prio, no_sched, free_sched, NULL, NULL},
    {"ABT_sched_create_basic, RANDWS", 0, create_randws, no_sched, free_sched, NULL, NULL},
    {"ABT_sched_create_basic, BASIC_WAIT", 0, create_wait, no_sched, free_sched, NULL, NULL},
    {"ABT_sched_create_basic, pools given", FAULT_EXTERNAL, create_basic, pools_are_there, free_sched_and_pool,
     begin_pools, end_pools},
    {"ABT_sched_create", FAULT_EXTERNAL, create_user, no_user_sched, free_user_sched, begin_pools, end_pools},
};

/* What is answered when a user-defined pool has met with the failure. */
static int told(int code)
{
    if (atomic_exchange(&list.no_memory, 0))
        fault_expect(ABT_ERR_OTHER);
    return code;
}

/* --- Stacking --- */

static ABT_pool outer, inner;

static void begin_stacking(void)
{
    ABT_sched_config config;

    outer = own_pool();
    inner = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 0, ABT_sched_config_var_end));
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &inner, config, &sched));
    must(ABT_sched_config_free(&config));
    probe_begin();
    use_up_units();
}

static void end_stacking(void)
{
    give_units_back();
    probe_end();
    must(ABT_sched_free(&sched));
    must(ABT_pool_free(&inner));
}

static int add_sched(void)
{
    return told(ABT_pool_add_sched(outer, sched));
}

static void is_unused(void)
{
    expect(total_size_of(outer) == 0, "nothing is in the pool");
}

/* It runs a unit, and is unused again when it has ended. */
static void run_stacked(void)
{
    ABT_xstream none;
    ABT_thread stacked;

    expect(ABT_NULL || ABT_xstream_create(sched, &none) == ABT_ERR_INV_SCHED, "the scheduler is in use");
    probe_into(inner);
    if (outer != own_pool()) {
        must(ABT_pool_pop_thread(outer, &stacked));
        must(ABT_pool_push_thread(own_pool(), stacked));
    }
    probe_again();
    wait_for(total_size_of(own_pool()) == 0);
}

static void begin_stacking_user(void)
{
    begin_stacking();
    outer = make_new(&list, true, ABT_POOL_CONFIG_NULL);
}

static void end_stacking_user(void)
{
    expect(list.alive == 0, "no unit is left");
    must(ABT_pool_free(&outer));
    end_stacking();
}

static const struct fault_case stacking[] = {
    {"ABT_pool_add_sched", FAULT_BRIEF | FAULT_HELPS, add_sched, is_unused, run_stacked, begin_stacking, end_stacking},
    {"ABT_pool_add_sched, user-defined pool", FAULT_BRIEF | FAULT_HELPS, add_sched, is_unused, run_stacked,
     begin_stacking_user, end_stacking_user},
};

/* --- A main scheduler whose first pool cannot take the caller --- */

static void begin_main(void)
{
    ABT_sched_config config;

    outer = make_new(&list, true, ABT_POOL_CONFIG_NULL);
    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, 0, ABT_sched_config_var_end));
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 1, &outer, config, &sched));
    must(ABT_sched_config_free(&config));
    probe_begin();
}

static int set_main_sched(void)
{
    return told(ABT_xstream_set_main_sched(own_xstream(), sched));
}

static int set_main_sched_basic(void)
{
    return told(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_BASIC, 1, &outer));
}

static void old_one_runs(void)
{
    expect(last_pool_of(self()) == own_pool() && own_pool() != outer, "the caller belongs to its old pool");
    expect(list.alive == 0, "there is no unit in the new one");
    probe_into(own_pool());
    probe_again();
}

static void new_one_runs(void)
{
    expect(last_pool_of(self()) == outer && own_pool() == outer, "the caller belongs to the new pool");
    ABT_self_yield();
    must(ABT_xstream_set_main_sched(own_xstream(), ABT_SCHED_NULL));
    expect(list.alive == 0, "it has left that again");
}

static void end_main(void)
{
    probe_end();
    must(ABT_sched_free(&sched));
    must(ABT_pool_free(&outer));
}

static const struct fault_case replacing[] = {
    {"ABT_xstream_set_main_sched, user-defined pool", FAULT_WAITS, set_main_sched, old_one_runs, new_one_runs,
     begin_main, end_main},
    {"ABT_xstream_set_main_sched_basic, user-defined pool", FAULT_WAITS, set_main_sched_basic, old_one_runs,
     new_one_runs, begin_main, end_main},
};

int main(void)
{
    fault_begin();
    fault_run_all(making);
    fault_run_all(stacking);
    fault_run_all(replacing);
    return done_testing();
}

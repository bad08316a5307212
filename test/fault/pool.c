/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools: making them; units that user-defined ones cannot make; what grows inside of built-in ones. */
#include "api/user_pool.h"
#include "cases.h"

/* --- Making pools --- */

static ABT_pool pool;
static ABT_pool_kind kind;
static ABT_pool_access access_kind;

static void no_pool(void)
{
    expect_out(pool, ABT_POOL_NULL);
}

static int create_basic(void)
{
    pool = UNTOUCHED(ABT_pool);
    return ABT_pool_create_basic(kind, access_kind, ABT_FALSE, &pool);
}

static void use_and_free(void)
{
    ABT_thread unit, popped = ABT_THREAD_NULL;

    must(ABT_task_create(pool, do_nothing, NULL, &unit));
    expect(total_size_of(pool) == 1, "the unit is there");
    must(ABT_pool_pop_thread(pool, &popped));
    expect(popped == unit, "the unit comes out");
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_task_free(&unit));
    must(ABT_pool_free(&pool));
}

#define BEGIN(name, of_kind, of_access)                                                                                \
    static void begin_##name(void)                                                                                     \
    {                                                                                                                  \
        kind = ABT_POOL_##of_kind;                                                                                     \
        access_kind = ABT_POOL_ACCESS_##of_access;                                                                     \
    }
BEGIN(fifo, FIFO, MPMC)
BEGIN(private, FIFO, PRIV)
BEGIN(fifo_wait, FIFO_WAIT, MPMC)
BEGIN(randws, RANDWS, MPMC)

/* User-defined pools, whose init allocates and says in its own way that it could not. */
static struct list list;
static void *from_init;
static int frees;

static int init_with_memory(ABT_pool newpool, ABT_pool_config config)
{
    must(ABT_pool_set_data(newpool, &list));
    from_init = malloc(100);
    if (from_init)
        return ABT_SUCCESS;
    fault_expect(ABT_ERR_KEY);
    return ABT_ERR_KEY; /* it is to come out verbatim */
}

static void free_memory(ABT_pool oldpool)
{
    frees++;
    free(from_init);
}

static int free_memory_old(ABT_pool oldpool)
{
    free_memory(oldpool);
    return ABT_SUCCESS;
}

static ABT_pool_user_def user_def;
static ABT_pool_def old_def;

static void begin_new(void)
{
    list_init(&list);
    frees = 0;
    user_def = new_def(true);
    must(ABT_pool_user_def_set_init(user_def, init_with_memory));
    must(ABT_pool_user_def_set_free(user_def, free_memory));
}

static void end_new(void)
{
    must(ABT_pool_user_def_free(&user_def));
}

static int create_new(void)
{
    pool = UNTOUCHED(ABT_pool);
    return ABT_pool_create(user_def, ABT_POOL_CONFIG_NULL, &pool);
}

static void begin_old(void)
{
    list_init(&list);
    old_list = &list;
    frees = 0;
    old_def = (ABT_pool_def){
        .access = ABT_POOL_ACCESS_MPMC,
        .u_create_from_thread = old_create,
        .u_free = old_unit_free,
        .p_init = init_with_memory,
        .p_get_size = old_get_size,
        .p_push = old_push,
        .p_pop = old_pop,
        .p_free = free_memory_old,
    };
}

static int create_old(void)
{
    pool = UNTOUCHED(ABT_pool);
    return ABT_pool_create(&old_def, ABT_POOL_CONFIG_NULL, &pool);
}

static void no_user_pool(void)
{
    no_pool();
    expect(frees == 0, "what was not made is not freed");
}

static void use_and_free_user_pool(void)
{
    use_and_free();
    expect(frees == 1 && list.alive == 0, "all is freed");
    frees = 0;
}

static ABT_pool_user_def made_def;

static int create_def(void)
{
    made_def = UNTOUCHED(ABT_pool_user_def);
    return ABT_pool_user_def_create(new_create_unit, new_free_unit, new_is_empty, new_pop, new_push, &made_def);
}

static void no_def(void)
{
    expect_alone(made_def);
}

static void free_def(void)
{
    must(ABT_pool_user_def_free(&made_def));
}

static const struct fault_case making[] = {
    {"ABT_pool_create_basic, FIFO", FAULT_EXTERNAL, create_basic, no_pool, use_and_free, begin_fifo, NULL},
    {"ABT_pool_create_basic, private FIFO", 0, create_basic, no_pool, use_and_free, begin_private, NULL},
    {"ABT_pool_create_basic, FIFO_WAIT", FAULT_EXTERNAL, create_basic, no_pool, use_and_free, begin_fifo_wait, NULL},
    {"ABT_pool_create_basic, RANDWS", FAULT_EXTERNAL, create_basic, no_pool, use_and_free, begin_randws, NULL},
    {"ABT_pool_create, new definition", FAULT_EXTERNAL, create_new, no_user_pool, use_and_free_user_pool, begin_new,
     end_new},
    {"ABT_pool_create, old definition", FAULT_EXTERNAL, create_old, no_user_pool, use_and_free_user_pool, begin_old,
     NULL},
    {"ABT_pool_user_def_create", FAULT_EXTERNAL, create_def, no_def, free_def, NULL, NULL},
};

/* --- Units that a user-defined pool cannot make: OTHER, and the unit stays where it was --- */

static struct list from_list;
static ABT_pool from;
static ABT_thread thread;
static ABT_unit unit_before;
static atomic_int ran;

/* The code that is right when the pool itself has met with the failure. */
static int told(int code)
{
    if (atomic_exchange(&list.no_memory, 0))
        fault_expect(ABT_ERR_OTHER);
    return code;
}

static void begin_units(void)
{
    pool = make_new(&list, true, ABT_POOL_CONFIG_NULL);
    from = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    thread = ult_in(from, count_up, &ran);
    must(ABT_pool_pop_thread(from, &thread));
    must(ABT_thread_get_unit(thread, &unit_before));
    ran = 0;
}

static void begin_old_units(void)
{
    begin_units();
    must(ABT_pool_free(&pool));
    pool = make_old(&list, ABT_POOL_ACCESS_MPMC, true, ABT_POOL_CONFIG_NULL);
}

/* From one user-defined pool to another. */
static void begin_between(void)
{
    pool = make_new(&list, true, ABT_POOL_CONFIG_NULL);
    from = make_new(&from_list, true, ABT_POOL_CONFIG_NULL);
    thread = ult_in(from, count_up, &ran);
    must(ABT_pool_pop_thread(from, &thread));
    must(ABT_thread_get_unit(thread, &unit_before));
    ran = 0;
}

static void end_units(void)
{
    must(ABT_pool_push_thread(own_pool(), thread));
    must(ABT_thread_free(&thread));
    expect(ran == 1, "the ULT has run once");
    expect(list.alive == 0 && from_list.alive == 0, "no unit is left");
    must(ABT_pool_free(&pool));
    must(ABT_pool_free(&from));
}

static void is_in_from(void)
{
    ABT_unit unit = ABT_UNIT_NULL;

    must(ABT_thread_get_unit(thread, &unit));
    expect(last_pool_of(thread) == from && unit == unit_before, "it belongs to its old pool");
    expect(list.alive == 0 && total_size_of(pool) == 0, "and not to the other");
}

static void take_back(void)
{
    ABT_thread popped = ABT_THREAD_NULL;

    must(ABT_pool_pop_thread(pool, &popped));
    expect(popped == thread && list.alive == 1, "it is in the other pool");
    must(ABT_thread_set_associated_pool(thread, from));
    must(ABT_thread_get_unit(thread, &unit_before));
}

static int push_thread(void)
{
    return told(ABT_pool_push_thread(pool, thread));
}

static int push_threads(void)
{
    const ABT_thread threads[] = {ABT_THREAD_NULL, thread, ABT_THREAD_NULL};

    return told(ABT_pool_push_threads(pool, threads, 3));
}

static int push_unit(void)
{
    return told(ABT_pool_push(pool, unit_before));
}

static int associate(void)
{
    return told(ABT_thread_set_associated_pool(thread, pool));
}

static void associate_back(void)
{
    expect(last_pool_of(thread) == pool && list.alive == 1, "it belongs to the other pool");
    must(ABT_thread_set_associated_pool(thread, from));
    must(ABT_thread_get_unit(thread, &unit_before));
}

static int associate_self(void)
{
    return told(ABT_self_set_associated_pool(pool));
}

static void self_is_in_own(void)
{
    expect(last_pool_of(self()) == own_pool() && list.alive == 0, "the caller belongs to its old pool");
}

static void associate_self_back(void)
{
    expect(last_pool_of(self()) == pool && list.alive == 1, "the caller belongs to the other pool");
    must(ABT_self_set_associated_pool(own_pool()));
}

/* Scheduling with a change of the pool: a unit that yields comes back into it. */
static void yield_once(void *arg)
{
    ABT_self_yield();
}

static int schedule(void)
{
    int code;

    thread = ABT_THREAD_NULL;
    must(ABT_thread_create(from, yield_once, NULL, ABT_THREAD_ATTR_NULL, &thread));
    must(ABT_pool_pop_thread(from, &thread));
    code = told(ABT_self_schedule(thread, pool));
    if (code == ABT_SUCCESS) {
        must(ABT_pool_pop_thread(pool, &thread));
        must(ABT_self_schedule(thread, ABT_POOL_NULL));
    }
    return code;
}

static void run_in_from(void)
{
    expect(last_pool_of(thread) == from, "it belongs to its old pool");
    must(ABT_self_schedule(thread, ABT_POOL_NULL));
    must(ABT_pool_pop_thread(from, &thread));
    must(ABT_self_schedule(thread, ABT_POOL_NULL));
    must(ABT_thread_free(&thread));
}

static void free_scheduled(void)
{
    must(ABT_thread_free(&thread));
    expect(list.alive == 0, "no unit is left");
}

static void begin_schedule(void)
{
    pool = make_new(&list, true, ABT_POOL_CONFIG_NULL);
    from = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    thread = ult_in(own_pool(), yield_once, NULL);
    must(ABT_thread_free(&thread)); /* a stack is at hand */
}

static void end_schedule(void)
{
    must(ABT_pool_free(&pool));
    must(ABT_pool_free(&from));
}

/* --- Creating and reviving in a user-defined pool --- */

static void begin_create(void)
{
    pool = make_new(&list, true, ABT_POOL_CONFIG_NULL);
    ran = 0;
    use_up_units();
}

static void begin_create_old(void)
{
    pool = make_old(&list, ABT_POOL_ACCESS_MPMC, true, ABT_POOL_CONFIG_NULL);
    ran = 0;
    use_up_units();
}

static void end_create(void)
{
    give_units_back();
    must(ABT_pool_free(&pool));
}

static int create(void)
{
    thread = UNTOUCHED(ABT_thread);
    return told(ABT_thread_create(pool, count_up, &ran, ABT_THREAD_ATTR_NULL, &thread));
}

static int create_task(void)
{
    thread = UNTOUCHED(ABT_thread);
    return told(ABT_task_create(pool, count_up, &ran, &thread));
}

/* The stack is got first and must not be lost. */
static ABT_thread_attr attr;

static void begin_create_large(void)
{
    begin_create();
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 100000));
}

static void end_create_large(void)
{
    must(ABT_thread_attr_free(&attr));
    end_create();
}

static int create_large(void)
{
    return told(ABT_thread_create(pool, count_up, &ran, attr, &thread));
}

static void no_unit(void)
{
    expect(list.alive == 0 && list_size(&list) == 0, "there is no unit");
}

static void run_and_free(void)
{
    ABT_thread popped = ABT_THREAD_NULL;

    must(ABT_pool_pop_thread(pool, &popped));
    expect(popped == thread, "the unit is in the pool");
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    expect(ran == 1, "and runs");
    ran = 0;
    must(ABT_thread_free(&thread));
    no_unit();
}

static int create_to(void)
{
    thread = UNTOUCHED(ABT_thread);
    return told(ABT_thread_create_to(pool, count_up, &ran, ABT_THREAD_ATTR_NULL, &thread));
}

static void free_created(void)
{
    expect(ran == 1, "it has run");
    ran = 0;
    must(ABT_thread_free(&thread));
    no_unit();
}

static void begin_revive(void)
{
    pool = make_new(&list, true, ABT_POOL_CONFIG_NULL);
    thread = ult_in(own_pool(), do_nothing, NULL);
    must(ABT_thread_join(thread));
    ran = 0;
}

static void end_revive(void)
{
    must(ABT_thread_free(&thread));
    no_unit();
    must(ABT_pool_free(&pool));
}

static int revive(void)
{
    return told(ABT_thread_revive(pool, count_up, &ran, &thread));
}

static int revive_to(void)
{
    return told(ABT_thread_revive_to(pool, count_up, &ran, &thread));
}

static void is_terminated(void)
{
    expect(state_of(thread) == ABT_THREAD_STATE_TERMINATED, "it is terminated still");
    expect(last_pool_of(thread) == own_pool(), "and belongs to its old pool");
    no_unit();
}

static void run_revived(void)
{
    ABT_thread popped = ABT_THREAD_NULL;

    must(ABT_pool_pop_thread(pool, &popped));
    expect(popped == thread, "the unit is in the pool");
    must(ABT_self_schedule(popped, own_pool()));
    expect(ran == 1, "and runs");
    ran = 0;
}

static void check_revived(void)
{
    expect(ran == 1, "it has run");
    ran = 0;
    must(ABT_thread_revive(own_pool(), do_nothing, NULL, &thread)); /* into the old pool */
    must(ABT_thread_join(thread));
}

static const struct fault_case units[] = {
    {"ABT_pool_push_thread", FAULT_EXTERNAL, push_thread, is_in_from, take_back, begin_units, end_units},
    {"ABT_pool_push_thread, old definition", FAULT_EXTERNAL, push_thread, is_in_from, take_back, begin_old_units,
     end_units},
    {"ABT_pool_push_thread, between user-defined pools", FAULT_EXTERNAL, push_thread, is_in_from, take_back,
     begin_between, end_units},
    {"ABT_pool_push_threads", FAULT_EXTERNAL, push_threads, is_in_from, take_back, begin_units, end_units},
    {"ABT_pool_push", FAULT_EXTERNAL, push_unit, is_in_from, take_back, begin_units, end_units},
    {"ABT_pool_push, between user-defined pools", FAULT_EXTERNAL, push_unit, is_in_from, take_back, begin_between,
     end_units},
    {"ABT_thread_set_associated_pool", FAULT_EXTERNAL, associate, is_in_from, associate_back, begin_between, end_units},
    {"ABT_self_set_associated_pool", 0, associate_self, self_is_in_own, associate_self_back, begin_units, end_units},
    {"ABT_self_schedule", 0, schedule, run_in_from, free_scheduled, begin_schedule, end_schedule},
    {"ABT_thread_create in a user-defined pool", FAULT_EXTERNAL, create, no_unit, run_and_free, begin_create,
     end_create},
    {"ABT_thread_create in a user-defined pool, large stack", FAULT_HELPS, create_large, no_unit, run_and_free,
     begin_create_large, end_create_large},
    {"ABT_thread_create in an old one", FAULT_EXTERNAL, create, no_unit, run_and_free, begin_create_old, end_create},
    {"ABT_task_create in a user-defined pool", FAULT_EXTERNAL, create_task, no_unit, run_and_free, begin_create,
     end_create},
    {"ABT_thread_create_to in a user-defined pool", FAULT_WAITS, create_to, no_unit, free_created, begin_create,
     end_create},
    {"ABT_thread_revive", FAULT_EXTERNAL, revive, is_terminated, run_revived, begin_revive, end_revive},
    {"ABT_thread_revive_to", FAULT_HELPS, revive_to, is_terminated, check_revived, begin_revive, end_revive},
};

int main(void)
{
    fault_begin();
    fault_run_all(making);
    fault_run_all(units);
    return done_testing();
}

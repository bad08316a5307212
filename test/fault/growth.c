/* SPDX-License-Identifier: BSD-3-Clause */
/* What grows by the way, in calls that cannot fail: without memory it stays small, and nothing is lost. */
#include "api/user_pool.h"
#include "cases.h"

enum { NUM = 6000 };

static ABT_thread units[NUM];
static ABT_pool aside;

/* Tasklets, popped. */
static void make_units(void)
{
    aside = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    for (int i = 0; i < NUM; i++) {
        must(ABT_task_create(aside, do_nothing, NULL, &units[i]));
        must(ABT_pool_pop_thread(aside, &units[i]));
    }
}

static void free_units(void)
{
    for (int i = 0; i < NUM; i++) {
        must(ABT_pool_push_thread(own_pool(), units[i]));
        must(ABT_task_free(&units[i]));
    }
    must(ABT_pool_free(&aside));
}

static bool seen[NUM];

/* Whether the unit comes out for the first time. */
static bool check_off(ABT_thread unit)
{
    void *arg = NULL;

    must(ABT_thread_get_arg(unit, &arg));
    size_t i = (size_t)(uintptr_t)arg;
    if (i >= NUM || seen[i])
        return false;
    return seen[i] = true;
}

static void number_units(void)
{
    memset(seen, 0, sizeof(seen));
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_set_arg(units[i], (void *)(uintptr_t)i));
}

/* --- The ring of a RANDWS pool --- */

static void test_randws(void)
{
    ABT_pool pool = new_pool(ABT_POOL_RANDWS, ABT_FALSE);
    ABT_thread unit = ABT_THREAD_NULL;
    ABT_pool_context to[] = {ABT_POOL_CONTEXT_OP_THREAD_CREATE, ABT_POOL_CONTEXT_OP_THREAD_YIELD};
    ABT_pool_context from[] = {ABT_POOL_CONTEXT_OWNER_PRIMARY, ABT_POOL_CONTEXT_OWNER_SECONDARY};
    bool sizes = true;
    int num = 0;

    make_units();
    number_units();
    fault_arm(1, FAULT_FROM);
    for (int i = 0; i < NUM / 2; i++) {
        must(ABT_pool_push_thread_ex(pool, units[i], to[i % 2]));
        sizes = sizes && (int)size_of(pool) == i + 1 && (int)total_size_of(pool) == i + 1;
    }
    ok(fault_disarm(), "a RANDWS pool cannot grow");
    for (int i = NUM / 2; i < NUM; i++) {
        must(ABT_pool_push_thread_ex(pool, units[i], to[i / 2 % 2])); /* it can again */
        sizes = sizes && (int)size_of(pool) == i + 1;
    }
    ok(sizes, "its size is right at any time");
    while (ABT_pool_pop_thread_ex(pool, &unit, from[num / 3 % 2]) == ABT_SUCCESS && unit != ABT_THREAD_NULL)
        num += check_off(unit);
    is_int(num, NUM, "every unit comes out once");
    free_units();
    must(ABT_pool_free(&pool));
}

/* --- The map of the units of user-defined pools. These units are no memory of their own. --- */

static struct {
    ABT_thread thread;
    bool in_use;
} made[NUM];
static int num_made, num_freed, next_out;

static ABT_unit make_unit(ABT_thread thread)
{
    made[num_made].thread = thread;
    made[num_made].in_use = true;
    return (ABT_unit)&made[num_made++];
}

static void free_unit(ABT_unit *unit)
{
    num_freed++;
    *unit = ABT_UNIT_NULL;
}

static int init_units(ABT_pool pool, ABT_pool_config config)
{
    num_made = num_freed = next_out = 0;
    return ABT_SUCCESS;
}

static size_t num_units(ABT_pool pool)
{
    return (size_t)(num_made - next_out);
}

static ABT_unit pop_unit(ABT_pool pool)
{
    return next_out < num_made ? (ABT_unit)&made[next_out++] : ABT_UNIT_NULL;
}

static void test_unitmap(void)
{
    ABT_pool_def def = {
        .access = ABT_POOL_ACCESS_MPMC,
        .u_create_from_thread = make_unit,
        .u_free = free_unit,
        .p_init = init_units,
        .p_get_size = num_units,
        .p_push = leave_unit,
        .p_pop = pop_unit,
    };
    ABT_thread unit = ABT_THREAD_NULL;
    ABT_pool pool;
    int num = 0;

    must(ABT_pool_create(&def, ABT_POOL_CONFIG_NULL, &pool));
    make_units();
    number_units();
    fault_arm(1, FAULT_FROM);
    for (int i = 0; i < NUM / 2; i++)
        must(ABT_pool_push_thread(pool, units[i]));
    ok(fault_disarm(), "the map of units cannot grow");
    for (int i = NUM / 2; i < NUM; i++)
        must(ABT_pool_push_thread(pool, units[i]));
    while (ABT_pool_pop_thread(pool, &unit) == ABT_SUCCESS && unit != ABT_THREAD_NULL)
        num += unit == units[num] && check_off(unit);
    is_int(num, NUM, "every unit is found");
    free_units();
    is_int(num_freed, NUM, "and freed");
    must(ABT_pool_free(&pool));
}

/* --- Descriptors that are freed: to keep them takes no memory --- */

static void test_freeing(void)
{
    struct fault_live before, after;

    make_units();
    for (int i = 0; i < NUM; i++) {
        must(ABT_pool_push_thread(own_pool(), units[i]));
        must(ABT_task_join(units[i]));
    }
    fault_arm(1, FAULT_FROM);
    for (int i = 0; i < NUM; i++)
        must(ABT_task_free(&units[i]));
    ok(!fault_disarm(), "to free units takes no memory");
    must(ABT_pool_free(&aside));
    before = fault_live();
    make_units();
    after = fault_live();
    is_int(after.mappings, before.mappings, "all descriptors can be used again");
    free_units();
}

/* --- A migration to a pool that cannot make a unit: it does not take place --- */

static atomic_int moved;

static void count_move(ABT_thread thread, void *arg)
{
    count_up(&moved);
}

static struct list list;

static void test_migration(void)
{
    ABT_pool pool = make_new(&list, true, ABT_POOL_CONFIG_NULL);
    ABT_thread thread = ABT_THREAD_NULL;
    atomic_int ran = 0;

    moved = 0;
    thread = ult_in(own_pool(), do_nothing, NULL);
    must(ABT_thread_free(&thread)); /* a stack is at hand */
    thread = ult_in(own_pool(), count_up, &ran);
    if (ABT_thread_set_callback(thread, count_move, NULL) == ABT_SUCCESS) {
        must(ABT_thread_migrate_to_pool(thread, pool));
        fault_arm(1, FAULT_FROM);
        ABT_self_yield();
        ok(fault_disarm(), "a pool cannot make a unit for what migrates to it");
        is_int(ran, 1, "the ULT runs where it was");
        is_int(moved, 0, "it has not migrated");
        is_ptr(last_pool_of(thread), own_pool(), "it belongs to its old pool");
    } else {
        skip(4, "nothing migrates in this build");
    }
    must(ABT_thread_free(&thread));
    is_int(list.alive, 0, "no unit is left");
    must(ABT_pool_free(&pool));
}

static void in_a_life(void (*test)(void))
{
    struct fault_live before = fault_live(), after;

    must(ABT_init(0, NULL));
    test();
    must(ABT_finalize());
    after = fault_live();
    if (!ok(fault_same(before, after), "nothing is left"))
        fault_show(before, after);
}

int main(void)
{
    fault_begin();
    in_a_life(test_randws);
    in_a_life(test_unitmap);
    in_a_life(test_freeing);
    in_a_life(test_migration);
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* ULTs and tasklets: creating, reviving and freeing them without memory. */
#include "cases.h"

static atomic_int ran;
static ABT_pool pool; /* of the primary stream, or a private one beside it */
static ABT_thread thread;

static void begin(void)
{
    use_up_units();
    pool = own_pool();
    ran = 0;
}

static void end(void)
{
    give_units_back();
}

static void no_unit(void)
{
    expect(total_size_of(pool) == 0 && ran == 0, "there is no unit");
}

static void no_thread(void)
{
    expect_out(thread, ABT_THREAD_NULL);
    no_unit();
}

static void no_task(void)
{
    expect_out(thread, ABT_TASK_NULL);
    no_unit();
}

static void free_it(void)
{
    must(ABT_thread_free(&thread));
    expect(ran == 1, "the unit has run");
    ran = 0;
}

/* --- One unit, default stack --- */

static int create(void)
{
    thread = UNTOUCHED(ABT_thread);
    return ABT_thread_create(pool, count_up, &ran, ABT_THREAD_ATTR_NULL, &thread);
}

static int create_on_xstream(void)
{
    ABT_xstream xstream;

    thread = UNTOUCHED(ABT_thread);
    return ABT_xstream_self(&xstream) == ABT_SUCCESS
               ? ABT_thread_create_on_xstream(xstream, count_up, &ran, ABT_THREAD_ATTR_NULL, &thread)
               : create();
}

static int create_unnamed(void)
{
    return ABT_thread_create(pool, count_up, &ran, ABT_THREAD_ATTR_NULL, NULL);
}

static void run_unnamed(void)
{
    wait_for(ran == 1);
    ran = 0;
}

static int create_task(void)
{
    thread = UNTOUCHED(ABT_thread);
    return ABT_task_create(pool, count_up, &ran, &thread);
}

static int create_task_on_xstream(void)
{
    ABT_xstream xstream;

    thread = UNTOUCHED(ABT_thread);
    return ABT_xstream_self(&xstream) == ABT_SUCCESS ? ABT_task_create_on_xstream(xstream, count_up, &ran, &thread)
                                                     : create_task();
}

static void free_task(void)
{
    must(ABT_task_free(&thread));
    expect(ran == 1, "the tasklet has run");
    ran = 0;
}

/* --- In a private pool, where creation takes a quicker way --- */

static void begin_private(void)
{
    ABT_pool pools[1];

    use_up_units();
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pools[0]));
    must(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_BASIC, 1, pools));
    pool = pools[0];
    ran = 0;
}

/* --- Stacks of other sizes, and the user's --- */

static ABT_thread_attr attr;
static void *memory;

static void begin_big(void)
{
    begin();
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 100000));
}

static void begin_user_stack(void)
{
    enum { SIZE = 65536 };

    begin();
    memory = malloc(SIZE);
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stack(attr, memory, SIZE));
}

static void end_attr(void)
{
    must(ABT_thread_attr_free(&attr));
    free(memory);
    memory = NULL;
    end();
}

static int create_with_attr(void)
{
    thread = UNTOUCHED(ABT_thread);
    return ABT_thread_create(pool, count_up, &ran, attr, &thread);
}

static int create_to_with_attr(void)
{
    thread = UNTOUCHED(ABT_thread);
    return ABT_thread_create_to(pool, count_up, &ran, attr, &thread);
}

/* --- What is called after a migration has a place of its own --- */

static void count_move(ABT_thread moved, void *arg)
{
}

static void begin_callback(void)
{
    begin();
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_callback(attr, count_move, NULL));
}

static void make_it(void)
{
    must(ABT_thread_create(pool, count_up, &ran, ABT_THREAD_ATTR_NULL, &thread));
}

static void begin_made(void)
{
    begin();
    make_it();
}

static void end_made(void)
{
    free_it();
    end();
}

static int set_callback(void)
{
    return ABT_thread_set_callback(thread, count_move, NULL);
}

static void make_anew(void)
{
    free_it();
    make_it();
}

static void free_started(void)
{
    expect(ran == 1, "the ULT has run already");
    free_it();
}

/* --- Several at once: those made before the failure stay --- */

enum { MANY = 200 };

static ABT_thread many[MANY];
static ABT_pool pools[MANY];
static void (*funcs[MANY])(void *);
static void *args[MANY];

static void begin_many(void)
{
    begin();
    for (int i = 0; i < MANY; i++) {
        pools[i] = pool;
        funcs[i] = count_up;
        args[i] = &ran;
    }
}

static int create_many(void)
{
    for (int i = 0; i < MANY; i++)
        many[i] = UNTOUCHED(ABT_thread);
    return ABT_thread_create_many(MANY, pools, funcs, args, ABT_THREAD_ATTR_NULL, many);
}

static void free_first(void)
{
    int num = 0;

    while (num < MANY && many[num] != UNTOUCHED(ABT_thread))
        num++;
    expect((int)total_size_of(pool) == num, "those that were made are in the pool");
    must(ABT_thread_free_many(num, many));
    expect(ran == num, "and run");
    for (int i = num; i < MANY; i++)
        expect_alone(many[i]);
    ran = 0;
}

/* Some descriptors are at hand. */
static void begin_some(void)
{
    begin_many();
    give_some_back(10);
}

/* --- Creating and switching: the stack is needed at once --- */

static int create_to(void)
{
    thread = UNTOUCHED(ABT_thread);
    return ABT_thread_create_to(pool, count_up, &ran, ABT_THREAD_ATTR_NULL, &thread);
}

static const struct fault_case cases[] = {
    {"ABT_thread_create", FAULT_EXTERNAL, create, no_thread, free_it, begin, end},
    {"ABT_thread_create_on_xstream", 0, create_on_xstream, no_thread, free_it, begin, end},
    {"ABT_thread_create, unnamed", FAULT_EXTERNAL, create_unnamed, no_unit, run_unnamed, begin, end},
    {"ABT_thread_create in a private pool", 0, create, no_thread, free_it, begin_private, end},
    {"ABT_task_create", FAULT_EXTERNAL, create_task, no_task, free_task, begin, end},
    {"ABT_task_create_on_xstream", 0, create_task_on_xstream, no_task, free_task, begin, end},
    {"ABT_task_create in a private pool", 0, create_task, no_task, free_task, begin_private, end},
    {"ABT_thread_create, large stack", FAULT_EXTERNAL | FAULT_HELPS, create_with_attr, no_thread, free_it, begin_big,
     end_attr},
    {"ABT_thread_create, user's stack", FAULT_EXTERNAL, create_with_attr, no_thread, free_it, begin_user_stack,
     end_attr},
    {"ABT_thread_create_many", 0, create_many, free_first, free_first, begin_many, end},
    {"ABT_thread_create_many, some", 0, create_many, free_first, free_first, begin_some, end},
    {"ABT_thread_create_to", FAULT_WAITS, create_to, no_thread, free_started, begin, end},
    {"ABT_thread_create_to, large stack", FAULT_HELPS, create_to_with_attr, no_thread, free_started, begin_big,
     end_attr},
    {"ABT_thread_create_to, user's stack", FAULT_WAITS, create_to_with_attr, no_thread, free_started, begin_user_stack,
     end_attr},
};

static const struct fault_case callback_cases[] = {
    {"ABT_thread_create, callback", FAULT_EXTERNAL, create_with_attr, no_thread, free_it, begin_callback, end_attr},
    {"ABT_thread_set_callback", FAULT_EXTERNAL, set_callback, NULL, make_anew, begin_made, end_made},
};

static bool can_migrate(void)
{
    bool can;

    must(ABT_init(0, NULL));
    can = has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION);
    must(ABT_finalize());
    return can;
}

/* Sizes that no memory can have. */
static void test_huge(void)
{
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX - 70000, SIZE_MAX / 2};
    struct fault_live before, after;

    must(ABT_init(0, NULL));
    must(ABT_thread_attr_create(&attr));
    before = fault_live();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        must(ABT_thread_attr_set_stacksize(attr, sizes[i]));
        thread = UNTOUCHED(ABT_thread);
        ok_err(ABT_thread_create(own_pool(), count_up, &ran, attr, &thread), ABT_ERR_MEM);
        expect_out(thread, ABT_THREAD_NULL);
    }
    after = fault_live();
    ok(fault_same(before, after), "nothing is lost");
    must(ABT_thread_attr_free(&attr));
    must(ABT_finalize());
}

int main(void)
{
    fault_begin();
    fault_run_all(cases);
    if (can_migrate())
        fault_run_all(callback_cases);
    test_huge();
    return done_testing();
}

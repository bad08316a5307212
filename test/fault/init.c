/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_init and ABT_finalize without memory. */
#include "cases.h"

static int init(void)
{
    return ABT_init(0, NULL);
}

static void is_not_up(void)
{
    ABT_xstream xstream;

    expect(ABT_initialized() == ABT_ERR_UNINITIALIZED, "the library is not up");
    expect(ABT_finalize() == ABT_ERR_UNINITIALIZED, "nothing is to be finalised");
    if (!ABT_NULL && !ver20)
        expect(ABT_xstream_self(&xstream) == ABT_ERR_UNINITIALIZED, "the caller is no stream");
}

static void use_and_finalize(void)
{
    atomic_int ran = 0;
    ABT_thread thread = ult_in(own_pool(), count_up, &ran);

    must(ABT_thread_free(&thread));
    expect(ran == 1, "a ULT has run");
    must(ABT_finalize());
}

static const struct fault_case init_case = {
    "ABT_init", FAULT_BARE | FAULT_BRIEF, init, is_not_up, use_and_finalize, NULL, NULL};

static void *init_elsewhere(void *arg)
{
    struct fault_case c = init_case;

    c.name = arg;
    c.flags |= FAULT_HELPS;
    fault_run(&c);
    return NULL;
}

/* The primary ULT need not be the process's first thread: others ask the C library for their
 * stack, and do without an answer. */
static void test_init_elsewhere(void)
{
    pthread_t native;

    must(pthread_create(&native, NULL, init_elsewhere, "ABT_init in another thread"));
    must(pthread_join(native, NULL));
}

static void test_init_with_affinity(void)
{
    struct fault_case c = init_case;

    c.name = "ABT_init with a list of CPUs";
    setenv("ABT_SET_AFFINITY", "{0,1:2:1}:3:2,{4},5", 1);
    fault_run(&c);
    unsetenv("ABT_SET_AFFINITY");
}

/* Calls that only count need nothing. */
static void test_nested(void)
{
    must(ABT_init(0, NULL));
    fault_arm(1, FAULT_FROM);
    ok_abt(ABT_init(0, NULL));
    ok_abt(ABT_finalize());
    ok(!fault_disarm(), "nested calls ask for nothing");
    must(ABT_finalize());
}

enum { NUM = 300 };

static atomic_int ended;

static void yield_and_count(void *arg)
{
    ABT_self_yield();
    ABT_self_yield();
    count_up(&ended);
}

/* All is given back without any memory to do it with, and work that was left is done. */
static void test_finalize(void)
{
    struct fault_live before = fault_live();
    ABT_xstream xstream;
    ABT_thread threads[NUM];

    must(ABT_init(0, NULL));
    xstream = new_xstream();
    ended = 0;
    for (int i = 0; i < NUM; i++)
        threads[i] = ult_in(i % 2 ? own_pool() : pool_of(xstream), yield_and_count, NULL);
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_create(own_pool(), yield_and_count, NULL, ABT_THREAD_ATTR_NULL, NULL));
    ABT_self_yield(); /* those here have their stacks now */
    must(ABT_thread_join_many(NUM, threads));
    fault_arm(1, FAULT_FROM);
    ok_abt(ABT_thread_free_many(NUM, threads));
    ok_abt(ABT_xstream_free(&xstream));
    ok_abt(ABT_finalize());
    fault_disarm();
    is_int(ended, 2 * NUM, "finalize without memory lets all units end");
    struct fault_live after = fault_live();
    if (!ok(fault_same(before, after), "and nothing is left"))
        fault_show(before, after);
}

int main(void)
{
    fault_begin();
    fault_run(&init_case);
    test_init_elsewhere();
    test_init_with_affinity();
    test_nested();
    test_finalize();
    return done_testing();
}

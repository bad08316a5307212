/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

static bool is_ready(ABT_future future)
{
    ABT_bool ready = 7;

    ok_abt(ABT_future_test(future, &ready));
    return ready == ABT_TRUE;
}

/* --- The callback --- */

static int times_called, values_seen[3];

static void see_values(void **values)
{
    times_called++;
    for (int i = 0; i < 3; i++)
        values_seen[i] = *(int *)values[i];
}

static void check_compartments(enum caller who, void *arg)
{
    ABT_future future = ABT_FUTURE_NULL;
    int one = 1, two = 2, three = 3;
    int code = may_wait(who) ? ABT_SUCCESS : ABT_ERR_FUTURE;

    times_called = 0;
    ok_abt(ABT_future_create(3, see_values, &future));
    for (int round = 1; round <= 2; round++) {
        ok_abt(ABT_future_set(future, &three));
        ok_abt(ABT_future_set(future, &one));
        ok(!is_ready(future) && times_called == round - 1, "not all set");
        ok_abt(ABT_future_set(future, &two));
        is_int(times_called, round, "the callback ran once");
        ok(values_seen[0] == 3 && values_seen[1] == 1 && values_seen[2] == 2, "values in the order of calls");
        ok(is_ready(future), "ready");
        is_int(ABT_future_wait(future), code, "wait");
        ok_err(ABT_future_set(future, &one), ABT_ERR_FUTURE);
        ok_abt(ABT_future_reset(future));
        ok(!is_ready(future), "reset");
    }
    ok_abt(ABT_future_free(&future));
    is_ptr(future, ABT_FUTURE_NULL, "null after free");
}

static void check_none(enum caller who, void *arg)
{
    ABT_future future;

    ok_abt(ABT_future_create(0, see_values, &future));
    ok(is_ready(future), "nothing to set");
    is_int(ABT_future_wait(future), may_wait(who) ? ABT_SUCCESS : ABT_ERR_FUTURE, "wait");
    ok_err(ABT_future_set(future, NULL), ABT_ERR_FUTURE);
    ok_abt(ABT_future_reset(future));
    ok(is_ready(future), "as before");
    ok_abt(ABT_future_free(&future));
    ok_abt(ABT_future_create(1, NULL, &future));
    ok_abt(ABT_future_set(future, NULL));
    ok(is_ready(future), "without a callback");
    ok_abt(ABT_future_free(&future));
}

/* A ULT of the caller's own pool, which is yielded to. */
struct passage {
    ABT_future future;
    atomic_int passed;
};

static void pass_future(void *arg)
{
    struct passage *p = arg;

    must(ABT_future_wait(p->future));
    count_up(&p->passed);
}

static void test_own(void)
{
    struct passage p = {.future = ABT_FUTURE_NULL};
    struct activity a;

    ok_abt(ABT_future_create(2, NULL, &p.future));
    ok(p.future && p.future != ABT_FUTURE_NULL, "a future");
    start(&a, PLAIN_ULT, pass_future, &p);
    must(ABT_future_set(p.future, NULL));
    yield_a_while();
    is_int(p.passed, 0, "all values are waited for");
    must(ABT_future_set(p.future, NULL));
    yield_a_while();
    is_int(p.passed, 1, "until the last is set");
    finish(&a);
    ok_abt(ABT_future_free(&p.future));
}

/* --- Many who set it and many who wait --- */

enum { GROUP = 24 };

struct shared {
    ABT_future future;
    atomic_int called;
    atomic_int passed;
};

static struct shared shared;

static void see_all(void **values)
{
    int sum = 0;

    for (int i = 0; i < GROUP; i++)
        sum += *(int *)values[i];
    is_int(sum, GROUP * (GROUP - 1) / 2, "all values");
    nap_ms(2);
    is_int(atomic_load(&shared.passed), 0, "nobody passes before the callback has ended");
    atomic_fetch_add(&shared.called, 1);
}

static void set_one(void *number)
{
    if (ABT_future_set(shared.future, number) != ABT_SUCCESS)
        fail("set");
}

static void wait_here(void *arg)
{
    is_int(ABT_future_wait(shared.future), 0, "wait");
    is_int(atomic_load(&shared.called), 1, "after the callback");
    atomic_fetch_add(&shared.passed, 1);
}

static void test_group(void)
{
    static const enum caller setters[] = {PLAIN_ULT, EXTERNAL, SECONDARY_ULT, TASKLET};
    struct activity waiting[9], setting[GROUP];
    int numbers[GROUP];

    atomic_store(&shared.called, 0);
    atomic_store(&shared.passed, 0);
    must(ABT_future_create(GROUP, see_all, &shared.future));
    for (int i = 0; i < 9; i++)
        start(&waiting[i], setters[i % 3], wait_here, NULL);
    wait_until_asleep(&waiting[0]);
    for (int i = 0; i < GROUP; i++) {
        numbers[i] = i;
        start(&setting[i], setters[i % 4], set_one, &numbers[i]);
    }
    for (int i = 0; i < GROUP; i++)
        finish(&setting[i]);
    for (int i = 0; i < 9; i++)
        finish(&waiting[i]);
    is_int(atomic_load(&shared.passed), 9, "everybody woke up");
    ok_abt(ABT_future_free(&shared.future));
}

int main(void)
{
    check_compartments(EXTERNAL, NULL); /* before ABT_init */
    sync_init();
    call_as_each(check_compartments, NULL);
    call_as_each(check_none, NULL);
    test_own();
    for (int i = 0; i < 10; i++)
        test_group();
    sync_fini();
    return done_testing();
}

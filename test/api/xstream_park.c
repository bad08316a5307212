/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_xstream_park_until, ABTX_xstream_wake: user-defined schedulers that sleep. */
#include "user_pool.h"

#include <abt_fork.h>
#include <math.h>
#include <sched.h>

/* --- A scheduler over any pools that parks when it has nothing to do --- */

enum { MAX_POOLS = 20 };

struct plan {
    bool backwards; /* looks at its last pool first */
    bool on;        /* park on `pools`, which are looked at besides the scheduler's own */
    int num;
    ABT_pool pools[MAX_POOLS];
    double sleep;       /* deadline from now; negative: none */
    atomic_int parks;   /* how often it has come back */
    atomic_int parking; /* it is in the call, or about to be */
};

static struct plan *next_plan;

static int plan_init(ABT_sched sched, ABT_sched_config config)
{
    return ABT_sched_set_data(sched, next_plan);
}

static const ABT_pool none; /* the address of no pools */

static bool run_one_of(int num, const ABT_pool *pools)
{
    for (int i = 0; i < num; i++) {
        ABT_thread thread = ABT_THREAD_NULL;
        must(ABT_pool_pop_thread(pools[i], &thread));
        if (thread != ABT_THREAD_NULL) {
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
            return true;
        }
    }
    return false;
}

static void park(struct plan *plan)
{
    int64_t deadline = plan->sleep < 0 ? ABTX_FOREVER : ABTX_after((int64_t)(plan->sleep * 1e9));

    atomic_store(&plan->parking, 1);
    must(ABTX_xstream_park_until(plan->num, plan->on ? plan->pools : NULL, deadline));
    atomic_store(&plan->parking, 0);
    count_up(&plan->parks);
}

static void plan_run(ABT_sched sched)
{
    ABT_pool own[MAX_POOLS];
    ABT_bool stop = ABT_FALSE;
    struct plan *plan;
    void *data;
    int num;

    must(ABT_sched_get_data(sched, &data));
    must(ABT_sched_get_num_pools(sched, &num));
    must(ABT_sched_get_pools(sched, num, 0, own));
    plan = data;
    for (int i = 0; plan->backwards && i < num / 2; i++) {
        ABT_pool pool = own[i];
        own[i] = own[num - 1 - i];
        own[num - 1 - i] = pool;
    }
    while (!stop) {
        bool ran = run_one_of(num, own) || (plan->on && run_one_of(plan->num, plan->pools));
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
        if (!stop && !ran)
            park(plan);
    }
}

static ABT_sched plan_sched(struct plan *plan, int num, ABT_pool *pools)
{
    ABT_sched_def def = {.init = plan_init, .run = plan_run};

    next_plan = plan;
    return automatic_sched(&def, num, pools);
}

static ABT_xstream plan_xstream(struct plan *plan, int num, ABT_pool *pools)
{
    ABT_xstream es = ABT_XSTREAM_NULL;

    must(ABT_xstream_create(plan_sched(plan, num, pools), &es));
    return es;
}

/* It is in the call and has had time to sleep. */
static void let_it_park(struct plan *plan)
{
    wait_for(atomic_load(&plan->parking));
    nap_ms(2);
}

/* --- Pushes --- */

static void test_pushes(ABT_pool_kind kind, int num_pools)
{
    struct plan plan = {.sleep = -1};
    ABT_pool pools[MAX_POOLS];
    atomic_int ran = 0;
    ABT_xstream es;

    for (int i = 0; i < num_pools; i++)
        pools[i] = new_pool(kind, ABT_TRUE);
    es = plan_xstream(&plan, num_pools, pools);
    for (int i = 0; i < 12; i++) {
        let_it_park(&plan);
        must(ABT_task_create(pools[i % num_pools], count_up, &ran, NULL));
        wait_for(atomic_load(&ran) == i + 1);
    }
    pass("a push to any of %d pools of kind %d ends the sleep", num_pools, kind);
    let_it_park(&plan);
    int parks = atomic_load(&plan.parks);
    double share = cpu_share(CLOCK_PROCESS_CPUTIME_ID, 200, 0.1);
    ok(policy_is_active() || share < 0.1, "an idle ES sleeps: %.2f %% of a CPU", share * 100);
    is_int(atomic_load(&plan.parks), parks, "and does not wake for nothing");
    must(ABT_xstream_free(&es));
}

static void test_user_pools(bool old)
{
    struct plan plan = {.sleep = -1};
    struct list list;
    ABT_pool pool = make(old, &list);
    atomic_int ran = 0;
    ABT_xstream es = plan_xstream(&plan, 1, &pool);

    for (int i = 0; i < 5; i++) {
        let_it_park(&plan);
        ABT_thread ult = ult_in(pool, count_up, &ran);
        must(ABT_thread_free(&ult));
    }
    is_int(atomic_load(&ran), 5, "user-defined pools too, %s interface", old ? "old" : "new");
    must(ABT_xstream_free(&es));
    must(ABT_pool_free(&pool));
}

/* A unit that the pool's owner puts in by itself. */
static void test_behind(bool predefined)
{
    struct plan plan = {.sleep = -1};
    struct list list;
    ABT_pool pool = make(false, &list);
    atomic_int ran = 0;
    ABT_xstream es;
    ABT_thread ult = ult_in(pool, count_up, &ran);
    ABT_unit unit;

    must(ABT_pool_pop(pool, &unit));
    if (predefined)
        must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
    else
        es = plan_xstream(&plan, 1, &pool);
    nap_ms(50);
    double share = cpu_share(CLOCK_PROCESS_CPUTIME_ID, 200, 0.15);
    ok(policy_is_active() || share < 0.15, "looking at a user-defined pool costs little: %.2f %% of a CPU",
       share * 100);
    list_push(&list, unit, 0);
    wait_for(atomic_load(&ran) == 1);
    pass("a unit that comes behind the library's back is found");
    must(ABT_thread_free(&ult));
    must(ABT_xstream_free(&es));
    must(ABT_pool_free(&pool));
}

/* Blocked units come back by a resume. */
static void test_resume(void)
{
    struct plan plan = {.sleep = -1};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    atomic_int ran = 0;
    ABT_xstream es = plan_xstream(&plan, 1, &pool);
    ABT_thread ult = ult_in(pool, suspend_once, &ran);

    wait_for(state_of(ult) == ABT_THREAD_STATE_BLOCKED);
    let_it_park(&plan);
    must(ABT_thread_resume(ult));
    must(ABT_thread_free(&ult));
    is_int(atomic_load(&ran), 1, "a resume ends the sleep");
    must(ABT_xstream_free(&es));
}

/*
 * A stream is woken for a unit, finds another one that came before it slept, and is busy with that: somebody else must
 * take the unit. The second pool makes it happen when it is asked whether it is empty, in the middle of going to sleep.
 */
static struct trap {
    atomic_bool set;
    ABT_pool shared, own;
    atomic_int ran;
} trap;

static void until_other_ran(void *arg)
{
    wait_for(atomic_load(&trap.ran) == 1);
}

static ABT_bool trap_is_empty(ABT_pool pool)
{
    if (atomic_exchange(&trap.set, false)) {
        must(ABT_task_create(trap.shared, count_up, &trap.ran, NULL));
        must(ABT_task_create(trap.own, until_other_ran, NULL, NULL));
    }
    return new_is_empty(pool);
}

static void test_shared(bool tells_size)
{
    struct plan first = {.backwards = true, .sleep = -1}, second = {.sleep = -1};
    struct list list;
    ABT_pool_user_def def;

    list_init(&list);
    next_list = &list;
    must(ABT_pool_user_def_create(new_create_unit, new_free_unit, trap_is_empty, new_pop, new_push, &def));
    must(ABT_pool_user_def_set_init(def, new_init));
    must(ABT_pool_user_def_set_get_size(def, tells_size ? new_get_size : NULL));
    trap.shared = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    atomic_store(&trap.ran, 0);
    must(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &trap.own));
    must(ABT_pool_user_def_free(&def));
    ABT_pool others[2] = {new_pool(ABT_POOL_FIFO, ABT_TRUE), trap.shared}, pools[2] = {trap.shared, trap.own};
    ABT_xstream es[2] = {plan_xstream(&second, 2, others), ABT_XSTREAM_NULL};
    let_it_park(&second);
    atomic_store(&trap.set, true);
    es[1] = plan_xstream(&first, 2, pools);
    wait_for(atomic_load(&trap.ran) == 1);
    pass("a unit that one stream was woken for and does not take is taken by another one");
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_free(&es[i]));
    must(ABT_pool_free(&trap.own));
    must(ABT_pool_free(&trap.shared));
}

/* --- Deadlines --- */

static void test_deadlines(void)
{
    struct plan plan = {.sleep = 0.02};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    double start = now();
    ABT_xstream es = plan_xstream(&plan, 1, &pool);

    wait_for(atomic_load(&plan.parks) >= 10);
    double took = now() - start;
    ok(took >= 0.19, "ten sleeps of 20 ms take 200 ms: %.1f ms", took * 1e3);
    must(ABT_xstream_free(&es));

    plan = (struct plan){.sleep = 0};
    pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    es = plan_xstream(&plan, 1, &pool);
    wait_for(atomic_load(&plan.parks) >= 1000);
    pass("a deadline that is over does not sleep");
    must(ABT_xstream_free(&es));
}

/* --- Requests --- */

static void test_requests(void)
{
    ABT_sched sched;

    for (int way = 0; way < 4; way++) {
        struct plan plan = {.sleep = -1}, other = {.sleep = -1};
        ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_TRUE), pool2;
        ABT_xstream es = plan_xstream(&plan, 1, &pool);
        ABT_xstream_state state;
        let_it_park(&plan);
        switch (way) {
        case 0: break;
        case 1:
            must(ABT_xstream_cancel(es));
            wait_for(ABT_xstream_get_state(es, &state) == 0 && state == ABT_XSTREAM_STATE_TERMINATED);
            break;
        case 2:
            must(ABT_xstream_get_main_sched(es, &sched));
            must(ABT_sched_finish(sched));
            wait_for(ABT_xstream_get_state(es, &state) == 0 && state == ABT_XSTREAM_STATE_TERMINATED);
            break;
        case 3:
            /* Joined, given another scheduler, revived. */
            must(ABT_xstream_join(es));
            pool2 = new_pool(ABT_POOL_FIFO, ABT_TRUE);
            must(ABT_xstream_set_main_sched(es, plan_sched(&other, 1, &pool2)));
            must(ABT_xstream_revive(es));
            let_it_park(&other);
            break;
        }
        must(ABT_xstream_free(&es));
        pass("a request ends the sleep, number %d", way);
    }
}

static void stacks_were_printed(ABT_bool timed_out, void *arg)
{
    atomic_store((atomic_bool *)arg, true);
}

static void test_dump(void)
{
    struct plan plan = {.sleep = -1};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    ABT_xstream es = plan_xstream(&plan, 1, &pool);
    atomic_bool printed = false;
    FILE *fp = tmpfile();

    let_it_park(&plan);
    must(ABT_info_trigger_print_all_thread_stacks(fp, -1.0, stacks_were_printed, &printed));
    wait_for(atomic_load(&printed));
    pass("a stack dump does");
    must(ABT_xstream_free(&es));
    fclose(fp);
}

/* --- Other pools --- */

static void test_park_on_sleeps(void)
{
    struct plan plan = {.on = true, .num = 1, .sleep = -1};
    ABT_pool own = new_pool(ABT_POOL_FIFO, ABT_TRUE);

    plan.pools[0] = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_xstream es = plan_xstream(&plan, 1, &own);
    let_it_park(&plan);
    int before = atomic_load(&plan.parks);
    nap_ms(50);
    ok(atomic_load(&plan.parks) - before < 10, "who parks on other pools sleeps");
    must(ABT_xstream_free(&es));
    must(ABT_pool_free(&plan.pools[0]));
}

static void test_park_on(int num)
{
    struct plan plan = {.on = true, .num = num, .sleep = -1};
    ABT_pool own = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    atomic_int ran = 0;
    ABT_xstream es;

    for (int i = 0; i < num; i++)
        plan.pools[i] = new_pool(i % 2 ? ABT_POOL_RANDWS : ABT_POOL_FIFO, ABT_FALSE);
    es = plan_xstream(&plan, 1, &own);
    for (int i = 0; i < 2 * num; i++) {
        let_it_park(&plan);
        must(ABT_task_create(plan.pools[i % num], count_up, &ran, NULL));
        wait_for(atomic_load(&ran) == i + 1);
    }
    pass("a push to any of %d other pools ends the sleep", num);
    for (int i = 0; i < 5; i++) {
        let_it_park(&plan);
        int before = atomic_load(&plan.parks);
        must(ABTX_xstream_wake(es));
        wait_for(atomic_load(&plan.parks) > before);
    }
    pass("and so does a wake");
    must(ABT_xstream_free(&es));
    for (int i = 0; i < num; i++)
        must(ABT_pool_free(&plan.pools[i]));
}

/* Work that the library knows nothing of, and a wake for it: none is lost, however the two meet. */
struct mailbox {
    atomic_int letters;
    int taken;
};

static void mailbox_run(ABT_sched sched)
{
    ABT_bool stop = ABT_FALSE;
    void *data;

    must(ABT_sched_get_data(sched, &data));
    struct mailbox *box = data;
    while (!stop) {
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
        int letters = atomic_exchange(&box->letters, 0);
        box->taken += letters;
        if (!stop && !letters)
            must(ABTX_xstream_park_until(0, &none, ABTX_FOREVER));
    }
}

static void test_wake(void)
{
    enum { LETTERS = 20000 };
    ABT_sched_def def = {.run = mailbox_run};
    struct mailbox box = {0, 0};
    ABT_sched sched;
    ABT_xstream es;

    must(ABT_sched_create(&def, 0, NULL, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_sched_set_data(sched, &box));
    must(ABT_xstream_create(sched, &es));
    for (int i = 0; i < LETTERS; i++) {
        atomic_fetch_add(&box.letters, 1);
        must(ABTX_xstream_wake(es));
        for (int j = 0; atomic_load(&box.letters) && j < 1000000000; j++) {
            if (j % 1000 == 999)
                sched_yield();
        }
        if (atomic_load(&box.letters))
            break;
    }
    must(ABT_xstream_free(&es));
    is_int(box.taken, LETTERS, "no wake is lost");
    must(ABT_sched_free(&sched));
}

/* --- Forked tasks --- */

ABTX_TASK(int, task_rank, (int, unused))
{
    int rank;

    (void)abtx_here, (void)unused;
    must(ABT_xstream_self_rank(&rank));
    return rank;
}

ABTX_TASK(int, fork_until_taken, (int, unused))
{
    int rank = 0;

    for (int i = 0; i < 20000 && rank == 0; i++) {
        ABTX_FORK(task_rank, task, 0);
        nap_ms(1);
        rank = ABTX_JOIN(task_rank, task);
    }
    return rank;
}

static void test_forked(void)
{
    struct plan plan = {.sleep = -1};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    ABT_xstream es = plan_xstream(&plan, 1, &pool);

    let_it_park(&plan);
    must(ABTX_fork_start(1, &es));
    ok(ABTX_RUN(fork_until_taken, 0) > 0, "a scheduler that parks takes forked tasks");
    must(ABTX_fork_stop());
    must(ABT_xstream_free(&es));
}

/* --- Who may call --- */

static void test_callers(enum caller who, void *arg)
{
    int code = code_for_ult(who, ABT_ERR_INV_THREAD);

    if (is_left_out(false))
        return;
    ok_err(ABTX_xstream_park_until(0, NULL, 0), code);
    ok_err(ABTX_xstream_park_until(0, &none, 0), code);
    ok_err(ABTX_xstream_wake(ABT_XSTREAM_NULL), ABT_ERR_INV_XSTREAM);
    ok_err(ABTX_xstream_wake(NULL), ABT_ERR_INV_XSTREAM);
}

static void wrong_run(ABT_sched sched)
{
    static bool done;
    ABT_pool pools[2] = {ABT_POOL_NULL, NULL};

    if (done) /* a run function that returns is called again until its stream is joined */
        return;
    done = true;
    ok_err(ABTX_xstream_park_until(-1, pools, 0), ABT_ERR_INV_ARG);
    ok_err(ABTX_xstream_park_until(1, pools, 0), ABT_ERR_INV_POOL);
    ok_err(ABTX_xstream_park_until(1, pools + 1, 0), ABT_ERR_INV_POOL);
    ok_abt(ABTX_xstream_park_until(0, pools, INT64_MIN));
    ok_abt(ABTX_xstream_park_until(0, NULL, 0));
}

static void test_arguments(void)
{
    ABT_sched_def def = {.run = wrong_run};
    ABT_sched sched;
    ABT_xstream es;

    if (is_left_out(false))
        return;
    must(ABT_sched_create(&def, 0, NULL, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &es));
    must(ABT_xstream_free(&es));
    must(ABT_sched_free(&sched));
}

int main(void)
{
    must(ABT_init(0, NULL));
    test_park_on_sleeps();
    for (int num = 1; num <= 4; num *= 2)
        test_pushes(num == 2 ? ABT_POOL_RANDWS : ABT_POOL_FIFO, num);
    test_user_pools(false);
    test_user_pools(true);
    test_behind(false);
    test_behind(true);
    test_resume();
    test_shared(true);
    test_shared(false);
    test_deadlines();
    test_requests();
    test_dump();
    test_park_on(1);
    test_park_on(3);
    test_park_on(MAX_POOLS);
    test_wake();
    test_forked();
    call_as_each(test_callers, NULL);
    test_arguments();
    must(ABT_finalize());
    return done_testing();
}

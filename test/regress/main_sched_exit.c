/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ULT of a main scheduler calls ABT_xstream_exit, ABT_self_exit or ABT_thread_exit in the middle of its run: it
 * does not come back, and its ES is terminated. (They returned, with an error or without.)
 */
#include "regress.h"

static int (*leave)(void); /* what the scheduler is to call next; NULL: to go on */
static atomic_int runs, came_back, work_done;

static void run(ABT_sched sched)
{
    ABT_pool pool;
    ABT_bool stop = ABT_FALSE;

    atomic_fetch_add(&runs, 1);
    must(ABT_sched_get_pools(sched, 1, 0, &pool));
    while (stop == ABT_FALSE) {
        ABT_thread thread;
        must(ABT_pool_pop_wait_thread(pool, &thread, 0.001));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        if (leave) {
            leave();
            atomic_fetch_add(&came_back, 1);
        }
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static void work(void *arg)
{
    atomic_fetch_add(&work_done, 1);
}

static void ask_to_leave(void *func)
{
    leave = ((int (**)(void))func)[0];
}

static bool is_terminated(ABT_xstream es)
{
    ABT_xstream_state state;

    must(ABT_xstream_get_state(es, &state));
    return state == ABT_XSTREAM_STATE_TERMINATED;
}

static void test_exit(int (*how)(void), const char *name)
{
    ABT_sched_def def = {.run = run};
    ABT_pool pool = make_pool(ABT_POOL_ACCESS_MPMC);
    ABT_sched sched;
    ABT_xstream es;
    ABT_thread threads[2];

    diag("%s", name);
    atomic_store(&runs, 0);
    atomic_store(&work_done, 0);
    leave = NULL;
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &es));
    must(ABT_thread_create(pool, ask_to_leave, &how, ABT_THREAD_ATTR_NULL, &threads[0]));
    must(ABT_thread_free(&threads[0]));
    while (!is_terminated(es))
        nap_ms(1);
    ok_abt(ABT_xstream_join(es));
    is_int(atomic_load(&came_back), 0, "it does not come back");
    is_int(atomic_load(&runs), 1, "it is not run again");

    /* Units stay in the pools, and run when the ES is revived. */
    leave = NULL;
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(pool, work, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    is_int(atomic_load(&work_done), 0, "nobody runs them");
    ok_abt(ABT_xstream_revive(es));
    must(ABT_thread_free_many(2, threads));
    is_int(atomic_load(&work_done), 2, "the revived ES runs them");
    ok_abt(ABT_xstream_free(&es));
    is_int(atomic_load(&runs), 2, "one run more");
    must(ABT_sched_free(&sched));
}

/* A ULT that waits for a new scheduler goes on though the old one goes without it. */
static void replace(void *replaced)
{
    ABT_xstream es;

    must(ABT_xstream_self(&es));
    leave = ABT_self_exit;
    must(ABT_xstream_set_main_sched(es, ABT_SCHED_NULL));
    atomic_fetch_add((atomic_int *)replaced, 1);
}

static void test_exit_when_replaced(void)
{
    ABT_sched_def def = {.run = run};
    ABT_pool pool = make_pool(ABT_POOL_ACCESS_MPMC);
    ABT_sched sched;
    ABT_xstream es;
    atomic_int replaced = 0;

    leave = NULL;
    must(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &es));
    ABT_thread thread = ult_in(pool, replace, &replaced);
    while (!is_terminated(es))
        nap_ms(1);
    ok_abt(ABT_xstream_join(es));
    ok_abt(ABT_sched_free(&sched)); /* not the ES's any more */
    ok_abt(ABT_xstream_revive(es));
    must(ABT_thread_free(&thread));
    is_int(atomic_load(&replaced), 1, "who waited for the new scheduler runs on it");
    ok_abt(ABT_xstream_free(&es));
}

int main(void)
{
    regress_begin();
    must(ABT_init(0, NULL));
    test_exit(ABT_xstream_exit, "ABT_xstream_exit");
    test_exit(ABT_self_exit, "ABT_self_exit");
    test_exit(ABT_thread_exit, "ABT_thread_exit");
    test_exit_when_replaced();
    must(ABT_finalize());
    return done_testing();
}

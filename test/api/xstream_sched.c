/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_xstream_set_main_sched, ABT_xstream_set_main_sched_basic: replacing the main scheduler in all cases. */
#include "user_pool.h"

/* A user-defined scheduler over its first pool, which tells how often it was entered and freed. */
struct log {
    atomic_int inits, runs, frees;
};

static struct log *next_log;

static int log_init(ABT_sched sched, ABT_sched_config config)
{
    count_up(&next_log->inits);
    return ABT_sched_set_data(sched, next_log);
}

static void log_run(ABT_sched sched)
{
    void *log;

    must(ABT_sched_get_data(sched, &log));
    count_up(&((struct log *)log)->runs);
    run_until_stop(sched);
}

static int log_free(ABT_sched sched)
{
    void *log;

    must(ABT_sched_get_data(sched, &log));
    count_up(&((struct log *)log)->frees);
    return ABT_ERR_OTHER; /* is ignored */
}

static ABT_sched user_sched(ABT_pool pool, struct log *log, int automatic)
{
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_TASK, .init = log_init, .run = log_run, .free = log_free};
    ABT_sched_config config;
    ABT_sched sched = ABT_SCHED_NULL;

    next_log = log;
    must(ABT_sched_config_create(&config, ABT_sched_config_automatic, automatic, ABT_sched_config_var_end));
    must(ABT_sched_create(&def, 1, &pool, config, &sched));
    must(ABT_sched_config_free(&config));
    return sched;
}

static ABT_sched main_sched_of(ABT_xstream xstream)
{
    ABT_sched sched = ABT_SCHED_NULL;

    must(ABT_xstream_get_main_sched(xstream, &sched));
    return sched;
}

/* Units run on the caller's ES, in its present main pool. */
static void check_it_runs(const char *what)
{
    atomic_int counter = 0;
    ABT_thread thread = ult_in(own_pool(), count_up, &counter);

    for (int i = 0; i < 10; i++)
        must(ABT_task_create(own_pool(), count_up, &counter, NULL));
    must(ABT_thread_free(&thread));
    wait_for(counter == 11);
    pass("%s: units run", what);
}

/* --- The caller's own ES: the primary ULT right after init, and a ULT of a secondary ES --- */

static void test_own(enum caller who, void *arg)
{
    const ABT_sched_predef kinds[] = {ABT_SCHED_DEFAULT, ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS,
                                      ABT_SCHED_BASIC_WAIT};
    struct log logs[2] = {{0}};
    ABT_xstream xstream = own_xstream();
    ABT_pool pools[2] = {new_pool(ABT_POOL_FIFO, ABT_TRUE), ABT_POOL_NULL}, pool;
    ABT_sched sched;

    (void)who, (void)arg;
    sched = user_sched(pools[0], &logs[0], ABT_FALSE);
    ok_abt(ABT_xstream_set_main_sched(xstream, sched));
    is_ptr(main_sched_of(xstream), sched, "a user's scheduler is installed");
    is_ptr(own_pool(), pools[0], "with its pool");
    is_ptr(last_pool_of(self()), pools[0], "the caller is in that pool now");
    check_it_runs("user-defined");
    is_int(logs[0].runs, 1, "by its run function");

    ok_abt(ABT_xstream_set_main_sched(xstream, ABT_SCHED_NULL));
    ok(main_sched_of(xstream) != sched, "a new default scheduler");
    is_int(logs[0].frees, 0, "the old one was not automatic");
    check_it_runs("default");
    ok_abt(ABT_xstream_set_main_sched(xstream, sched));
    is_ptr(main_sched_of(xstream), sched, "so it can be used again");
    check_it_runs("again");

    pools[1] = new_pool(ABT_POOL_FIFO, ABT_TRUE);
    ok_abt(ABT_xstream_set_main_sched(xstream, user_sched(pools[1], &logs[1], ABT_TRUE)));
    is_ptr(last_pool_of(self()), pools[1], "the caller moves along");
    must(ABT_sched_free(&sched));
    is_int(logs[0].frees, 1, "the replaced one belongs to the user");
    for (int i = 0; i < 5; i++) {
        ok_abt(ABT_xstream_set_main_sched_basic(xstream, kinds[i], 77, NULL));
        check_it_runs("predefined");
    }
    is_int(logs[1].frees, 1, "an automatic one was freed when it was replaced");
    pool = new_pool(ABT_POOL_FIFO_WAIT, ABT_TRUE);
    ok_abt(ABT_xstream_set_main_sched_basic(xstream, ABT_SCHED_BASIC, 1, &pool));
    is_ptr(own_pool(), pool, "with a pool of the user's");
    check_it_runs("with a given pool");
    ok_abt(ABT_xstream_set_main_sched(xstream, ABT_SCHED_NULL));
}

struct move {
    ABT_pool pool;
    atomic_int counter;
    int at_return;
};

static void replace(void *arg)
{
    struct move *move = arg;

    ok_abt(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_BASIC, 1, &move->pool));
    move->at_return = atomic_load(&move->counter);
    is_ptr(last_pool_of(self()), move->pool, "in the new pool");
    is_ptr(own_pool(), move->pool, "which is the ES's");
}

/* What waits in a pool of nobody else's runs before the scheduler goes. */
static void test_old_pool_first(void)
{
    struct move move = {.pool = new_pool(ABT_POOL_FIFO, ABT_FALSE)};
    ABT_pool old = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread = ult_in(old, replace, &move);
    ABT_xstream xstream;

    for (int i = 0; i < 100; i++)
        must(ABT_thread_create(old, count_up, &move.counter, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &old, ABT_SCHED_CONFIG_NULL, &xstream));
    must(ABT_thread_free(&thread));
    is_int(move.at_return, 100, "the old pool was emptied first");
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&old));
    must(ABT_pool_free(&move.pool));
}

/* A blocked ULT counts as well, when the pool is served by nobody else. */
static void *resume_later(void *thread)
{
    nap_ms(5);
    ABT_thread_resume(thread);
    return NULL;
}

static void test_blocked_first(void)
{
    struct move move = {.pool = new_pool(ABT_POOL_FIFO, ABT_FALSE)};
    ABT_pool old = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_xstream xstream;
    ABT_thread blocked, thread;
    pthread_t native;

    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &old, ABT_SCHED_CONFIG_NULL, &xstream));
    blocked = ult_in(old, suspend_once, &move.counter);
    wait_for(state_of(blocked) == ABT_THREAD_STATE_BLOCKED);
    must(pthread_create(&native, NULL, resume_later, blocked));
    thread = ult_in(old, replace, &move);
    must(ABT_thread_free(&thread));
    is_int(move.at_return, 1, "the replacement waited for the blocked ULT");
    pthread_join(native, NULL);
    must(ABT_thread_free(&blocked));
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&old));
    must(ABT_pool_free(&move.pool));
}

/* A second request before the first is served takes its place. The first one's pool may go with its scheduler. */
struct rivals {
    ABT_sched first, second;
    atomic_int returned;
};

static void ask_for_second(void *arg)
{
    struct rivals *rivals = arg;

    ok_abt(ABT_xstream_set_main_sched(own_xstream(), rivals->second));
    count_up(&rivals->returned);
}

static void ask_for_first(void *arg)
{
    struct rivals *rivals = arg;

    ok_abt(ABT_xstream_set_main_sched(own_xstream(), rivals->first));
    count_up(&rivals->returned);
}

static void test_two_requests(bool of_one_pool)
{
    struct log logs[2] = {{0}};
    ABT_pool old = new_pool(ABT_POOL_FIFO, ABT_FALSE), pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_pool first_pool = of_one_pool ? pool : new_pool(ABT_POOL_FIFO, ABT_TRUE);
    struct rivals rivals = {.first = user_sched(first_pool, &logs[0], ABT_TRUE),
                            .second = user_sched(pool, &logs[1], ABT_TRUE)};
    ABT_thread threads[2] = {ult_in(old, ask_for_first, &rivals), ult_in(old, ask_for_second, &rivals)};
    ABT_xstream xstream;

    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &old, ABT_SCHED_CONFIG_NULL, &xstream));
    must(ABT_thread_free_many(2, threads));
    is_int(atomic_load(&rivals.returned), 2, "both callers go on");
    is_ptr(main_sched_of(xstream), rivals.second, "the second scheduler is installed");
    is_int(logs[0].frees, 1, "the first is discarded");
    is_int(logs[0].runs, 0, "without having run");
    must(ABT_xstream_free(&xstream));
    is_int(logs[1].frees, 1, "the second went with its ES");
    must(ABT_pool_free(&old));
    must(ABT_pool_free(&pool));
}

/* The way of clients: a scheduler on the primary ES whose second pool is shared with other ESs. */
static void test_shared_pool(void)
{
    ABT_pool pools[2] = {new_pool(ABT_POOL_FIFO, ABT_TRUE), new_pool(ABT_POOL_FIFO, ABT_TRUE)}, shared = pools[1];
    ABT_xstream xstreams[3];
    ABT_thread threads[50];
    atomic_int counter = 0;

    ok_abt(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_DEFAULT, 2, pools));
    is_ptr(last_pool_of(self()), pools[0], "the primary ULT is in the first pool");
    for (int i = 0; i < 3; i++)
        must(ABT_xstream_create_basic(i == 0 ? ABT_SCHED_RANDWS : ABT_SCHED_BASIC_WAIT, 1, &shared,
                                      ABT_SCHED_CONFIG_NULL, &xstreams[i]));
    for (int i = 0; i < 50; i++)
        threads[i] = ult_in(shared, count_up, &counter);
    ok_abt(ABT_thread_free_many(50, threads));
    is_int(atomic_load(&counter), 50, "a pool served by four ESs");
    for (int i = 0; i < 3; i++)
        ok_abt(ABT_xstream_free(&xstreams[i]));
    threads[0] = ult_in(shared, count_up, &counter);
    ok_abt(ABT_thread_free(&threads[0]));
    is_int(atomic_load(&counter), 51, "and then by the primary ES alone");
    ok_abt(ABT_xstream_set_main_sched(own_xstream(), ABT_SCHED_NULL));
}

static void test_often(void)
{
    struct log log = {0};

    for (int i = 0; i < 200; i++)
        must(ABT_xstream_set_main_sched(own_xstream(), user_sched(new_pool(ABT_POOL_FIFO, ABT_TRUE), &log, ABT_TRUE)));
    is_int(log.frees, 199, "200 replacements");
    must(ABT_xstream_set_main_sched(own_xstream(), ABT_SCHED_NULL));
    is_int(log.frees, 200, "and back");
}

/* Who asks and is in a pool of nobody here stays there. */
static void replace_from_elsewhere(void *arg)
{
    struct move *move = arg;

    ok_abt(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_BASIC, 1, &move->pool));
    is_ptr(last_pool_of(self()), move->pool, "it has kept its pool");
    is_ptr(own_pool(), move->pool, "which is now its ES's");
    count_up(&move->counter);
}

static void run_in_passing(void *arg)
{
    struct move *move = arg;
    ABT_thread popped;

    must(ABT_thread_create(move->pool, replace_from_elsewhere, move, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_pool_pop_thread(move->pool, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    move->at_return = atomic_load(&move->counter);
}

static void test_foreign_pool(void)
{
    struct move move = {.pool = new_pool(ABT_POOL_FIFO, ABT_FALSE)};
    ABT_pool old = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread = ult_in(old, run_in_passing, &move);
    ABT_xstream xstream;

    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &old, ABT_SCHED_CONFIG_NULL, &xstream));
    must(ABT_thread_free(&thread));
    wait_for(atomic_load(&move.counter) == 1);
    is_int(move.at_return, 0, "it waited for the old scheduler to go");
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&old));
    must(ABT_pool_free(&move.pool));
}

/* The scheduler's own ULT asks: it cannot wait for its own return, and is replaced when that comes. */
struct self_replacing {
    ABT_sched next, at_return;
    atomic_int runs, frees;
};

static void replace_itself_run(ABT_sched sched)
{
    struct self_replacing *r;
    ABT_bool stop = ABT_FALSE;
    void *data;

    must(ABT_sched_get_data(sched, &data));
    r = data;
    count_up(&r->runs);
    must(ABT_xstream_set_main_sched(own_xstream(), r->next));
    r->at_return = main_sched_of(own_xstream());
    must(ABT_xstream_check_events(sched));
    must(ABT_sched_has_to_stop(sched, &stop));
    is_int(stop, ABT_TRUE, "it is asked to stop");
}

static int count_free(ABT_sched sched)
{
    void *data;

    must(ABT_sched_get_data(sched, &data));
    count_up(&((struct self_replacing *)data)->frees);
    return ABT_SUCCESS;
}

static void test_scheduler_replaces_itself(void)
{
    ABT_sched_def def = {.run = replace_itself_run, .free = count_free};
    struct log log = {0};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    struct self_replacing r = {.next = user_sched(pool, &log, ABT_TRUE)};
    atomic_int counter = 0;
    ABT_sched sched = automatic_sched(&def, 1, (ABT_pool[]){ABT_POOL_NULL});
    ABT_xstream xstream;

    must(ABT_sched_set_data(sched, &r));
    must(ABT_xstream_create(sched, &xstream));
    wait_for(r.frees == 1);
    is_ptr(r.at_return, sched, "a scheduler that replaces itself is there until it returns");
    is_int(r.runs, 1, "and is not run again");
    must(ABT_thread_create(pool, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
    wait_for(counter == 1);
    is_int(log.runs, 1, "the other one runs");
    must(ABT_xstream_free(&xstream));
    must(ABT_pool_free(&pool));
}

/* A pool that will not have the caller: nothing is replaced, and the user's things are the user's. */
static void test_refused(enum caller who, void *arg)
{
    struct list list;
    struct log log = {0};
    int automatic = 1;
    ABT_pool_config config;
    ABT_pool pool;
    ABT_sched sched, before = main_sched_of(own_xstream());

    (void)who, (void)arg;
    must(ABT_pool_config_create(&config));
    must(ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_POOL_CONFIG_INT, &automatic));
    pool = make_new(&list, true, config);
    must(ABT_pool_config_free(&config));
    list.refuse = true;
    ok_err(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_BASIC, 1, &pool), ABT_ERR_OTHER);
    ok_err(ABT_xstream_set_main_sched_basic(own_xstream(), ABT_SCHED_BASIC, 2, (ABT_pool[]){pool, ABT_POOL_NULL}),
           ABT_ERR_OTHER);
    is_ptr(main_sched_of(own_xstream()), before, "the old scheduler stays");
    is_int(list.frees, 0, "and so does the pool");
    sched = user_sched(pool, &log, ABT_TRUE);
    ok_err(ABT_xstream_set_main_sched(own_xstream(), sched), ABT_ERR_OTHER);
    is_ptr(main_sched_of(own_xstream()), before, "once more");
    ok(log.frees == 0 && list.frees == 0, "the other one is still there");
    check_it_runs("the old scheduler");
    ok_abt(ABT_sched_free(&sched));
    ok(log.frees == 1 && list.frees == 1, "for the user to free, with its automatic pool");
}

/* --- A terminated ES --- */

static void test_terminated(enum caller who, void *arg)
{
    struct log logs[3] = {{0}};
    atomic_int counter = 0;
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_sched sched = user_sched(pool, &logs[0], ABT_FALSE), mine;
    ABT_xstream xstream;

    must(ABT_xstream_create(sched, &xstream));
    must(ABT_xstream_join(xstream));
    if (!is_ult(who)) {
        ok_err(ABT_xstream_set_main_sched(xstream, ABT_SCHED_NULL), code_for_ult(who, ABT_SUCCESS));
        ok_err(ABT_xstream_set_main_sched_basic(xstream, ABT_SCHED_BASIC, 0, NULL), code_for_ult(who, ABT_SUCCESS));
    } else {
        ok_abt(ABT_xstream_set_main_sched(xstream, user_sched(pool, &logs[1], ABT_TRUE)));
        is_int(logs[0].frees, 0, "swapped at once; the old one was not automatic");
        mine = sched;
        ok_abt(ABT_sched_free(&mine));
        is_int(logs[0].frees, 1, "and is unused");
        ok_abt(ABT_xstream_set_main_sched(xstream, sched = user_sched(pool, &logs[2], ABT_FALSE)));
        is_int(logs[1].frees, 1, "an automatic one is freed");
        is_int(logs[2].runs, 0, "the ES does not run yet");
        must(ABT_thread_create(pool, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
        ok_abt(ABT_xstream_revive(xstream));
        wait_for(counter == 1);
        is_int(logs[2].runs, 1, "but with its next life");
        is_int(logs[0].runs + logs[1].runs, 1, "and only that");
        must(ABT_xstream_join(xstream));
        ok_abt(ABT_xstream_set_main_sched_basic(xstream, ABT_SCHED_PRIO, 1, &pool));
        must(ABT_sched_free(&sched));
        ok_abt(ABT_xstream_revive(xstream));
        must(ABT_thread_create(pool, count_up, &counter, ABT_THREAD_ATTR_NULL, NULL));
        wait_for(counter == 2);
        sched = ABT_SCHED_NULL;
    }
    must(ABT_xstream_free(&xstream));
    if (sched != ABT_SCHED_NULL)
        must(ABT_sched_free(&sched));
    must(ABT_pool_free(&pool));
}

/* --- Errors --- */

static void test_errors(enum caller who, void *arg)
{
    struct log log = {0};
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_sched used = user_sched(pool, &log, ABT_FALSE), sched;
    ABT_xstream primary = arg, running, own = who == EXTERNAL ? primary : own_xstream(),
                failed = UNTOUCHED(ABT_xstream);
    const int foreign = ver20 ? ABT_ERR_INV_XSTREAM : ABT_ERR_XSTREAM_STATE;

    must(ABT_xstream_create(used, &running));
    ok_err(ABT_xstream_set_main_sched(ABT_XSTREAM_NULL, ABT_SCHED_NULL), ABT_ERR_INV_XSTREAM);
    ok_err(ABT_xstream_set_main_sched(NULL, ABT_SCHED_NULL), ABT_ERR_INV_XSTREAM);
    ok_err(ABT_xstream_set_main_sched(running, ABT_SCHED_NULL), code_for_ult(who, foreign));
    ok_err(ABT_xstream_set_main_sched_basic(running, ABT_SCHED_BASIC, 0, NULL), code_for_ult(who, foreign));
    ok_err(ABT_xstream_set_main_sched_basic(ABT_XSTREAM_NULL, ABT_SCHED_BASIC, 0, NULL),
           code_for_ult(who, ABT_ERR_INV_XSTREAM));
    ok_err(ABT_xstream_set_main_sched_basic(NULL, ABT_SCHED_BASIC, 0, NULL), code_for_ult(who, ABT_ERR_INV_XSTREAM));
    ok_err(ABT_xstream_set_main_sched_basic(own, (ABT_sched_predef)5, 1, &pool),
           code_for_ult(who, ABT_ERR_INV_SCHED_PREDEF));
    ok_err(ABT_xstream_set_main_sched_basic(own, ABT_SCHED_BASIC, -1, &pool), code_for_ult(who, ABT_ERR_INV_ARG));
    is_ptr(main_sched_of(running), used, "all is as it was");
    if (!ver20) {
        ok_err(ABT_xstream_create(used, &failed), ABT_ERR_INV_SCHED);
        is_ptr(failed, ABT_XSTREAM_NULL, "no ES");
        ok_err(ABT_xstream_create_with_rank(used, 55, &failed), ABT_ERR_INV_SCHED);
        ok_err(ABT_xstream_set_main_sched(own, used), code_for_ult(who, ABT_ERR_INV_SCHED));
        sched = used;
        ok_err(ABT_sched_free(&sched), ABT_ERR_SCHED);
        is_ptr(sched, used, "left alone by an error");
    }
    must(ABT_xstream_join(running));
    if (!ver20)
        ok_err(ABT_xstream_set_main_sched(running, used), code_for_ult(who, ABT_ERR_INV_SCHED));
    must(ABT_xstream_free(&running));
    is_int(log.frees, 0, "a scheduler that is not automatic outlives its ES");
    is_int(size_of(pool), 0, "the pool outlives all that");
    must(ABT_sched_free(&used));
    is_int(log.frees, 1, "and is the user's to free");
    must(ABT_pool_free(&pool));
}

/* A scheduler that joins or cancels its own ES is told so. */
static atomic_int code_of_join;

static void join_own_run(ABT_sched sched)
{
    atomic_store(&code_of_join, ABT_xstream_join(own_xstream()));
    must(ABT_xstream_cancel(own_xstream()));
}

static void test_join_by_scheduler(void)
{
    run_main_sched(join_own_run);
    is_int(atomic_load(&code_of_join), ABT_ERR_INV_XSTREAM, "a main scheduler cannot join its own ES");
}

int main(void)
{
    must(ABT_init(0, NULL));
    call_as(PRIMARY_ULT, test_own, NULL);
    call_as(SECONDARY_ULT, test_own, NULL);
    test_old_pool_first();
    test_blocked_first();
    test_two_requests(true);
    test_two_requests(false);
    test_shared_pool();
    test_often();
    test_foreign_pool();
    test_scheduler_replaces_itself();
    call_as(PRIMARY_ULT, test_refused, NULL);
    call_as(SECONDARY_ULT, test_refused, NULL);
    call_as_each(test_terminated, NULL);
    if (!ABT_NULL) {
        call_as_each(test_errors, own_xstream());
        test_join_by_scheduler();
    }
    ok_abt(ABT_finalize());
    return done_testing();
}

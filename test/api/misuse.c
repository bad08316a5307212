/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of the library: each case in a child process with ABT_CHECK=1, whose words are looked at. The names of
 * functions of this program are not known to the loader.
 */
#include <regex.h>
#include <signal.h>
#include "child.h"
#include "common.h"

static char words[8192]; /* what the child has said on stderr */

struct visit {
    const char *check;
    bool (*act)(void);
};

static int visit(void *arg)
{
    const struct visit *v = arg;

    signal(SIGABRT, SIG_DFL);
    must(setenv("ABT_USE_LOG", "0", 1)); /* a log goes the same way */
    must(setenv("ABT_CHECK", v->check, 1));
    must(ABT_init(0, NULL));
    bool good = v->act();
    must(ABT_finalize());
    return good ? 0 : 1;
}

/* Runs act() between ABT_init and ABT_finalize in a child; act is true when its calls returned what they should. */
static int run_child(const char *check, bool (*act)(void))
{
    struct visit v = {check, act};

    return child_run(visit, &v, words, sizeof(words));
}

/* The child's words are lines that match these, one after the other, and nothing else. */
static void says(bool (*act)(void), const char *name, const char *const *lines)
{
    int status = run_child("1", act);
    ok(status == 0, "%s: the calls return what is documented", name);
    char *line = strtok(words, "\n");
    for (; *lines; lines++) {
        regex_t regex;
        must(regcomp(&regex, *lines, REG_EXTENDED | REG_NOSUB));
        if (!ok(line && regexec(&regex, line, 0, NULL, 0) == 0, "%s: it says: %s", name, *lines))
            diag("it says: %s", line ? line : "nothing");
        regfree(&regex);
        line = line ? strtok(NULL, "\n") : NULL;
    }
    if (!ok(!line, "%s: it says no more", name))
        diag("it says: %s", line);
}

#define SAYS(act, ...) says(act, #act, (const char *const[]){__VA_ARGS__, NULL})

/* How an object is named: by its address, and how its creator is. */
#define P "0x[0-9a-f]+"
#define ULT "ULT " P " of [a-z_]+(\\+" P ")?"
#define TASKLET "tasklet " P " of [a-z_]+(\\+" P ")?"
#define BY " \\(created by the primary ULT\\)"

static ABT_thread create(ABT_pool pool, void (*func)(void *), void *arg)
{
    ABT_thread thread = ult_in(pool, func, arg);
    return thread;
}

/* --- Units --- */

static ABT_thread freed(void)
{
    ABT_thread thread = create(main_pool(), do_nothing, NULL), copy = thread;

    must(ABT_thread_free(&thread));
    return copy;
}

static bool double_free(void)
{
    ABT_thread thread = freed();
    return ABT_thread_free(&thread) == ABT_ERR_INV_THREAD;
}

static bool many_double_frees(void)
{
    ABT_thread threads[2] = {freed(), ABT_THREAD_NULL};
    return ABT_thread_free_many(2, threads) == ABT_SUCCESS;
}

static bool tasklet_double_free(void)
{
    ABT_task task, copy;

    must(ABT_task_create(main_pool(), do_nothing, NULL, &task));
    copy = task;
    must(ABT_task_free(&task));
    return ABT_task_free(&copy) == ABT_ERR_INV_TASK;
}

/* With a stack of its own, keys, and by another unit than the primary one. */
static void frees(void *arg)
{
    must(ABT_thread_free(arg));
}

static bool double_free_of_much(void)
{
    ABT_thread_attr attr;
    ABT_thread thread, copy, other;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 100000));
    must(ABT_thread_create(main_pool(), do_nothing, NULL, attr, &thread));
    must(ABT_thread_attr_free(&attr));
    must(ABT_thread_join(thread));
    copy = thread;
    other = create(main_pool(), frees, &thread);
    must(ABT_thread_free(&other));
    return ABT_thread_free(&copy) == ABT_ERR_INV_THREAD;
}

static bool stale_units(void)
{
    ABT_thread thread = freed();
    ABT_thread_state state;

    return ABT_thread_join(thread) == ABT_ERR_INV_THREAD &&
           ABT_thread_get_state(thread, &state) == ABT_ERR_INV_THREAD &&
           ABT_thread_resume(thread) == ABT_ERR_INV_THREAD && ABT_self_yield_to(thread) == ABT_ERR_INV_THREAD &&
           ABT_thread_revive(main_pool(), do_nothing, NULL, &thread) == ABT_ERR_INV_THREAD &&
           ABT_thread_migrate_to_pool(thread, main_pool()) == ABT_ERR_INV_THREAD;
}

static bool is_refused;

static void waits_for_itself(void *arg)
{
    ABT_thread self;

    must(ABT_self_get_thread(&self));
    is_refused = ABT_thread_join(self) == ABT_ERR_INV_THREAD && ABT_thread_free(&self) == ABT_ERR_INV_THREAD;
}

static bool join_of_itself(void)
{
    ABT_thread thread = create(main_pool(), waits_for_itself, NULL);

    must(ABT_thread_free(&thread));
    return is_refused;
}

static ABT_thread unnamed;

static void is_running(void *arg)
{
    must(ABT_self_get_thread(&unnamed));
    must(ABT_self_suspend());
}

static bool free_of_a_running_unit(void)
{
    ABT_thread thread;

    must(ABT_thread_create(main_pool(), is_running, NULL, ABT_THREAD_ATTR_NULL, NULL));
    must(ABT_self_yield());
    thread = unnamed;
    bool refused = ABT_thread_free(&thread) == ABT_ERR_INV_THREAD;
    must(ABT_thread_resume(unnamed));
    must(ABT_self_yield());
    return refused && ABT_thread_join(unnamed) == ABT_ERR_INV_THREAD;
}

static bool no_function(void)
{
    ABT_thread thread = create(main_pool(), do_nothing, NULL);
    ABT_task task;
    ABT_xstream es;

    must(ABT_thread_join(thread));
    must(ABT_self_get_xstream(&es));
    bool refused = ABT_thread_create(main_pool(), NULL, NULL, ABT_THREAD_ATTR_NULL, NULL) == ABT_ERR_INV_ARG &&
                   ABT_thread_create_to(main_pool(), NULL, NULL, ABT_THREAD_ATTR_NULL, NULL) == ABT_ERR_INV_ARG &&
                   ABT_thread_create_on_xstream(es, NULL, NULL, ABT_THREAD_ATTR_NULL, NULL) == ABT_ERR_INV_ARG &&
                   ABT_thread_revive(main_pool(), NULL, NULL, &thread) == ABT_ERR_INV_ARG &&
                   ABT_task_create(main_pool(), NULL, NULL, &task) == ABT_ERR_INV_ARG;
    must(ABT_thread_free(&thread));
    return refused;
}

/* --- Other objects --- */

static ABT_pool fifo(void)
{
    ABT_pool pool;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    return pool;
}

static bool pool_in_use(void)
{
    ABT_pool used = main_pool(), full = fifo(), same = full;
    ABT_thread thread = create(full, do_nothing, NULL), popped;

    bool refused = ABT_pool_free(&used) == ABT_ERR_INV_POOL && ABT_pool_free(&full) == ABT_ERR_INV_POOL;
    must(ABT_pool_pop_thread(same, &popped));
    must(ABT_self_schedule(popped, ABT_POOL_NULL));
    must(ABT_thread_free(&thread));
    must(ABT_pool_free(&same));
    return refused;
}

/* By another unit than the streams' own, and once only; the pool of a stream that has not begun is anybody's. */
static bool private_pool_of_another(void)
{
    ABT_pool pool;
    ABT_xstream es;
    ABT_thread threads[3];

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    threads[0] = create(pool, do_nothing, NULL);
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
    must(ABT_thread_join(threads[0]));
    for (int i = 1; i < 3; i++)
        threads[i] = create(pool, do_nothing, NULL);
    must(ABT_thread_free_many(3, threads));
    must(ABT_xstream_free(&es));
    return true;
}

static bool stale_objects(void)
{
    ABT_pool pool = fifo(), pool_copy = pool;
    ABT_eventual eventual, eventual_copy;
    ABT_cond cond, cond_copy;
    ABT_xstream es, es_copy;
    ABT_key key, key_copy;
    ABT_barrier barrier, barrier_copy;
    size_t size;

    must(ABT_pool_free(&pool));
    must(ABT_eventual_create(0, &eventual));
    eventual_copy = eventual;
    must(ABT_eventual_free(&eventual));
    must(ABT_cond_create(&cond));
    cond_copy = cond;
    must(ABT_cond_free(&cond));
    must(ABT_xstream_create(ABT_SCHED_NULL, &es));
    es_copy = es;
    must(ABT_xstream_free(&es));
    must(ABT_key_create(NULL, &key));
    key_copy = key;
    must(ABT_key_free(&key));
    must(ABT_barrier_create(1, &barrier));
    barrier_copy = barrier;
    must(ABT_barrier_free(&barrier));
    return ABT_pool_get_size(pool_copy, &size) == ABT_ERR_INV_POOL &&
           ABT_thread_create(pool_copy, do_nothing, NULL, ABT_THREAD_ATTR_NULL, NULL) == ABT_ERR_INV_POOL &&
           ABT_eventual_set(eventual_copy, NULL, 0) == ABT_ERR_INV_EVENTUAL &&
           ABT_cond_signal(cond_copy) == ABT_ERR_INV_COND && ABT_xstream_join(es_copy) == ABT_ERR_INV_XSTREAM &&
           ABT_key_set(key_copy, &size) == ABT_ERR_INV_KEY && ABT_barrier_wait(barrier_copy) == ABT_ERR_INV_BARRIER;
}

/* --- Mutexes --- */

static ABT_mutex mutex;

static bool unlock_of_a_free_mutex(void)
{
    static ABT_mutex_memory memory = ABT_MUTEX_INITIALIZER;
    ABT_mutex own = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);

    must(ABT_mutex_create(&mutex));
    bool refused = ABT_mutex_unlock(mutex) == ABT_ERR_INV_MUTEX && ABT_mutex_unlock(own) == ABT_ERR_INV_MUTEX;
    must(ABT_mutex_lock(own));
    must(ABT_mutex_unlock(own));
    must(ABT_mutex_free(&mutex));
    return refused;
}

static int code;

static void unlocks(void *arg)
{
    code = ABT_mutex_unlock(mutex);
}

static int unlock_by_another(bool recursive)
{
    ABT_mutex_attr attr;

    must(ABT_mutex_attr_create(&attr));
    must(ABT_mutex_attr_set_recursive(attr, recursive));
    must(ABT_mutex_create_with_attr(attr, &mutex));
    must(ABT_mutex_attr_free(&attr));
    must(ABT_mutex_lock(mutex));
    ABT_thread thread = create(main_pool(), unlocks, NULL);
    must(ABT_thread_free(&thread));
    return code;
}

static bool plain_unlock_by_another(void)
{
    /* It may do that. */
    return unlock_by_another(false) == ABT_SUCCESS && ABT_mutex_trylock(mutex) == ABT_SUCCESS;
}

static bool recursive_unlock_by_another(void)
{
    return unlock_by_another(true) == ABT_ERR_INV_MUTEX;
}

static void locks_twice(void *arg)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_mutex_lock(mutex));
}

static bool relock(void)
{
    must(ABT_mutex_create(&mutex));
    ABT_thread thread = create(main_pool(), locks_twice, NULL);
    must(ABT_self_yield());
    return ABT_mutex_unlock(mutex) == ABT_SUCCESS && ABT_thread_free(&thread) == ABT_SUCCESS;
}

static bool stale_mutex(void)
{
    ABT_mutex copy;

    must(ABT_mutex_create(&mutex));
    copy = mutex;
    must(ABT_mutex_free(&mutex));
    return ABT_mutex_lock(copy) == ABT_ERR_INV_MUTEX && ABT_mutex_unlock(copy) == ABT_ERR_INV_MUTEX &&
           ABT_mutex_trylock(copy) == ABT_ERR_INV_MUTEX && ABT_mutex_free(&copy) == ABT_ERR_INV_MUTEX;
}

/* --- No misuse --- */

static void works(void *arg)
{
    must(ABT_mutex_lock(mutex));
    must(ABT_self_yield());
    must(ABT_mutex_unlock(mutex));
}

/* More than are kept back, so that descriptors and mutexes are used again. */
static bool correct(void)
{
    enum { ROUNDS = 40, UNITS = 50 };
    ABT_thread threads[UNITS];

    must(ABT_mutex_create(&mutex));
    for (int round = 0; round < ROUNDS; round++) {
        ABT_mutex other;
        must(ABT_mutex_create(&other));
        must(ABT_mutex_lock(other));
        must(ABT_mutex_unlock(other));
        must(ABT_mutex_free(&other));
        for (int i = 0; i < UNITS; i++)
            threads[i] = create(main_pool(), works, NULL);
        must(ABT_thread_create(main_pool(), works, NULL, ABT_THREAD_ATTR_NULL, NULL));
        for (int i = 0; i < UNITS; i++) {
            must(ABT_thread_join(threads[i]));
            if (i % 2)
                must(ABT_thread_revive(main_pool(), works, NULL, &threads[i]));
        }
        must(ABT_thread_free_many(UNITS, threads));
    }
    must(ABT_mutex_free(&mutex));
    return true;
}

static void test_no_misuse(void)
{
    int status = run_child("1", correct);
    ok(status == 0, "a correct program works");
    is_str(words, "", "and nothing is said of it");
}

static void test_abort(void)
{
    int status = run_child("abort", double_free);
    ok(status == 128 + SIGABRT, "ABT_CHECK=abort ends the program");
    ok(strstr(words, "libabt: ABT_thread_free: ULT "), "and says why");
    status = run_child("0", correct);
    ok(status == 0 && !*words, "ABT_CHECK=0 is off");
}

static void test_units(void)
{
    SAYS(double_free, "^libabt: ABT_thread_free: " ULT BY " has been freed");
    SAYS(many_double_frees, "^libabt: ABT_thread_free: " ULT BY " has been freed");
    SAYS(tasklet_double_free, "^libabt: ABT_task_free: " TASKLET BY " has been freed");
    SAYS(double_free_of_much, "^libabt: ABT_thread_free: " ULT BY " has been freed by " ULT);
    SAYS(stale_units, "^libabt: ABT_thread_join: " ULT BY " has been freed", "^libabt: ABT_thread_get_state: " ULT BY,
         "^libabt: ABT_thread_resume: " ULT BY, "^libabt: ABT_self_yield_to: " ULT BY,
         "^libabt: ABT_thread_revive: " ULT BY, "^libabt: ABT_thread_migrate_to_pool: " ULT BY);
    SAYS(join_of_itself, "^libabt: ABT_thread_join: " ULT BY " is the caller", "^libabt: ABT_thread_free: " ULT BY);
    SAYS(free_of_a_running_unit, "^libabt: ABT_thread_free: " ULT BY " is unnamed",
         "^libabt: ABT_thread_join: " ULT BY " has been freed");
    SAYS(no_function, "^libabt: ABT_thread_create: the function of a new unit is NULL" BY,
         "^libabt: ABT_thread_create_to: the function", "^libabt: ABT_thread_create_on_xstream: the function",
         "^libabt: ABT_thread_revive: the function", "^libabt: ABT_task_create: the function");
}

static void test_objects(void)
{
    SAYS(pool_in_use, "^libabt: ABT_pool_free: pool " P " \\(.*\\) is used by 1 scheduler$",
         "^libabt: ABT_pool_free: pool " P BY " has units in it$");
    SAYS(private_pool_of_another, "^libabt: ABT_thread_create: pool " P BY
                                  " is private to execution stream 1, and is used by the primary ULT elsewhere");
    SAYS(stale_objects, "^libabt: ABT_pool_get_size: pool " P BY " has been freed by the primary ULT$",
         "^libabt: ABT_thread_create: pool " P BY " has been", "^libabt: ABT_eventual_set: eventual " P BY " has been",
         "^libabt: ABT_cond_signal: condition variable " P BY " has been",
         "^libabt: ABT_xstream_join: execution stream " P BY " has been", "^libabt: ABT_self_set_specific: key " P BY,
         "^libabt: ABT_barrier_wait: barrier " P BY " has been");
}

static void test_mutexes(void)
{
    SAYS(unlock_of_a_free_mutex, "^libabt: ABT_mutex_unlock: mutex " P BY " is not locked$",
         "^libabt: ABT_mutex_unlock: mutex " P " is not locked$");
    SAYS(plain_unlock_by_another,
         "^libabt: ABT_mutex_unlock: mutex " P BY " is locked by the primary ULT, not by the caller$");
    SAYS(recursive_unlock_by_another, "^libabt: ABT_mutex_unlock: mutex " P BY " is locked by .*, not by the caller$");
    SAYS(relock, "^libabt: ABT_mutex_lock: mutex " P BY " is locked by the caller, and is not recursive$",
         "^libabt: ABT_mutex_unlock: mutex " P BY " is locked by " ULT ", not by the caller$");
    SAYS(stale_mutex, "^libabt: ABT_mutex_lock: mutex " P BY " has been freed by the primary ULT$",
         "^libabt: ABT_mutex_unlock: mutex " P BY " has been", "^libabt: ABT_mutex_trylock: mutex " P BY " has been",
         "^libabt: ABT_mutex_free: mutex " P BY " has been");
}

int main(void)
{
    watchdog_begin(0);
    need_checks();
    test_no_misuse();
    test_abort();
    test_units();
    test_objects();
    test_mutexes();
    return done_testing();
}

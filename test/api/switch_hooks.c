/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ABTX_self_add_switch_hooks and ABTX_self_remove_switch_hooks: a ULT hears of it
 * when it leaves its stream and comes back.
 */
#include <string.h>

#include <abt_fork.h>
#include "common.h"

struct seen {
    int left, back;
    bool away;
};

static ABT_pool pool;
static ABT_mutex mutex;
static ABT_cond cond;
static ABT_eventual eventual;
static ABT_barrier barrier;
static ABT_thread hooked;
static int wrong;

static void leave(void *arg)
{
    struct seen *seen = arg;

    wrong += seen->away;
    seen->away = true;
    seen->left++;
}

static void back(void *arg)
{
    struct seen *seen = arg;

    wrong += !seen->away;
    seen->away = false;
    seen->back++;
}

static void help(void *arg)
{
    const char *what = arg;

    if (strcmp(what, "suspend") == 0)
        must(ABT_thread_resume(hooked));
    if (strcmp(what, "mutex") == 0)
        must(ABT_mutex_unlock(mutex));
    if (strcmp(what, "cond") == 0)
        must(ABT_cond_signal(cond));
    if (strcmp(what, "eventual") == 0)
        must(ABT_eventual_set(eventual, NULL, 0));
    if (strcmp(what, "barrier") == 0)
        must(ABT_barrier_wait(barrier));
}

static void hold(void *arg)
{
    must(ABT_mutex_lock(mutex));
}

static void wait_for_it(const char *what)
{
    ABT_thread helper = ABT_THREAD_NULL;

    if (strcmp(what, "mutex") == 0) {
        must(ABT_thread_create(pool, hold, NULL, ABT_THREAD_ATTR_NULL, &helper));
        must(ABT_thread_free(&helper));
    }
    must(ABT_thread_create(pool, help, (void *)(uintptr_t)what, ABT_THREAD_ATTR_NULL, &helper));
    if (strcmp(what, "yield") == 0)
        must(ABT_thread_yield());
    else if (strcmp(what, "yield_to") == 0)
        must(ABT_thread_yield_to(helper));
    else if (strcmp(what, "suspend") == 0)
        must(ABT_self_suspend());
    else if (strcmp(what, "mutex") == 0)
        must(ABT_mutex_lock(mutex));
    else if (strcmp(what, "eventual") == 0)
        must(ABT_eventual_wait(eventual, NULL));
    else if (strcmp(what, "barrier") == 0)
        must(ABT_barrier_wait(barrier));
    else if (strcmp(what, "cond") == 0) {
        must(ABT_mutex_lock(mutex));
        must(ABT_cond_wait(cond, mutex));
    }
    must(ABT_thread_free(&helper)); /* perhaps in place */
    if (strcmp(what, "mutex") == 0 || strcmp(what, "cond") == 0)
        must(ABT_mutex_unlock(mutex));
    must(ABT_eventual_reset(eventual));
}

static const char *const ways[] = {"yield", "yield_to", "suspend", "mutex", "cond", "eventual", "barrier", "join"};

static void work(void *arg)
{
    const char *kind = arg;
    struct seen seen = {0};
    ABTX_switch_link link = {.hooks = {leave, back, &seen}};

    must(ABT_self_get_thread(&hooked));
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        int before = seen.left;
        must(ABTX_self_add_switch_hooks(&link));
        wait_for_it(ways[i]);
        must(ABTX_self_remove_switch_hooks(&link));
        ok(seen.left > before && seen.back == seen.left && !seen.away && !wrong, "%s: %s: it left and came back", kind,
           ways[i]);
    }
    int before = seen.left;
    must(ABT_thread_yield());
    is_int(seen.left, before, "%s: without hooks nothing is called", kind);
}

/* A unit that runs between has no hooks of another's. */
static void has_none(void *arg)
{
    struct seen seen = {0};
    ABTX_switch_link link = {.hooks = {leave, NULL, &seen}}, only_back = {.hooks = {NULL, back, &seen}};

    must(ABTX_self_add_switch_hooks(&link));
    must(ABTX_self_remove_switch_hooks(&link));
    must(ABT_thread_yield());
    is_int(seen.left, 0, "hooks that were removed are not called");
    seen.away = true;
    must(ABTX_self_add_switch_hooks(&only_back));
    must(ABT_thread_yield());
    must(ABTX_self_remove_switch_hooks(&only_back));
    ok(seen.left == 0, "either may be NULL");
}

/* --- Several --- */

static char order[32];
static size_t at;

static void note_leave(void *arg)
{
    order[at++ % (sizeof(order) - 1)] = *(const char *)arg;
}

static void note_back(void *arg)
{
    order[at++ % (sizeof(order) - 1)] = (char)(*(const char *)arg - 'a' + 'A');
}

static void is_order(const char *expected, const char *what)
{
    ABT_thread other = ult_in(pool, do_nothing, NULL);
    memset(order, 0, sizeof(order));
    at = 0;
    must(ABT_thread_yield());
    ok(!strcmp(order, expected), "%s: %s", what, order);
    must(ABT_thread_free(&other));
}

static void task(abtx_at here, struct abtx_task *base)
{
    (void)here, (void)base;
}

static void has_several(void *arg)
{
    static const char names[] = "abc";
    ABTX_switch_link links[3];
    struct abtx_region region;

    for (int i = 0; i < 3; i++)
        links[i] = (ABTX_switch_link){.hooks = {note_leave, note_back, (void *)(uintptr_t)&names[i]}};
    ok_abt(ABTX_self_add_switch_hooks(&links[0]));
    ok_err(ABTX_self_add_switch_hooks(&links[0]), ABT_ERR_INV_ARG);
    ok_err(ABTX_self_add_switch_hooks(NULL), ABT_ERR_INV_ARG);
    ok_err(ABTX_self_remove_switch_hooks(&links[1]), ABT_ERR_INV_ARG);
    ok_err(ABTX_self_remove_switch_hooks(NULL), ABT_ERR_INV_ARG);
    is_order("aA", "one");
    abtx_at here = ABTX_fork_enter(&region);
    struct abtx_task forked;
    here = abtx_fork(here, &forked, task);
    ok_abt(ABTX_self_add_switch_hooks(&links[1]));
    is_order("baBA", "one from outside a region and one in it");
    ok(abtx_join(here - 1), "the task is the forker's");
    ABTX_fork_leave(&region);
    is_order("baBA", "behind the region");
    ok_abt(ABTX_self_add_switch_hooks(&links[2]));
    ok_abt(ABTX_self_remove_switch_hooks(&links[1]));
    is_order("caCA", "the one in the middle is removed");
    ok_abt(ABTX_self_remove_switch_hooks(&links[0]));
    ok_abt(ABTX_self_remove_switch_hooks(&links[2]));
    is_order("", "none is left");
}

static void ends_by_exit(void *arg)
{
    static struct seen seen;
    static ABTX_switch_link link = {.hooks = {leave, back, &seen}};

    must(ABTX_self_add_switch_hooks(&link));
    ABT_self_exit();
}

static void in_tasklet(void *arg)
{
    ok_err(ABTX_self_add_switch_hooks(NULL), ABT_ERR_INV_THREAD);
    ok_err(ABTX_self_remove_switch_hooks(NULL), ABT_ERR_INV_THREAD);
}

static void *external(void *arg)
{
    ok_err(ABTX_self_add_switch_hooks(NULL), ABT_ERR_INV_XSTREAM);
    ok_err(ABTX_self_remove_switch_hooks(NULL), ABT_ERR_INV_XSTREAM);
    return NULL;
}

static void run(void (*func)(void *), const char *arg)
{
    ABT_thread thread = ult_in(pool, func, (void *)(uintptr_t)arg);
    must(ABT_thread_free(&thread));
}

static void test_pool(ABT_pool_access access, ABT_sched_predef kind, const char *name)
{
    ABT_xstream self;

    must(ABT_xstream_self(&self));
    must(ABT_pool_create_basic(kind == ABT_SCHED_RANDWS ? ABT_POOL_RANDWS : ABT_POOL_FIFO, access, ABT_TRUE, &pool));
    must(ABT_xstream_set_main_sched_basic(self, kind, 1, &pool));
    run(work, name);
    run(has_none, NULL);
    run(has_several, NULL);
    run(ends_by_exit, NULL);
    run(work, name);
}

int main(void)
{
    ABT_task task;
    pthread_t thread;

    must(ABT_init(0, NULL));
    must(ABT_mutex_create(&mutex));
    must(ABT_cond_create(&cond));
    must(ABT_eventual_create(0, &eventual));
    must(ABT_barrier_create(2, &barrier));
    test_pool(ABT_POOL_ACCESS_PRIV, ABT_SCHED_BASIC, "private");
    test_pool(ABT_POOL_ACCESS_MPMC, ABT_SCHED_BASIC, "shared");
    test_pool(ABT_POOL_ACCESS_MPMC, ABT_SCHED_RANDWS, "randws");
    must(ABT_task_create(pool, in_tasklet, NULL, &task));
    must(ABT_task_free(&task));
    pthread_create(&thread, NULL, external, NULL);
    pthread_join(thread, NULL);
    must(ABT_barrier_free(&barrier));
    must(ABT_eventual_free(&eventual));
    must(ABT_cond_free(&cond));
    must(ABT_mutex_free(&mutex));
    must(ABT_finalize());
    return done_testing();
}

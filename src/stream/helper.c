/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/helper.h"

#include <errno.h>
#include <signal.h>
#include "base/assert.h"
#include "base/delay.h"
#include "rt/self.h"
#include "wait/external.h"

static struct abti_spin list_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF);
static _Atomic(struct abti_helper *) helpers; /* stored under list_lock. The list only grows */

/*
 * A fork waits for the lock, but not for ever: a signal handler that forks may have interrupted a holder of the very
 * lock that the helper waits for. Its child can do as much as any child could without the library.
 */
static bool try_for_long(struct abti_spin *lock)
{
    enum { STEPS = 20000 }; /* a second or more */
    bool got = abti_spin_trylock(lock);
    for (unsigned step = 0; step < STEPS && !got; step++) {
        abti_backoff(step);
        got = abti_spin_trylock(lock);
    }
    return got;
}

/* acquire: pairs with the release in abti_helper_register */
static struct abti_helper *first_helper(void)
{
    return abti_load_acquire(&helpers);
}

static void before_fork(void)
{
    /* relaxed: a thread that finds itself there has stored that */
    for (struct abti_helper *helper = first_helper(); helper; helper = helper->next) {
        if (try_for_long(&helper->working))
            abti_store_relaxed(&helper->forker, &abti_es_self);
    }
}

/* Whether the calling thread has got the lock; then others may get it. relaxed: as in before_fork */
static bool had_lock(struct abti_helper *helper)
{
    bool had = abti_load_relaxed(&helper->forker) == &abti_es_self;
    if (had)
        abti_store_relaxed(&helper->forker, NULL);
    return had;
}

static void after_fork(void)
{
    for (struct abti_helper *helper = first_helper(); helper; helper = helper->next) {
        if (had_lock(helper))
            abti_spin_unlock(&helper->working);
    }
}

/* The lock is free in any case: the thread that had it is not there. */
static void after_fork_in_child(void)
{
    for (struct abti_helper *helper = first_helper(); helper; helper = helper->next) {
        helper->in_child();
        if (had_lock(helper))
            abti_spin_unlock(&helper->working);
        else
            abti_spin_forget(&helper->working, ABTI_RANK_HELPER);
    }
}

bool abti_helper_register(struct abti_helper *helper)
{
    static bool has_handlers;
    abti_assert(helper->in_child);
    if (helper->registered)
        return true;
    if (!has_handlers)
        has_handlers = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
    if (!has_handlers)
        return false;
    abti_spin_lock(&list_lock);
    helper->next = abti_load_relaxed(&helpers); /* relaxed: the lock is held */
    /* release: pairs with the acquire in first_helper */
    abti_store_release(&helpers, helper);
    abti_spin_unlock(&list_lock);
    helper->registered = true;
    return true;
}

/* The common part of helpers. */
static void *helper_main(void *run_)
{
    struct abti_listed_thread own;
    void *(*run)(void *) = (void *(*)(void *))(uintptr_t)run_;
    abti_own_enter(&own);
    void *value = run(NULL);
    abti_own_leave(&own);
    return value;
}

int abti_helper_start(pthread_t *thread, void *(*run)(void *))
{
    enum { STACK_SIZE = 128 * 1024 };
    pthread_attr_t attr;
    sigset_t all, before;
    int err = pthread_attr_init(&attr);
    if (err)
        return err;
    (void)pthread_attr_setstacksize(&attr, STACK_SIZE); /* one that is too small leaves the default */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(thread, &attr, helper_main, (void *)(uintptr_t)run);
    if (err == EINVAL) /* the program's thread-local variables have no room in it */
        err = pthread_create(thread, NULL, helper_main, (void *)(uintptr_t)run);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return err;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/watcher.h"

#include <errno.h>
#include <stdio.h>
#include "os/clock.h"
#include "rt/rt.h"
#include "stream/helper.h"
#include "wait/guest.h"
#include "wait/word.h"
#include "watch/deadlock.h"

/*
 *   NONE -> ON     by ABT_init, which then makes the thread
 *   ON -> NONE     by the same, when it cannot be made, and in the child of a fork, which does not have it
 *   ON -> ENDING   by ABT_finalize, which then awaits the end of the thread and stores NONE
 */
enum { WATCHER_NONE, WATCHER_ON, WATCHER_ENDING };

static _Atomic(uint32_t) watcher_state;
static pthread_t watcher_thread; /* while WATCHER_ON */

/* Its lock is held by the thread while it looks. */
static struct abti_helper watch_helper = {.working = ABTI_SPIN_INIT(ABTI_RANK_HELPER)};

static uint64_t watch_locked(void)
{
    abti_spin_lock(&watch_helper.working);
    uint64_t next = abti_deadlock_look(abti_clock_mono_ns());
    abti_spin_unlock(&watch_helper.working);
    return next;
}

static void *watcher_main(void *arg)
{
    (void)arg;
    while (!abti_word_await_change(&watcher_state, WATCHER_ON, watch_locked()))
        ;
    return NULL;
}

static void forget_watcher(void)
{
    abti_store_relaxed(&watcher_state, WATCHER_NONE); /* relaxed: there is no other thread */
}

void abti_watcher_start(void)
{
    if (abti_rt.config.deadlock_check == ABTI_DEADLOCK_OFF)
        return;
    abti_guests_want(true);
    watch_helper.in_child = forget_watcher;
    abti_store_relaxed(&watcher_state,
                       WATCHER_ON); /* relaxed, as below: the thread is made after it, and ends before it */
    int err = abti_helper_register(&watch_helper) ? abti_helper_start(&watcher_thread, watcher_main) : ENOMEM;
    if (err == 0)
        return;
    abti_store_relaxed(&watcher_state, WATCHER_NONE);
    errno = err;
    fprintf(stderr, "libabt: ABT_DEADLOCK_CHECK has no effect, there is no thread for it: %m\n");
}

void abti_watcher_stop(void)
{
    abti_guests_want(false);
    /* relaxed, here as below: while there is no thread, the callers of this and of abti_watcher_start have the state */
    if (abti_load_relaxed(&watcher_state) == WATCHER_NONE)
        return;
    abti_store_release(&watcher_state, WATCHER_ENDING); /* release: pairs with the acquire in abti_word_await_change */
    abti_futex_wake(&watcher_state);
    pthread_join(watcher_thread, NULL);
    abti_store_relaxed(&watcher_state, WATCHER_NONE);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What abt_fork.h calls: where a ULT begins and ends to fork, and the slow paths of fork and join. */
#include <stdio.h>
#include "base/assert.h"
#include "stream/blocking.h"
#include "fork/workers.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "run/block.h"
#include "run/end.h"
#include "run/migrate.h"
#include "unit/saved.h"
#include "wait/external.h"
#include "wait/sleeper.h"

/* A caller without a deque is at the beginning of this: each fork and join takes its slow path, and each task runs at
 * once.
 */
static struct abti_deque no_deque ABTI_ALIGNED(ABTX_DEQUE_BYTES) = {.limit = UINTPTR_MAX,
                                                                    .idle = &(const volatile int){0}};

/* Whether what is forked here runs at once: there is no deque, or it is full and this is the beginning of the next. */
static bool is_nowhere(abtx_at here)
{
    return (uintptr_t)here % ABTX_DEQUE_BYTES == 0;
}

/* --- Regions --- */

/* The ULT is about to leave its stream: others may have all its tasks. */
static void leave_stream(void *arg)
{
    struct abtx_region *region = arg;
    if (abti_deque_publish_all(region->deque))
        abti_workers_offer(region->deque);
}

/* A tasklet has no hooks; those that it sees, in a callback of a scheduler, are of the ULT that is about to leave. */
struct abti_deque *abti_fork_deque(abti_es *es)
{
    if (!es || !es->hooks || abti_unit_is_tasklet(es->cur))
        return NULL;
    const ABTX_switch_link *link = abti_hooks_find(es->hooks, leave_stream);
    return link ? ((struct abtx_region *)link->hooks.arg)->deque : NULL;
}

/*
 * A deque that waits for its next owner at a stream. It stays listed: streams that wait have asked it, too, and its
 * next owner finds that at the first fork. It is as abti_deque_begin makes it, except for the requests of thieves.
 */
static struct abti_deque *take_kept(abti_es *es)
{
    struct abti_deque *deque = es->deque.kept;
    es->deque.kept = NULL;
    abti_assert(!deque->is_closed && deque->split == 0 && !deque->home);
    abti_annotate_acquire(deque);
    abti_workers_relist(deque);
    return deque;
}

static void put_kept(void *deque)
{
    abti_workers_unlist(deque);
    abti_workers_put_deque(deque);
}

static void fork_keep(abti_es *es, struct abti_deque *deque)
{
    if (es->deque.kept) {
        put_kept(deque);
        return;
    }
    abti_annotate_release(deque);
    es->deque.kept = deque;
    es->deque.put = put_kept;
}

/* A deque for tasks that others may take, or, if it is closed, none but the caller. NULL: there is none. */
static ABTI_COLD struct abti_deque *get_deque(bool is_closed)
{
    struct abti_deque *deque = abti_workers_get_deque();
    if (!deque)
        return NULL;
    abti_deque_begin(deque, is_closed);
    if (!is_closed)
        abti_workers_list(deque);
    return deque;
}

abtx_at ABTX_fork_enter(struct abtx_region *region)
{
    abti_es *es = abti_es_self;
    struct abti_deque *deque = abti_fork_deque(es);
    region->deque = NULL;
    if (deque)
        return &deque->entries[abti_deque_top(deque)];
    bool may_wait = es && es->parent && !abti_unit_is_tasklet(es->cur);
    deque = may_wait && es->deque.kept ? take_kept(es) : get_deque(!may_wait);
    if (!deque)
        return &no_deque.full;
    region->deque = deque;
    region->link.hooks = (ABTX_switch_hooks){leave_stream, NULL, may_wait ? region : NULL};
    region->link.next = es ? es->hooks : NULL;
    if (may_wait)
        abti_hooks_set(es, &region->link);
    return &deque->entries[0];
}

static ABTI_COLD void tell_unjoined(struct abti_deque *deque)
{
    uint32_t num = abti_deque_top(deque);
    fprintf(stderr, "libabt: a function has ended that has forked %u task%s and not joined %s; see doc/fork-join.md\n",
            num, num == 1 ? "" : "s", num == 1 ? "it" : "them");
}

void ABTX_fork_leave(struct abtx_region *region)
{
    struct abti_deque *deque = region->deque;
    if (!deque)
        return;
    abti_es *es = abti_es_self;
    bool is_open = region->link.hooks.arg != NULL, has_joined = deque->entries[0] == NULL;
    if (is_open && es)
        abti_hooks_take(es, &region->link);
    else if (is_open)
        abti_blocking_remove_hooks(&region->link);
    if (ABTI_UNLIKELY(!has_joined))
        tell_unjoined(deque); /* and thieves may still come: it is used no more */
    else if (is_open && es)
        fork_keep(es, deque);
    else if (is_open)
        put_kept(deque);
    else
        abti_workers_put_deque(deque);
}

/* --- Fork --- */

/* Publishes if that is asked, and wakes a waiter. */
static void fork_publish(struct abti_deque *deque, uint32_t top)
{
    if (abti_deque_publish(deque, top))
        abti_workers_offer(deque);
}

abtx_at ABTX_fork_slow(abtx_at here, struct abtx_task *task)
{
    if (is_nowhere(here)) {
        task->run(here, task);
        return here;
    }
    struct abti_deque *deque = abti_deque_of(here);
    fork_publish(deque, (uint32_t)(here - deque->entries) + 1);
    return here + 1;
}

/* --- Join --- */

/* Whether the task has still to end, and notes the forker then. */
static bool register_forker(struct abtx_task *task, uintptr_t forker)
{
    uintptr_t runs = ABTI_TASK_RUNS;
    /* release: pairs with the exchange in abti_fork_run_stolen. acquire: pairs with it, too, when the task has ended */
    return abti_cas_acq_rel(abti_task_state(task), &runs, forker);
}

/* Of a forker in a blocking region, which has a native thread and no stream. */
static ABTI_COLD void wait_natively(struct abtx_task *task)
{
    struct abti_sleeper sleeper = {.word = ABTI_AWAKE};
    abti_external_note();
    abti_sleeper_prepare(&sleeper);
    if (register_forker(task, (uintptr_t)&sleeper | ABTI_TASK_NATIVE))
        (void)abti_sleeper_sleep(&sleeper, ABTI_CLOCK_NEVER);
}

/* A thief has the task: waits until it has ended. */
static void wait_for(struct abti_deque *deque, struct abtx_task *task)
{
    abti_es *es = abti_es_self;
    deque->waiter = es ? es->cur : NULL;
    if (!es)
        wait_natively(task);
    else if (register_forker(task, (uintptr_t)deque))
        (void)abti_suspend(es, es->cur);
    abti_annotate_acquire(task);
}

int ABTX_fork_join_slow(abtx_at here)
{
    if (is_nowhere(here))
        return 0; /* it has run when it was forked */
    struct abti_deque *deque = abti_deque_of(here);
    uint32_t index = (uint32_t)(here - deque->entries);
    bool is_ours = true;
    abti_assert(*here != NULL);
    if (index >= deque->split)
        fork_publish(deque, index);
    else
        is_ours = abti_deque_take_back(deque, index);
    if (!is_ours) {
        wait_for(deque, *here);
        abti_deque_forget(deque, index);
    }
    *here = NULL;
    return is_ours;
}

/* --- A thief --- */

/*
 * Resumes the forker that waits for the task which ends. If it is a task's ULT, too, that the library has made, it goes
 * on here, in the pool of the ULT that ends: where it has blocked, its stream sleeps by now, or runs something else. So
 * the last part of a tree does not wait for a wake at each of its levels. If either ULT has left the pool that the
 * library has put it into, or the forker is pinned, it stays.
 */
static void resume_forker(struct abti_deque *deque, abti_pool *home)
{
    abti_es *es = abti_es_self;
    abti_unit *forker = deque->waiter;
    abti_spin_until(abti_unit_is_blocked(forker));
    bool are_home = es && home == es->cur->pool && deque->home == forker->pool;
    if (are_home && home != deque->home && !abti_unit_is_pinned(forker)) {
        abti_migrate_blocked(es, forker, home);
        deque->home = home;
    }
    abti_resume_joiner(forker);
}

/* Where the library has put the ULT, which ends. The deque's next owner may be one of the program, which stays. */
static abti_pool *take_home(struct abti_deque *deque)
{
    abti_pool *home = deque ? deque->home : NULL;
    if (home)
        deque->home = NULL;
    return home;
}

void abti_fork_run_stolen(void *arg)
{
    struct abtx_task *task = arg;
    struct abtx_region region;
    abti_annotate_acquire(task);
    abtx_at here = ABTX_fork_enter(&region);
    struct abti_deque *deque = region.deque;
    abti_pool *pool = abti_es_self->cur->pool;
    if (deque && !abti_pool_is_user(pool))
        deque->home = pool;
    task->run(here, task);
    abti_pool *home = take_home(deque);
    ABTX_fork_leave(&region);
    abti_annotate_release(task);
    /* release: the forker sees the stores of the task. acquire: pairs with the compare-and-swap in register_forker.
     * The task may be gone at once. */
    uintptr_t before = abti_exchange_acq_rel(abti_task_state(task), ABTI_TASK_DONE);
    if (before & ABTI_TASK_NATIVE)
        (void)abti_sleeper_wake((struct abti_sleeper *)(before & ~ABTI_TASK_NATIVE));
    else if (before != ABTI_TASK_RUNS)
        resume_forker((struct abti_deque *)before, home);
}

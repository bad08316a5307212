/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/timer.h"

#include <string.h>
#include "base/assert.h"
#include "run/sched.h"
#include "rt/rt.h"
#include "sync/lookout.h"

/* How many waits are ended at a time, since others are to run in between and want the lock. */
enum { FIRE_BATCH = 256 };

/*
 * They stay at the same place for ever: a waiter may still be looking at the timers of an ES that has gone, to find
 * that its own timer has been moved. What is not used takes no memory.
 */
static struct abti_timers timers_of_all[ABTI_MAX_ES] = {
    [0 ... ABTI_MAX_ES - 1] = {.lock = ABTI_SPIN_INIT(ABTI_RANK_TIMERS)},
};

static _Atomic(unsigned) highest; /* the highest index that an ES has had */

void abti_timers_forget(unsigned index)
{
    struct abti_timers *timers = &timers_of_all[index];
    memset(timers, 0, sizeof(*timers));
    abti_spin_init(&timers->lock, ABTI_RANK_TIMERS);
    abti_store_relaxed(&timers->next,
                       ABTI_CLOCK_NEVER); /* relaxed: there is no other thread, or none that polls here */
    timers->bit = abti_lookout_bit(index);
}

struct abti_timers *abti_timers_of(unsigned index)
{
    if (index > abti_load_relaxed(&highest)) { /* relaxed: rt.lock is held */
        abti_timers_forget(index);
        abti_store_release(&highest, index); /* release: pairs with the acquire in abti_timers_at */
    }
    return &timers_of_all[index];
}

struct abti_timers *abti_timers_at(unsigned index)
{
    /* acquire: pairs with the release in abti_timers_of */
    return index <= abti_load_acquire(&highest) ? &timers_of_all[index] : NULL;
}

/* Says when the ES has to poll next, with the lock held. */
static void set_next(struct abti_timers *timers)
{
    abti_assert(abti_spin_is_mine(&timers->lock));
    struct abti_heap_node *first = abti_heap_first(&timers->heap);
    uint64_t next = timers->recheck ? 0 : first ? first->key : ABTI_CLOCK_NEVER;
    /*
     * seq_cst: pairs with the load in abti_timer_next, see abti_es_park. A caller that gives timers to an ES then looks
     * at its sleeper.
     */
    abti_store_seq_cst(&timers->next, next);
}

static struct abti_timer *timer_of(struct abti_heap_node *node)
{
    return ABTI_CONTAINER_OF(node, struct abti_timer, node);
}

/* --- One timer --- */

void abti_timer_arm(abti_es *es, struct abti_timer *timer, struct abti_waiter *waiter, uint64_t deadline_ns,
                    abti_timer_poll poll)
{
    struct abti_timers *timers = es->timers;
    abti_pool *pool = es->cur->pool;
    abti_assert(es == abti_es_self && (poll != NULL) == (waiter->unit != NULL));
    timer->waiter = waiter;
    timer->poll = poll;
    timer->node.key = deadline_ns;
    atomic_init(&timer->timers, timers);
    abti_spin_lock(&timers->lock);
    abti_heap_insert(&timers->heap, &timer->node);
    if (deadline_ns < abti_load_relaxed(&timers->next))
        abti_store_relaxed(&timers->next, deadline_ns);
    bool noted = abti_lookout_has(&pool->lookout, timers->bit);
    abti_spin_unlock(&timers->lock);
    if (ABTI_UNLIKELY(!noted))
        abti_lookout_note(pool, timers);
}

/*
 * Takes a timer out, with the lock held. relaxed: the caller alone looks at timer->timers from now on, and the lock
 * orders `next`.
 */
static void take_out(struct abti_timers *timers, struct abti_timer *timer)
{
    abti_heap_remove(&timer->node);
    abti_store_relaxed(&timer->timers, NULL); /* relaxed, here and below: the lock is held */
    if (timer->node.key == abti_load_relaxed(&timers->next))
        set_next(timers);
}

void abti_timer_disarm(struct abti_timer *timer)
{
    struct abti_timers *timers;
    /* acquire: pairs with the release in take_due; the thread that stored NULL is done with the timer */
    while ((timers = abti_load_acquire(&timer->timers)) != NULL) {
        abti_spin_lock(&timers->lock);
        /* relaxed: the lock is held. The timer has not been moved meanwhile, or fired */
        bool there = abti_load_relaxed(&timer->timers) == timers;
        if (there)
            take_out(timers, timer);
        abti_spin_unlock(&timers->lock);
        if (there)
            return;
    }
}

/* --- Firing --- */

/* Makes cancelled waiters due at once, with the lock held. Waiters with a poll go on waiting. */
static void expire_cancelled(struct abti_timers *timers)
{
    timers->recheck = false;
    for (struct abti_heap_node *node = abti_heap_drain(&timers->heap), *next; node; node = next) {
        next = node->next;
        /* seq_cst: pairs with the request in ABT_thread_cancel, see abti_timers_recheck */
        if (!timer_of(node)->poll && atomic_load(&timer_of(node)->waiter->ult->requests) & ABTI_REQ_CANCEL)
            node->key = 0;
        abti_heap_insert(&timers->heap, node);
    }
}

/*
 * Takes the timers out that are due, with the lock held. Returns those whose wait no other thread has ended, in a list
 * by node.next, the first in time first.
 */
static struct abti_heap_node *take_due(struct abti_timers *timers, uint64_t now)
{
    struct abti_heap_node *due = NULL, **tail = &due, *node;
    for (int i = 0; i < FIRE_BATCH && (node = abti_heap_first(&timers->heap)) && node->key <= now; i++) {
        struct abti_timer *timer = timer_of(node);
        abti_heap_remove(node);
        uint64_t next = timer->poll ? timer->poll(timer, now) : ABTI_POLL_WAKE;
        if (next != ABTI_POLL_WAKE) {
            node->key = next;
            abti_heap_insert(&timers->heap, node);
            continue;
        }
        if (timer->poll || abti_waiter_give_up(timer->waiter)) {
            node->next = NULL;
            *tail = node;
            tail = &node->next;
        }
        /*
         * release: pairs with the acquire in abti_timer_disarm. From here on we may not touch a waiter that others have
         * claimed
         */
        abti_store_release(&timer->timers, NULL);
    }
    return due;
}

struct abti_heap_node *abti_timers_take_due(struct abti_timers *timers, uint64_t now_ns)
{
    abti_spin_lock(&timers->lock);
    if (timers->recheck)
        expire_cancelled(timers);
    struct abti_heap_node *due = take_due(timers, now_ns);
    set_next(timers);
    abti_spin_unlock(&timers->lock);
    return due;
}

void abti_timers_wake(struct abti_heap_node *due)
{
    while (due) {
        struct abti_waiter *waiter = timer_of(due)->waiter;
        due = due->next;
        abti_waiter_wake(waiter); /* then its frame, with the timer in it, may be gone */
    }
}

void abti_timers_fire(abti_es *es)
{
    uint64_t now = abti_clock_mono_ns();
    /* relaxed: as in abti_timers_poll. It is a racy read; an ES that is about to sleep polls again */
    if (now >= abti_load_relaxed(&es->timers->next))
        abti_timers_wake(abti_timers_take_due(es->timers, now));
}

/*
 * Tells an ES to look at its timers at `next`, at once if that is 0. The caller holds its timers' lock, and rt.lock,
 * which keeps it alive. relaxed: the lock orders it.
 */
static void tell_of_timer(abti_es *es, uint64_t next)
{
    if (next >= abti_load_relaxed(&es->timers->next)) /* relaxed: the lock is held */
        return;
    abti_assert(abti_spin_is_mine(&es->timers->lock));
    abti_store_seq_cst(&es->timers->next, next); /* seq_cst: pairs with the load in abti_timer_next */
    abti_es_wake(es);
}

/*
 * A waiter holds itself (unit->held), arms its timer, and then looks for a cancellation (block_until). The canceller
 * sets that, and then looks whether the unit is held (ABT_thread_cancel). seq_cst: one of the two sees the other. A
 * timer that is armed after we have held its lock sees the cancellation; one that is moved is not, by rt.lock.
 */
void abti_timers_recheck(abti_pool *pool)
{
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        struct abti_timers *timers = es->timers;
        abti_spin_lock(&timers->lock);
        if (abti_heap_some(&timers->heap)) {
            timers->recheck = true;
            tell_of_timer(es, 0);
        }
        abti_spin_unlock(&timers->lock);
    }
    /* The ES may have no time to poll. The wait may be over, the ULT ended and its pool freed. */
    if (abti_pool_find(pool))
        abti_parking_look_out_by(pool, 0);
    abti_spin_unlock(&abti_rt.lock);
}

/* --- Streams that come and go --- */

/*
 * Whether the ES serves the pool and has not been asked to end, with rt.lock held. An ES that ends has seen the request
 * before it takes rt.lock in abti_timers_leave: it is given nothing after that. seq_cst: pairs with the requests in
 * abti_es_notify and abti_sched_request, and with the store of es->main_sched in install_replacement (stream/main.c).
 */
static bool serves_pool(abti_es *es, abti_pool *pool)
{
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    if (atomic_load(&es->requests) & (ABTI_ES_REQ_JOIN | ABTI_ES_REQ_CANCEL))
        return false;
    abti_spin_lock(&es->replace.lock); /* the scheduler stays while this is held */
    abti_sched *sched = atomic_load(&es->main_sched);
    bool ends = (atomic_load(&sched->requests) & (ABTI_SCHED_REQ_FINISH | ABTI_SCHED_REQ_EXIT)) != 0;
    bool yes = !ends && abti_sched_uses(sched, pool);
    abti_spin_unlock(&es->replace.lock);
    return yes;
}

/* Returns another ES that serves the pool, or NULL, with rt.lock held. */
static abti_es *find_server(abti_es *self, abti_pool *pool)
{
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        if (es != self && serves_pool(es, pool))
            return es;
    }
    return NULL;
}

/*
 * Moves a timer, with rt.lock and the lock of its present ES held. By rt.lock no other thread takes the two locks the
 * other way round meanwhile.
 */
static void move_timer(struct abti_timer *timer, abti_es *to, abti_pool *pool)
{
    struct abti_timers *timers = to->timers;
    abti_spin_lock(&timers->lock);
    abti_heap_remove(&timer->node);
    abti_heap_insert(&timers->heap, &timer->node);
    /* relaxed: a thread that looks at the timer takes one of the locks */
    abti_store_relaxed(&timer->timers, timers);
    tell_of_timer(to, timer->node.key);
    bool noted = abti_lookout_has(&pool->lookout, timers->bit);
    abti_spin_unlock(&timers->lock);
    if (!noted)
        abti_lookout_note(pool, timers);
}

static abti_unit *ult_of(const struct abti_timer *timer)
{
    return timer->waiter->unit ? timer->waiter->unit : timer->waiter->ult;
}

static bool has_deadline(const struct abti_timer *timer)
{
    return !timer->poll && timer->node.key != ABTI_CLOCK_NEVER;
}

/* Another ES, the primary one if it is there; NULL: there is none. */
static abti_es *find_other(abti_es *but)
{
    abti_es *es = abti_rt.xstreams; /* in order of rank, which the primary one's is 0 of */
    return es == but ? es->next : es;
}

/*
 * Does what abti_timers_leave says, with rt.lock and the ES's timers' lock held. Timers without a deadline, whose ULTs
 * wait like any other, keep no ES.
 */
static bool give_away(abti_es *es, bool force)
{
    abti_sched *own = atomic_load(&es->main_sched); /* seq_cst: of no use; the ES alone stores it */
    abti_pool *last = NULL;
    abti_es *server = NULL;
    for (struct abti_heap_node *node; (node = abti_heap_some(&es->timers->heap)) != NULL;) {
        struct abti_timer *timer = timer_of(node);
        abti_pool *pool = abti_unit_last_pool(ult_of(timer));
        if (pool != last)
            server = find_server(es, pool);
        last = pool;
        if (!server && !force && has_deadline(timer) && abti_sched_uses(own, pool))
            return false;
        if (!server && !abti_es_is_primary(es))
            server = find_other(es);
        if (server) {
            move_timer(timer, server, pool);
        } else { /* The library ends with the last ES: a ULT that nobody would run is not woken. */
            abti_heap_remove(node);
            abti_store_release(&timer->timers, NULL); /* release: pairs with the acquire in abti_timer_disarm */
        }
    }
    return true;
}

bool abti_timers_leave(abti_es *es, bool force)
{
    struct abti_timers *timers = es->timers;
    if (force)
        atomic_fetch_or(&es->requests, ABTI_ES_REQ_CANCEL); /* seq_cst: pairs with the load in serves_pool, whatever
                                                               the reason is */
    abti_spin_lock(&abti_rt.lock);
    abti_spin_lock(&timers->lock);
    if (timers->recheck)
        expire_cancelled(timers);
    bool left = give_away(es, force);
    set_next(timers);
    abti_spin_unlock(&timers->lock);
    abti_spin_unlock(&abti_rt.lock);
    return left;
}

bool abti_timers_keep(abti_sched *sched)
{
    abti_es *es = abti_es_self;
    /* seq_cst: pairs with abti_sched_request; of es->main_sched, which the ES alone stores, it is of no use */
    if (!es || atomic_load(&es->main_sched) != sched || !(atomic_load(&sched->requests) & ABTI_SCHED_REQ_FINISH))
        return false;
    abti_spin_lock(&es->timers->lock);
    bool any = abti_heap_some(&es->timers->heap) != NULL;
    abti_spin_unlock(&es->timers->lock);
    return any && !abti_timers_leave(es, false);
}

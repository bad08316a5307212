#include "sync/timer.h"

#include <string.h>
#include "base/assert.h"
#include "rt/rt.h"
#include "run/sched.h"

/* How many waits are ended at a time: others are to run in between, and the lock is wanted. */
enum { FIRE_BATCH = 256 };

/*
 * For ever at the same place: a waiter may still be looking at the timers of an ES that has gone, to find that its own
 * has been moved. What is not used takes no memory.
 */
static struct abti_timers timers_of_all[ABTI_MAX_ES] = {
    [0 ... ABTI_MAX_ES - 1] = {.lock = ABTI_SPIN_INIT(ABTI_RANK_TIMERS)},
};

struct abti_timers *abti_timers_of(unsigned index)
{
    struct abti_timers *timers = &timers_of_all[index];
    abti_store_relaxed(&timers->next, ABTI_CLOCK_NEVER);
    return timers;
}

void abti_timers_forget(unsigned index)
{
    struct abti_timers *timers = &timers_of_all[index];
    memset(timers, 0, sizeof(*timers));
    abti_spin_init(&timers->lock, ABTI_RANK_TIMERS);
}

/* lock held */
static void set_next(struct abti_timers *timers)
{
    struct abti_heap_node *first = abti_heap_first(&timers->heap);
    uint64_t next = timers->recheck ? 0 : first ? first->key : ABTI_CLOCK_NEVER;
    /* seq_cst, and so is abti_timer_next: see abti_es_park. A caller that gives timers to an ES then looks at its
     * sleeper. */
    abti_store_seq_cst(&timers->next, next);
}

static struct abti_timer *timer_of(struct abti_heap_node *node)
{
    return ABTI_CONTAINER_OF(node, struct abti_timer, node);
}

/* --- One timer --- */

void abti_timer_arm(abti_es *es, struct abti_timer *timer, struct abti_waiter *waiter, uint64_t deadline_ns,
                    abti_timer_look look)
{
    struct abti_timers *timers = es->timers;
    abti_assert(es == abti_es_self && (look != NULL) == (waiter->unit != NULL));
    timer->waiter = waiter;
    timer->look = look;
    timer->node.key = deadline_ns;
    atomic_init(&timer->timers, timers);
    abti_spin_lock(&timers->lock);
    abti_heap_insert(&timers->heap, &timer->node);
    /* relaxed: it is the ES itself that looks at it and sleeps */
    if (deadline_ns < abti_load_relaxed(&timers->next))
        abti_store_relaxed(&timers->next, deadline_ns);
    abti_spin_unlock(&timers->lock);
}

/* lock held */
static void take_out(struct abti_timers *timers, struct abti_timer *timer)
{
    abti_heap_remove(&timer->node);
    abti_store_relaxed(&timer->timers, NULL);
    if (timer->node.key == abti_load_relaxed(&timers->next))
        set_next(timers);
}

void abti_timer_disarm(struct abti_timer *timer)
{
    struct abti_timers *timers;
    /* acquire: pairs with the release in take_due; the thread that stored NULL is done with the timer */
    while ((timers = abti_load_acquire(&timer->timers)) != NULL) {
        abti_spin_lock(&timers->lock);
        bool there = abti_load_relaxed(&timer->timers) == timers; /* it has not been moved meanwhile, or fired */
        if (there)
            take_out(timers, timer);
        abti_spin_unlock(&timers->lock);
        if (there)
            return;
    }
}

/* --- Firing --- */

/* Cancelled waiters are due at once; those with a look go on waiting. lock held */
static void expire_cancelled(struct abti_timers *timers)
{
    timers->recheck = false;
    for (struct abti_heap_node *node = abti_heap_drain(&timers->heap), *next; node; node = next) {
        next = node->next;
        /* seq_cst: see abti_timers_recheck */
        if (!timer_of(node)->look && atomic_load(&timer_of(node)->waiter->ult->requests) & ABTI_REQ_CANCEL)
            node->key = 0;
        abti_heap_insert(&timers->heap, node);
    }
}

/* Whether the ES wakes the waiter of a timer that is due and taken out. *again: its next time; NEVER: none. lock held
 */
static bool end_wait(struct abti_timer *timer, uint64_t now, uint64_t *again)
{
    *again = ABTI_CLOCK_NEVER;
    if (!timer->look)
        return abti_waiter_give_up(timer->waiter);
    uint64_t next = timer->look(timer, now);
    if (next == ABTI_LOOK_WAKE)
        return true;
    *again = next;
    return false;
}

/*
 * Takes out what is due. Of those whose wait nobody else has ended, a list by node.next, first in time first. lock held
 */
static struct abti_heap_node *take_due(struct abti_timers *timers, uint64_t now)
{
    struct abti_heap_node *due = NULL, **tail = &due, *node;
    uint64_t again;
    for (int i = 0; i < FIRE_BATCH && (node = abti_heap_first(&timers->heap)) && node->key <= now; i++) {
        struct abti_timer *timer = timer_of(node);
        abti_heap_remove(node);
        if (end_wait(timer, now, &again)) {
            node->next = NULL;
            *tail = node;
            tail = &node->next;
        } else if (again != ABTI_CLOCK_NEVER) {
            node->key = again;
            abti_heap_insert(&timers->heap, node);
            continue;
        }
        /* release: pairs with abti_timer_disarm. Of a waiter that others have claimed nothing is ours from here on */
        abti_store_release(&timer->timers, NULL);
    }
    return due;
}

void abti_timers_fire(abti_es *es)
{
    struct abti_timers *timers = es->timers;
    uint64_t now = abti_clock_mono_ns();
    if (now < abti_load_relaxed(&timers->next))
        return;
    abti_spin_lock(&timers->lock);
    if (timers->recheck)
        expire_cancelled(timers);
    struct abti_heap_node *due = take_due(timers, now);
    set_next(timers);
    abti_spin_unlock(&timers->lock);
    while (due) {
        struct abti_waiter *waiter = timer_of(due)->waiter;
        due = due->next;
        abti_waiter_wake(waiter); /* and its frame, with the timer in it, may be gone */
    }
}

/* An ES has to look at its timers, at once if at 0; its timers' lock held, and rt.lock, which keeps it alive. */
static void tell_of_timer(abti_es *es, uint64_t next)
{
    if (next >= abti_load_relaxed(&es->timers->next))
        return;
    abti_store_seq_cst(&es->timers->next, next); /* see abti_es_park */
    abti_es_wake(es);
}

/*
 * A waiter holds itself (unit->held), arms its timer, and then looks for a cancellation; the canceller sets that, and
 * then looks whether the unit is held. All sequentially consistent: one of the two sees the other. A timer that is
 * armed behind our back sees the cancellation, since its lock was ours before; one that is moved is not, by rt.lock.
 */
void abti_timers_recheck(void)
{
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        struct abti_timers *timers = es->timers;
        abti_spin_lock(&timers->lock);
        if (abti_heap_any(&timers->heap)) {
            timers->recheck = true;
            tell_of_timer(es, 0);
        }
        abti_spin_unlock(&timers->lock);
    }
    abti_spin_unlock(&abti_rt.lock);
}

/* --- Streams that come and go --- */

/*
 * Whether the ES serves the pool and has not been told to end, rt.lock held. One that ends has seen that it is told
 * before it takes rt.lock in abti_timers_leave: it is given nothing after that.
 */
static bool serves_pool(abti_es *es, abti_pool *pool)
{
    if (atomic_load(&es->requests) & (ABTI_ES_REQ_JOIN | ABTI_ES_REQ_CANCEL))
        return false;
    abti_spin_lock(&es->replace_lock); /* the scheduler stays as long */
    abti_sched *sched = atomic_load(&es->main_sched);
    bool ends = (atomic_load(&sched->requests) & (ABTI_SCHED_REQ_FINISH | ABTI_SCHED_REQ_EXIT)) != 0;
    bool yes = !ends && abti_sched_uses(sched, pool);
    abti_spin_unlock(&es->replace_lock);
    return yes;
}

/* Another ES that serves the pool, NULL: none; rt.lock held. */
static abti_es *find_server(abti_es *self, abti_pool *pool)
{
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        if (es != self && serves_pool(es, pool))
            return es;
    }
    return NULL;
}

/* rt.lock held, which is why the two locks are not taken the other way round meanwhile, and the lock of `from`. */
static void move_timer(struct abti_timer *timer, abti_es *to)
{
    struct abti_timers *timers = to->timers;
    abti_spin_lock(&timers->lock);
    abti_heap_remove(&timer->node);
    abti_heap_insert(&timers->heap, &timer->node);
    /* relaxed: a thread that looks at the timer takes one of the locks */
    abti_store_relaxed(&timer->timers, timers);
    tell_of_timer(to, timer->node.key);
    abti_spin_unlock(&timers->lock);
}

/* The last ES ends, and the library with it: a ULT that nobody would run is not woken. */
static void drop_timer(struct abti_timer *timer)
{
    abti_heap_remove(&timer->node);
    abti_store_release(&timer->timers, NULL); /* pairs with abti_timer_disarm */
}

static abti_unit *ult_of(const struct abti_timer *timer)
{
    return timer->waiter->unit ? timer->waiter->unit : timer->waiter->ult;
}

static bool has_deadline(const struct abti_timer *timer)
{
    return !timer->look && timer->node.key != ABTI_CLOCK_NEVER;
}

/*
 * What abti_timers_leave says; rt.lock and the ES's timers' lock held. Those without a deadline, which wait like any
 * other ULT, keep nobody.
 */
static bool give_away(abti_es *es, bool force)
{
    abti_sched *own = atomic_load(&es->main_sched);
    abti_pool *last = NULL;
    abti_es *server = NULL;
    for (struct abti_heap_node *node; (node = abti_heap_any(&es->timers->heap)) != NULL;) {
        struct abti_timer *timer = timer_of(node);
        abti_pool *pool = abti_unit_last_pool(ult_of(timer));
        if (pool != last)
            server = find_server(es, pool);
        last = pool;
        if (!server && !force && has_deadline(timer) && abti_sched_uses(own, pool))
            return false;
        if (server)
            move_timer(timer, server);
        else if (!es->is_primary)
            move_timer(timer, abti_rt.primary);
        else
            drop_timer(timer);
    }
    return true;
}

bool abti_timers_leave(abti_es *es, bool force)
{
    struct abti_timers *timers = es->timers;
    if (force)
        atomic_fetch_or(&es->requests, ABTI_ES_REQ_CANCEL); /* whatever the reason, see serves_pool */
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
    if (!es || atomic_load(&es->main_sched) != sched || !(atomic_load(&sched->requests) & ABTI_SCHED_REQ_FINISH))
        return false;
    abti_spin_lock(&es->timers->lock);
    bool any = abti_heap_any(&es->timers->heap) != NULL;
    abti_spin_unlock(&es->timers->lock);
    return any && !abti_timers_leave(es, false);
}

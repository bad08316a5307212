/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/mutex.h"

#include "base/assert.h"
#include "run/sched.h"
#include "run/yield.h"
#include "sync/timer.h"
#include "wait/external.h"
#include "wait/native.h"

/*
 * The worth of each: doc/tuning.md. Powers of two: the times of all polls are rounded to the same ones. PASSES: how
 * often a waiter of another pool is passed over while it is the first.
 */
enum { POLL_FIRST_NS = 1 << 20, POLL_RARELY_NS = 1 << 27, MOST_PASSES = 128 };

/* --- The owner: kept of a recursive mutex, and of all while owners are watched; then quick paths are closed --- */

struct abti_mutex_quick abti_mutex_quick = {0, ABTI_MUTEX_LOCKED};

void abti_mutex_watch_owners(bool watch)
{
    const uint32_t never = (uint32_t)-1; /* no word ever holds this */
    abti_mutex_quick.free = watch ? never : 0;
    abti_mutex_quick.held = watch ? never : ABTI_MUTEX_LOCKED;
}

const void *abti_mutex_self(void)
{
    abti_es *es = abti_es_self;
    if (es)
        return es->cur;
    abti_external_note();
    struct abti_known *known = abti_known_self;
    if (known)
        abti_store_relaxed(&known->owns_as, &abti_es_self); /* relaxed: it is only shown */
    return &abti_es_self;                                   /* no other thread has anything there */
}

static bool is_owned(ABT_mutex mutex)
{
    return ((abti_load_relaxed(&mutex->word) | abti_mutex_quick.free) & ABTI_MUTEX_RECURSIVE) != 0;
}

/* Out of line: a ULT that has waited may have come to another native thread. */
static ABTI_NOINLINE void set_owner(ABT_mutex mutex)
{
    abti_store_relaxed(abti_mutex_owner_at(mutex), abti_mutex_self());
}

/* Counts one level more if the mutex is recursive and the caller's. */
static bool enter_again(ABT_mutex mutex)
{
    if (!abti_mutex_is_recursive(mutex) || abti_mutex_owner(mutex) != abti_mutex_self())
        return false;
    mutex->depth++;
    return true;
}

/* Takes the owner away. False: the caller is so still, as the mutex is recursive. */
static bool clear_owner(ABT_mutex mutex)
{
    if (abti_mutex_is_recursive(mutex) && mutex->depth > 0) {
        mutex->depth--;
        return false;
    }
    abti_store_relaxed(abti_mutex_owner_at(mutex), NULL);
    return true;
}

/* --- Waiters, each on its own stack --- */

struct mutex_waiter {
    struct abti_waiter base;  /* without a `unit`: of a native thread */
    struct abti_waitq *queue; /* lock: where it is, or was when its turn came; NULL: it queues behind all others */
    unsigned passes;          /* lock: in `waiters`, how often others were woken while it was the first */
};

_Static_assert(sizeof(struct mutex_waiter) <= ABTI_CTX_ROOM, "waits there");

static struct mutex_waiter *waiter_of(struct abti_waiter *w)
{
    return ABTI_CONTAINER_OF(w, struct mutex_waiter, base);
}

static bool is_of_home(ABT_mutex mutex, const struct abti_waiter *w)
{
    return w->unit && w->unit->pool == mutex->home;
}

/*
 * Takes the mutex (true) if none of the bits `barred` is set, and clears SUCCESSOR. Otherwise it announces a waiter,
 * if it `announces`, with `lock` held. `comes`: the caller has been woken, and is COMING no more. relaxed: the
 * compare-and-swap looks again. acquire: pairs with abti_mutex_drop_plain and release_plain. release: of no use.
 */
ABTI_INLINE bool take_or_announce(ABT_mutex mutex, uint32_t barred, bool comes, bool announces)
{
    uint32_t word = abti_load_relaxed(&mutex->word);
    for (;;) {
        bool is_free = !(word & barred);
        uint32_t next = comes ? word & ~(uint32_t)(ABTI_MUTEX_COMING | ABTI_MUTEX_QUIET) : word;
        next = is_free ? (next & ~(uint32_t)ABTI_MUTEX_SUCCESSOR) | ABTI_MUTEX_LOCKED : next | ABTI_MUTEX_WAITERS;
        if ((!is_free && !announces) || next == word || abti_cas_word(&mutex->word, &word, next))
            return is_free;
    }
}

/*
 * A native thread spins for a moment before it sleeps: twice as long after each poll, since each takes the mutex's line
 * from its holder, which comes back for it a few times at full speed meanwhile. When others are queued the holder does
 * not run, most likely.
 */
static ABTI_NOINLINE bool spin_take(ABT_mutex mutex, bool comes)
{
    enum { SPINS = 6, SPINS_BEHIND = 3 };
    int polls = abti_load_relaxed(&mutex->word) & ABTI_MUTEX_WAITERS ? SPINS_BEHIND : SPINS; /* relaxed: a racy read */
    for (int i = 0; i < polls; i++) {
        if (take_or_announce(mutex, ABTI_MUTEX_LOCKED, comes, false))
            return true;
        for (int pauses = 1 << i; pauses > 0; pauses--)
            abti_cpu_relax();
    }
    return false;
}

/* --- Waiting in a queue, with a poll from time to time --- */

/* When to poll next: in a step's time, or up to another step later. The step doubles. */
static uint64_t next_poll_ns(uint64_t *step_ns, uint64_t now_ns)
{
    uint64_t step = *step_ns;
    *step_ns = step < POLL_RARELY_NS ? 2 * step : step;
    return (now_ns + 2 * step - 1) & ~(step - 1);
}

/*
 * Takes a waiter out of its queue, with `lock` held, if nobody holds the mutex, and no unlock has taken the waiter out:
 * it may be linked still, by move_home. relaxed: the waiter acquires the mutex later.
 */
static bool leave_queue(ABT_mutex mutex, struct mutex_waiter *w)
{
    abti_assert(abti_load_relaxed(&mutex->lock.word) == 1);
    if (abti_load_relaxed(&mutex->word) & ABTI_MUTEX_LOCKED || !w->base.next || !w->queue)
        return false;
    abti_waitq_remove(w->queue, &w->base);
    return true;
}

struct poll {
    struct abti_timer timer;
    uint64_t step_ns; /* until the next poll, at least */
};

/* Polls for a ULT, on its ES. The mutex still exists: the ULT has not returned from its lock. */
static uint64_t poll_for_ult(struct abti_timer *timer, uint64_t now_ns)
{
    struct poll *poll = ABTI_CONTAINER_OF(timer, struct poll, timer);
    ABT_mutex mutex = (ABT_mutex)timer->waiter->object;
    bool left = false;
    if (abti_spin_trylock(&mutex->lock)) {
        left = leave_queue(mutex, waiter_of(timer->waiter));
        abti_spin_unlock(&mutex->lock);
    }
    return left ? ABTI_POLL_WAKE : next_poll_ns(&poll->step_ns, now_ns);
}

static ABTI_NOINLINE void park_natively(ABT_mutex mutex, struct mutex_waiter *w)
{
    uint64_t step_ns = POLL_FIRST_NS;
    w->base.ult = NULL;
    atomic_init(&w->base.word, ABTI_AWAKE);
    abti_spin_unlock(&mutex->lock);
    abti_known_only_polls(true);
    for (bool left = false; !left && !abti_native_wait(&w->base.word, next_poll_ns(&step_ns, abti_clock_mono_ns()));) {
        abti_spin_lock(&mutex->lock);
        left = leave_queue(mutex, w);
        abti_spin_unlock(&mutex->lock);
    }
    abti_known_only_polls(false);
}

/* Parks a ULT, with `lock` held and the ULT queued. It leaves to `next`; NULL: to the unit that is picked. */
ABTI_INLINE void park_queued(ABT_mutex mutex, struct abti_waiter *w, abti_unit *next)
{
    if (next)
        abti_waiter_park_to(w, &mutex->lock, next);
    else
        abti_waiter_park(w, &mutex->lock, NULL);
}

static ABTI_NOINLINE void park_polling(ABT_mutex mutex, struct abti_waiter *w, abti_unit *next)
{
    struct poll poll = {.step_ns = POLL_FIRST_NS};
    abti_timer_arm(abti_es_self, &poll.timer, w, next_poll_ns(&poll.step_ns, abti_clock_mono_ns()), poll_for_ult);
    park_queued(mutex, w, next);
    abti_timer_disarm(&poll.timer);
}

/*
 * Waits, with `lock` held: as the first if its turn had come before. A ULT in `near`, of a FIFO pool, does not poll,
 * see "Nobody waits for ever" in sync/mutex.h.
 */
ABTI_INLINE void queue_and_park(ABT_mutex mutex, struct mutex_waiter *w, abti_unit *next)
{
    bool is_near = is_of_home(mutex, &w->base), is_first = w->queue != NULL;
    w->queue = is_near ? &mutex->near : &mutex->waiters;
    if (is_first)
        abti_waitq_push_front(w->queue, &w->base);
    else
        abti_waitq_push(w->queue, &w->base);
    abti_waiter_hold(&w->base);
    if (!w->base.unit)
        park_natively(mutex, w);
    else if (is_near && abti_pool_is_fifo(w->base.unit->pool))
        park_queued(mutex, &w->base, next);
    else
        park_polling(mutex, &w->base, next);
}

/*
 * Looks for a successor that has not come, with `lock` held. Returns it, taken out of the caller's own pool, to leave
 * to, if it is next there. If it is further behind the caller yields, once: otherwise a ULT that takes the mutex anew
 * at once, again and again, and leaves it to nobody by a block while another unit of its pool is ready, would have it
 * for ever.
 */
static ABTI_NOINLINE abti_unit *give_way_to_successor(ABT_mutex mutex, abti_unit *self)
{
    if (!(abti_load_relaxed(&mutex->word) & ABTI_MUTEX_SUCCESSOR)) /* relaxed: set under `lock` */
        return NULL;
    if (abti_take_next(abti_es_self, self, mutex->successor)) {
        /* The successor is about to come in any case. acquire and release: of no use, as `lock` is held */
        abti_fetch_or_acq_rel(&mutex->word, ABTI_MUTEX_WAITERS);
        return mutex->successor;
    }
    if (mutex->home == self->pool && abti_serves_only(abti_es_self, self->pool)) {
        abti_spin_unlock(&mutex->lock);
        abti_yield_slow(abti_es_self, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
        abti_spin_lock(&mutex->lock);
    }
    return NULL;
}

/* Locks. `woken`: the caller has been woken as that waiter, and another one was faster; NULL: it is a new one. */
static ABTI_NOINLINE int lock_or_queue(ABT_mutex mutex, const struct mutex_waiter *woken)
{
    struct mutex_waiter w;
    uint32_t barred = ABTI_MUTEX_LOCKED | (woken ? 0 : ABTI_MUTEX_SUCCESSOR);
    bool comes = woken != NULL;
    abti_waiter_init(&w.base, ABT_SYNC_EVENT_TYPE_MUTEX, mutex);
    w.queue = woken ? woken->queue : NULL;
    w.passes = 0;
    while (!(w.base.unit ? take_or_announce(mutex, barred, comes, false) : spin_take(mutex, comes))) {
        abti_spin_lock(&mutex->lock);
        abti_unit *next = w.base.unit && !comes ? give_way_to_successor(mutex, w.base.unit) : NULL;
        if (!next && take_or_announce(mutex, ABTI_MUTEX_LOCKED, comes, true)) {
            abti_spin_unlock(&mutex->lock);
            break;
        }
        queue_and_park(mutex, &w, next);
        barred = ABTI_MUTEX_LOCKED;
        comes = true;
    }
    return ABT_SUCCESS;
}

/* Waits, for a ULT of the home pool that may block quickly, see abti_ctx_wait. `lock` is held. */
static abti_ctx mutex_leave(void *room, void *mutex_, void *unused)
{
    (void)unused;
    ABT_mutex mutex = mutex_;
    struct mutex_waiter *w = room;
    w->queue = &mutex->near;
    return abti_waitq_leave(w->queue, &w->base, ABT_SYNC_EVENT_TYPE_MUTEX, mutex, &mutex->lock, true);
}

static int mutex_then(void *room)
{
    struct mutex_waiter *w = room;
    ABT_mutex mutex = (ABT_mutex)w->base.object;
    return take_or_announce(mutex, ABTI_MUTEX_LOCKED, true, false) ? ABT_SUCCESS : lock_or_queue(mutex, w);
}

static int lock_plain(ABT_mutex mutex)
{
    abti_es *es = abti_es_self;
    if (!abti_may_block_quick(es) || !abti_spin_trylock(&mutex->lock))
        return lock_or_queue(mutex, NULL);
    /* A ULT that blocks quickly leaves to the next unit of its pool. relaxed: SUCCESSOR is set under `lock` */
    bool leaves_well = !(abti_load_relaxed(&mutex->word) & ABTI_MUTEX_SUCCESSOR) ||
                       mutex->successor == abti_load_relaxed(&es->fast->queue.head);
    bool is_quick = ABTI_LIKELY(mutex->home == es->fast) && ABTI_LIKELY(leaves_well);
    if (is_quick && !take_or_announce(mutex, ABTI_MUTEX_LOCKED | ABTI_MUTEX_SUCCESSOR, false, true))
        return abti_ctx_wait(&es->cur->ctx, mutex, NULL, mutex_leave, mutex_then);
    abti_spin_unlock(&mutex->lock);
    return is_quick ? ABT_SUCCESS : lock_or_queue(mutex, NULL);
}

/* --- Unlocking --- */

/* Returns the word of the free mutex when a waiter is woken, with `lock` held. NULL: none was queued any more. */
ABTI_INLINE uint32_t word_for(ABT_mutex mutex, uint32_t word, const struct abti_waiter *w)
{
    word &= ~(uint32_t)(ABTI_MUTEX_LOCKED | ABTI_MUTEX_WAITERS);
    if (ABTI_UNLIKELY(!w))
        return word;
    if (!abti_waitq_is_empty(&mutex->near) || !abti_waitq_is_empty(&mutex->waiters))
        word |= ABTI_MUTEX_WAITERS;
    abti_es *es = abti_es_self;
    bool is_far = !w->unit || (word & ABTI_MUTEX_WAITERS && (!es || es->cur->pool != w->unit->pool));
    if (ABTI_UNLIKELY(is_far)) {
        uint32_t quiet = w->unit ? ABTI_MUTEX_QUIET_UNLOCKS * ABTI_MUTEX_ONE_QUIET : ABTI_MUTEX_QUIET;
        return (word & ~(uint32_t)ABTI_MUTEX_QUIET) | ABTI_MUTEX_COMING | quiet;
    }
    if (!abti_pool_is_fifo(w->unit->pool))
        return word;
    mutex->successor = w->unit;
    return word | ABTI_MUTEX_SUCCESSOR;
}

/*
 * Takes the waiter out that comes next, with `lock` held. ULTs of the pool that has had the mutex come before others,
 * since the guarded data and the line of the mutex then stay with one stream: a hand-over to another costs ten times as
 * much. The others are passed over a limited number of times only, each that is first among them. ULTs of the pool that
 * came before it had the mutex are queued among the others. NULL: none is queued, as the last one has left its queue.
 */
static struct abti_waiter *next_waiter(ABT_mutex mutex)
{
    struct abti_waiter *head = mutex->waiters.head;
    bool is_near = !abti_waitq_is_empty(&mutex->near) &&
                   (!head || (!is_of_home(mutex, head) && waiter_of(head)->passes++ < MOST_PASSES));
    return abti_waitq_pop(is_near ? &mutex->near : &mutex->waiters);
}

/*
 * Moves the mutex to the pool of a waiter that has been taken out, with `lock` held. The ULTs that have queued without
 * a poll, since they were of the mutex's own pool, are linked behind it.
 */
static ABTI_NOINLINE void move_home(ABT_mutex mutex, struct abti_waiter *w)
{
    abti_assert(abti_load_relaxed(&mutex->lock.word) == 1 && !w->next && !is_of_home(mutex, w));
    mutex->home = w->unit->pool;
    for (; w; w = w->next) {
        waiter_of(w)->queue = NULL;
        w->next = abti_waitq_pop(&mutex->near);
    }
}

/* Whether an unlock at that word wakes nobody. */
ABTI_INLINE bool is_quiet(uint32_t word)
{
    return (word & (ABTI_MUTEX_WAITERS | ABTI_MUTEX_QUIET)) != ABTI_MUTEX_WAITERS;
}

/* Returns the word when such an unlock is done. */
static uint32_t drop_quietly(uint32_t word)
{
    bool counts = word & ABTI_MUTEX_WAITERS && (word & ABTI_MUTEX_QUIET) != ABTI_MUTEX_QUIET;
    return (word & ~(uint32_t)ABTI_MUTEX_LOCKED) - (counts ? ABTI_MUTEX_ONE_QUIET : 0);
}

ABTI_INLINE struct abti_waiter *release_plain(ABT_mutex mutex)
{
    /* relaxed: the compare-and-swap looks again. release: pairs with the acquire in take_or_announce */
    uint32_t word = abti_load_relaxed(&mutex->word);
    while (is_quiet(word)) {
        if (abti_cas_word(&mutex->word, &word, drop_quietly(word)))
            return NULL;
    }
    abti_spin_lock(&mutex->lock);
    abti_assert(abti_load_relaxed(&mutex->word) & ABTI_MUTEX_LOCKED);
    struct abti_waiter *w = next_waiter(mutex);
    if (w && w->unit && !is_of_home(mutex, w))
        move_home(mutex, w);
    /*
     * While we hold the mutex and `lock` no other thread writes the word. relaxed: any writer since the load above had
     * `lock`. release: pairs with the acquire in take_or_announce.
     */
    word = abti_load_relaxed(&mutex->word);
    abti_store_release(&mutex->word, word_for(mutex, word, w));
    abti_spin_unlock(&mutex->lock);
    return w;
}

/* --- For mutexes with an owner and without --- */

int abti_mutex_lock_slow(ABT_mutex mutex)
{
    if (ABTI_LIKELY(!is_owned(mutex)))
        return lock_plain(mutex);
    if (!enter_again(mutex)) {
        lock_plain(mutex);
        set_owner(mutex);
    }
    return ABT_SUCCESS;
}

struct abti_waiter *abti_mutex_release_slow(ABT_mutex mutex)
{
    return is_owned(mutex) && !clear_owner(mutex) ? NULL : release_plain(mutex);
}

int abti_mutex_unlock_slow(ABT_mutex mutex)
{
    struct abti_waiter *w = abti_mutex_release_slow(mutex);
    if (w)
        abti_waiter_wake_list(w);
    return ABT_SUCCESS;
}

bool abti_mutex_trylock(ABT_mutex mutex)
{
    bool owned = is_owned(mutex);
    bool taken = (owned && enter_again(mutex)) || take_or_announce(mutex, ABTI_MUTEX_LOCKED, false, false);
    if (taken && owned)
        set_owner(mutex);
    return taken;
}

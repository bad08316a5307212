/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/mutex.h"

#include "base/assert.h"
#include "run/sched.h"
#include "run/yield.h"
#include "sync/timer.h"
#include "wait/external.h"
#include "wait/native.h"

/* The worth of each: doc/tuning.md. Powers of two: the times of all polls are rounded to the same ones. */
enum { POLL_FIRST_NS = 1 << 20, POLL_RARELY_NS = 1 << 27 };

/* How often a waiter of another pool is passed over while it is the first. */
enum { MOST_PASSES = 128 };

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

/* relaxed, here and below: it is the caller if and only if the caller stored that */
const void *abti_mutex_owner(ABT_mutex mutex)
{
    return abti_load_relaxed(abti_mutex_owner_at(mutex));
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

/* Returns the word when a woken waiter has come, or, without `comes`, another caller. */
ABTI_INLINE uint32_t word_arrived(uint32_t word, bool comes)
{
    return comes ? word & ~(uint32_t)(ABTI_MUTEX_COMING | ABTI_MUTEX_QUIET) : word;
}

/*
 * Takes the mutex if none of the bits `barred` is set, and clears SUCCESSOR, see word_arrived. relaxed: the
 * compare-and-swap looks again. acquire: pairs with abti_mutex_drop_plain and release_plain. release: of no use.
 */
static bool mutex_take(ABT_mutex mutex, uint32_t barred, bool comes)
{
    uint32_t word = abti_load_relaxed(&mutex->word);
    while (!(word & barred)) {
        uint32_t taken = (word_arrived(word, comes) & ~(uint32_t)ABTI_MUTEX_SUCCESSOR) | ABTI_MUTEX_LOCKED;
        if (abti_cas_word(&mutex->word, &word, taken))
            return true;
    }
    return false;
}

/*
 * Takes the mutex (true), or announces a waiter, with `lock` held. `loud`: the next unlock wakes one in any case.
 * acquire, relaxed: as in abti_mutex_take_plain, mutex_take.
 */
ABTI_INLINE bool take_or_announce(ABT_mutex mutex, uint32_t barred, bool comes, bool loud)
{
    uint32_t word = abti_load_relaxed(&mutex->word); /* relaxed: as in mutex_take */
    for (;;) {
        bool is_free = !(word & barred);
        uint32_t next = word_arrived(word, comes);
        if (is_free)
            next = (next & ~(uint32_t)ABTI_MUTEX_SUCCESSOR) | ABTI_MUTEX_LOCKED;
        else
            next = (loud ? next & ~(uint32_t)ABTI_MUTEX_QUIET : next) | ABTI_MUTEX_WAITERS;
        if (next == word || abti_cas_word(&mutex->word, &word, next))
            return is_free;
    }
}

static ABTI_NOINLINE bool try_or_announce(ABT_mutex mutex, bool comes, bool loud)
{
    return take_or_announce(mutex, ABTI_MUTEX_LOCKED, comes, loud);
}

/*
 * A native thread spins for a moment before it sleeps: twice as long after each poll, since each takes the mutex's line
 * from its holder, which comes back for it a few times at full speed meanwhile. When others are queued the holder does
 * not run, most likely.
 */
static bool spin_take(ABT_mutex mutex, uint32_t barred, bool comes)
{
    enum { SPINS = 6, SPINS_BEHIND = 3 };
    int polls = abti_load_relaxed(&mutex->word) & ABTI_MUTEX_WAITERS ? SPINS_BEHIND : SPINS; /* relaxed: a racy read */
    for (int i = 0; i < polls; i++) {
        if (mutex_take(mutex, barred, comes))
            return true;
        for (int pauses = 1 << i; pauses > 0; pauses--)
            abti_cpu_relax();
    }
    return false;
}

void abti_mutex_waiter_init(struct abti_mutex_waiter *w, ABT_sync_event_type reason, const void *object)
{
    abti_waiter_init(&w->base, reason, object);
    w->es_native = !w->base.unit && abti_es_self;
    w->external = !w->base.unit && !w->es_native;
    w->behind = false;
    w->passes = 0;
}

static bool is_of_home(ABT_mutex mutex, const struct abti_waiter *w)
{
    return w->unit && w->unit->pool == mutex->home;
}

/* Returns the queue for a waiter, with `lock` held. */
static struct abti_waitq *queue_of(ABT_mutex mutex, const struct abti_mutex_waiter *w)
{
    if (w->es_native)
        return &mutex->natives;
    return is_of_home(mutex, &w->base) ? &mutex->near : &mutex->waiters;
}

static bool has_waiters(ABT_mutex mutex)
{
    return !abti_waitq_is_empty(&mutex->near) || !abti_waitq_is_empty(&mutex->waiters) ||
           !abti_waitq_is_empty(&mutex->natives);
}

/* --- Waiting in a queue, with a poll from time to time --- */

struct poll {
    struct abti_timer timer;
    ABT_mutex mutex;
    struct abti_waitq *queue;
    uint64_t step_ns; /* until the next poll, at least */
};

/* When to poll next: in a step's time, or up to another step later. The step doubles. */
static uint64_t next_poll_ns(uint64_t *step_ns, uint64_t now_ns)
{
    uint64_t step = *step_ns;
    if (step < POLL_RARELY_NS)
        *step_ns = 2 * step;
    return (now_ns + 2 * step - 1) & ~(step - 1);
}

/* Whether no unlock has taken the waiter out, with `lock` held. One that is behind is linked with others that wake. */
static bool is_queued(const struct abti_waiter *w)
{
    return w->next && !((const struct abti_mutex_waiter *)w)->behind;
}

/*
 * Takes a waiter out of its queue if it is there and nobody holds the mutex, with `lock` held. relaxed: the waiter
 * acquires the mutex later. acquire and release: of no use, as `lock` is held
 */
static bool leave_queue(ABT_mutex mutex, struct abti_waitq *queue, struct abti_waiter *w)
{
    abti_assert(abti_load_relaxed(&mutex->lock.word) == 1);
    uint32_t word = abti_load_relaxed(&mutex->word);
    if (word & ABTI_MUTEX_LOCKED || !is_queued(w))
        return false;
    abti_waitq_remove(queue, w);
    if (has_waiters(mutex))
        return true;
    while (!abti_cas_word(&mutex->word, &word, word & ~(uint32_t)ABTI_MUTEX_WAITERS)) {
        if (word & ABTI_MUTEX_LOCKED) {
            abti_waitq_push(queue, w); /* an unlock that has seen WAITERS finds a waiter */
            return false;
        }
    }
    return true;
}

/* Polls for a ULT, on its ES. The mutex still exists: the ULT has not returned from its lock. */
static uint64_t poll_for_ult(struct abti_timer *timer, uint64_t now_ns)
{
    struct poll *poll = ABTI_CONTAINER_OF(timer, struct poll, timer);
    struct abti_spin *lock = &poll->mutex->lock;
    uint64_t next_ns = next_poll_ns(&poll->step_ns, now_ns);
    if (!abti_spin_trylock(lock))
        return next_ns;
    bool left = leave_queue(poll->mutex, poll->queue, timer->waiter);
    if (!left && !is_queued(timer->waiter))
        next_ns = ABTI_CLOCK_NEVER;
    abti_spin_unlock(lock);
    return left ? ABTI_POLL_WAKE : next_ns;
}

/* Parks a ULT, with `lock` held and the ULT queued. */
static void park_queued_ult(ABT_mutex mutex, struct abti_waiter *w, abti_unit *next)
{
    if (next)
        abti_waiter_park_to(w, &mutex->lock, next);
    else
        abti_waiter_park(w, &mutex->lock, NULL);
}

/* Parks a ULT with a timer that polls for it, with `lock` held and the ULT queued. */
static void park_ult_polling(ABT_mutex mutex, struct abti_waitq *queue, struct abti_waiter *w, abti_unit *next)
{
    struct poll poll = {.mutex = mutex, .queue = queue, .step_ns = POLL_FIRST_NS};
    abti_timer_arm(abti_es_self, &poll.timer, w, next_poll_ns(&poll.step_ns, abti_clock_mono_ns()), poll_for_ult);
    park_queued_ult(mutex, w, next);
    abti_timer_disarm(&poll.timer);
}

static bool poll_natively(ABT_mutex mutex, struct abti_waitq *queue, struct abti_waiter *w)
{
    abti_spin_lock(&mutex->lock);
    bool left = leave_queue(mutex, queue, w);
    abti_spin_unlock(&mutex->lock);
    return left;
}

/* Parks an external thread, with `lock` held and the thread queued. */
static void park_external(ABT_mutex mutex, struct abti_waitq *queue, struct abti_waiter *w)
{
    uint64_t step_ns = POLL_FIRST_NS;
    w->ult = NULL;
    abti_spin_unlock(&mutex->lock);
    abti_known_only_polls(true);
    while (!abti_native_wait(&w->word, next_poll_ns(&step_ns, abti_clock_mono_ns())) && !poll_natively(mutex, queue, w))
        ;
    abti_known_only_polls(false);
}

/* Whether the waiter need not poll, see "Nobody waits for ever" in sync/mutex.h. */
static bool need_not_poll(ABT_mutex mutex, const struct abti_waitq *queue, const struct abti_waiter *w)
{
    abti_assert(queue != &mutex->near || w->unit);
    return queue == &mutex->natives || (queue == &mutex->near && abti_pool_is_fifo(w->unit->pool));
}

/* Parks a waiter, with `lock` held and the waiter queued. A ULT leaves to `next`; NULL: to the unit that is picked. */
static void park_in(ABT_mutex mutex, struct abti_waitq *queue, struct abti_mutex_waiter *w, abti_unit *next)
{
    abti_waiter_hold(&w->base);
    if (w->external)
        park_external(mutex, queue, &w->base);
    else if (need_not_poll(mutex, queue, &w->base))
        park_queued_ult(mutex, &w->base, next);
    else
        park_ult_polling(mutex, queue, &w->base, next);
}

int abti_mutex_compete(ABT_mutex mutex, struct abti_mutex_waiter *w)
{
    bool is_ult = w->base.unit != NULL;
    while (!(is_ult ? mutex_take(mutex, ABTI_MUTEX_LOCKED, true) : spin_take(mutex, ABTI_MUTEX_LOCKED, true))) {
        abti_spin_lock(&mutex->lock);
        if (try_or_announce(mutex, true, w->es_native)) {
            abti_spin_unlock(&mutex->lock);
            break;
        }
        struct abti_waitq *queue = queue_of(mutex, w);
        atomic_init(&w->base.word, ABTI_AWAKE);
        if (w->behind)
            abti_waitq_push(queue, &w->base);
        else
            abti_waitq_push_front(queue, &w->base);
        w->behind = false;
        park_in(mutex, queue, w, NULL);
    }
    if (ABTI_UNLIKELY(is_owned(mutex)))
        set_owner(mutex);
    return ABT_SUCCESS;
}

/* Waits, for a ULT of the home pool that may block quickly, see abti_ctx_wait. `lock` is held. */
static abti_ctx mutex_leave(void *room, void *mutex_, void *unused)
{
    (void)unused;
    ABT_mutex mutex = mutex_;
    struct abti_mutex_waiter *w = room;
    abti_es *es = abti_es_self;
    abti_mutex_waiter_init_ult(w, es->cur, ABT_SYNC_EVENT_TYPE_MUTEX, mutex);
    return abti_waitq_leave(&mutex->near, &w->base, es, &mutex->lock, true);
}

static int mutex_then(void *room)
{
    struct abti_mutex_waiter *w = room;
    return abti_mutex_come((ABT_mutex)w->base.object, w);
}

_Static_assert(sizeof(struct abti_mutex_waiter) <= ABTI_CTX_ROOM, "waits there");

/* Takes the successor out of the caller's own pool, to leave to it, with `lock` held. NULL: it is not next there. */
static abti_unit *take_successor(ABT_mutex mutex, abti_unit *self)
{
    if (!(abti_load_relaxed(&mutex->word) & ABTI_MUTEX_SUCCESSOR) ||
        !abti_take_next(abti_es_self, self, mutex->successor))
        return NULL;
    /* The successor is about to come in any case. acquire and release: of no use, as `lock` is held */
    abti_fetch_or_acq_rel(&mutex->word, ABTI_MUTEX_WAITERS);
    return mutex->successor;
}

/*
 * Whether a successor has not come that a yield lets run. Otherwise a ULT that takes the mutex anew at once, again and
 * again, and leaves it to nobody by a block while another unit of its pool is ready, would have it for ever.
 */
static bool can_yield_to_successor(ABT_mutex mutex, abti_unit *self)
{
    return abti_load_relaxed(&mutex->word) & ABTI_MUTEX_SUCCESSOR && mutex->home == self->pool &&
           abti_serves_only(abti_es_self, self->pool);
}

static void queue_and_park(ABT_mutex mutex, struct abti_mutex_waiter *w, abti_unit *next)
{
    struct abti_waitq *queue = queue_of(mutex, w);
    abti_waitq_push(queue, &w->base);
    park_in(mutex, queue, w, next);
}

static bool lock_native(ABT_mutex mutex)
{
    if (spin_take(mutex, ABTI_MUTEX_LOCKED, false))
        return true;
    abti_spin_lock(&mutex->lock);
    if (!try_or_announce(mutex, false, abti_es_self != NULL))
        return false;
    abti_spin_unlock(&mutex->lock);
    return true;
}

/* Locks, for a ULT. If it returns false, `lock` is held, and *next is the successor, to leave to, or NULL. */
static bool lock_ult(ABT_mutex mutex, abti_unit *self, abti_unit **next)
{
    if (mutex_take(mutex, ABTI_MUTEX_LOCKED | ABTI_MUTEX_SUCCESSOR, false))
        return true;
    abti_spin_lock(&mutex->lock);
    *next = take_successor(mutex, self);
    if (!*next && can_yield_to_successor(mutex, self)) {
        abti_spin_unlock(&mutex->lock);
        abti_yield_slow(abti_es_self, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
        abti_spin_lock(&mutex->lock); /* it does so once: from now on it takes the mutex if that is free */
    }
    if (*next || !try_or_announce(mutex, false, false))
        return false;
    abti_spin_unlock(&mutex->lock);
    return true;
}

static ABTI_NOINLINE int lock_or_queue(ABT_mutex mutex)
{
    struct abti_mutex_waiter w;
    abti_unit *next = NULL;
    /* With many threads one is COMING nearly all the time, although the mutex is free. */
    if (!abti_es_self && mutex_take(mutex, ABTI_MUTEX_LOCKED, false))
        return ABT_SUCCESS;
    abti_mutex_waiter_init(&w, ABT_SYNC_EVENT_TYPE_MUTEX, mutex);
    if (w.base.unit ? lock_ult(mutex, w.base.unit, &next) : lock_native(mutex))
        return ABT_SUCCESS;
    queue_and_park(mutex, &w, next);
    return abti_mutex_come(mutex, &w);
}

static int lock_plain(ABT_mutex mutex)
{
    abti_es *es = abti_es_self;
    if (!abti_may_block_quick(es) || !abti_spin_trylock(&mutex->lock))
        return lock_or_queue(mutex);
    /* A ULT that blocks quickly leaves to the next unit of its pool. relaxed: SUCCESSOR is set under `lock` */
    bool is_successor_next = mutex->successor == abti_load_relaxed(&es->fast->queue.head);
    if (ABTI_UNLIKELY(mutex->home != es->fast) ||
        (ABTI_UNLIKELY(!is_successor_next) && abti_load_relaxed(&mutex->word) & ABTI_MUTEX_SUCCESSOR)) {
        abti_spin_unlock(&mutex->lock);
        return lock_or_queue(mutex);
    }
    if (take_or_announce(mutex, ABTI_MUTEX_LOCKED | (is_successor_next ? ABTI_MUTEX_SUCCESSOR : 0), false, false)) {
        abti_spin_unlock(&mutex->lock);
        return ABT_SUCCESS;
    }
    return abti_ctx_wait(&es->cur->ctx, mutex, NULL, mutex_leave, mutex_then);
}

/* Whether a waiter that is woken comes from afar. */
ABTI_INLINE bool is_far(const struct abti_mutex_waiter *w)
{
    abti_es *es = abti_es_self;
    abti_unit *unit = w->base.unit;
    return w->external || (unit && (!es || es->cur->pool != unit->pool));
}

/* Says in the word that such a waiter is coming. `lock` is held. */
static ABTI_COLD uint32_t await_far(uint32_t word, bool external)
{
    uint32_t quiet = external ? ABTI_MUTEX_ALWAYS_QUIET : ABTI_MUTEX_QUIET_UNLOCKS * ABTI_MUTEX_ONE_QUIET;
    return (word & ~(uint32_t)ABTI_MUTEX_QUIET) | ABTI_MUTEX_COMING | quiet;
}

/* Returns the word of the free mutex when a waiter is woken. `lock` is held. */
ABTI_INLINE uint32_t word_for(ABT_mutex mutex, uint32_t word, const struct abti_mutex_waiter *w)
{
    abti_unit *unit = w->base.unit;
    word &= ~(uint32_t)(ABTI_MUTEX_LOCKED | ABTI_MUTEX_WAITERS);
    word |= has_waiters(mutex) ? ABTI_MUTEX_WAITERS : 0;
    if (ABTI_UNLIKELY(is_far(w)) && (w->external || word & ABTI_MUTEX_WAITERS))
        return await_far(word, w->external);
    if (!unit || !abti_pool_is_fifo(unit->pool))
        return word;
    mutex->successor = unit;
    return word | ABTI_MUTEX_SUCCESSOR;
}

static bool is_passed_over(ABT_mutex mutex, struct abti_waiter *head)
{
    unsigned *passes = &((struct abti_mutex_waiter *)head)->passes;
    return !is_of_home(mutex, head) && *passes < MOST_PASSES && ++*passes > 0;
}

/*
 * Moves the mutex to the pool of `last`, which has been taken out. The caller holds the mutex and `lock`. The ULTs that
 * have queued without a poll, since they were of the mutex's own pool, are linked before it. Returns the first.
 */
static ABTI_NOINLINE struct abti_waiter *move_home(ABT_mutex mutex, struct abti_waiter *last)
{
    abti_assert(abti_load_relaxed(&mutex->lock.word) == 1 && !last->next && last->unit->pool != mutex->home);
    struct abti_waiter *first = last, **end = &first;
    mutex->home = last->unit->pool;
    for (struct abti_waiter *w; (w = abti_waitq_pop(&mutex->near));) {
        ((struct abti_mutex_waiter *)w)->behind = true;
        *end = w;
        w->next = last;
        end = &w->next;
    }
    return first;
}

/*
 * Takes the waiter that comes next, with `lock` held and a waiter queued. ULTs of the pool that has had the mutex come
 * before others, since the guarded data and the line of the mutex then stay with one stream: a hand-over to another
 * costs ten times as much. The others are passed over a limited number of times only, each that is first among them.
 * ULTs of the pool that came before it had the mutex are queued among the others. *first begins the list that it ends,
 * see move_home.
 */
static struct abti_waiter *next_waiter(ABT_mutex mutex, struct abti_waiter **first)
{
    struct abti_waiter *head = mutex->waiters.head;
    if (ABTI_UNLIKELY(!abti_waitq_is_empty(&mutex->natives)))
        return *first = abti_waitq_pop(&mutex->natives);
    if (!abti_waitq_is_empty(&mutex->near) && (!head || is_passed_over(mutex, head)))
        return *first = abti_waitq_pop(&mutex->near);
    *first = abti_waitq_pop(&mutex->waiters);
    if (head->unit && !is_of_home(mutex, head))
        *first = move_home(mutex, head);
    return head;
}

/* Whether an unlock at that word wakes nobody. */
ABTI_INLINE bool is_quiet(uint32_t word)
{
    return (word & (ABTI_MUTEX_WAITERS | ABTI_MUTEX_QUIET)) != ABTI_MUTEX_WAITERS;
}

/* Returns the word when such an unlock is done. */
static uint32_t drop_quietly(uint32_t word)
{
    bool counts = word & ABTI_MUTEX_WAITERS && (word & ABTI_MUTEX_QUIET) != ABTI_MUTEX_ALWAYS_QUIET;
    return (word & ~(uint32_t)ABTI_MUTEX_LOCKED) - (counts ? ABTI_MUTEX_ONE_QUIET : 0);
}

ABTI_INLINE struct abti_waiter *release_plain(ABT_mutex mutex)
{
    /* relaxed: the compare-and-swap looks again. release: pairs with the acquires in abti_mutex_take_plain and
     * mutex_take */
    uint32_t word = abti_load_relaxed(&mutex->word);
    while (is_quiet(word)) {
        if (abti_cas_word(&mutex->word, &word, drop_quietly(word)))
            return NULL;
    }
    abti_spin_lock(&mutex->lock);
    abti_assert(has_waiters(mutex) && abti_load_relaxed(&mutex->word) & ABTI_MUTEX_LOCKED);
    struct abti_waiter *first, *w = next_waiter(mutex, &first);
    /*
     * We hold the mutex, and while `lock` is held nobody queues, nor comes to find the mutex locked: no other thread
     * writes the word. relaxed: any writer since the load above had `lock`. release: pairs with the acquires in
     * abti_mutex_take_plain, abti_mutex_come and mutex_take.
     */
    word = abti_load_relaxed(&mutex->word);
    abti_store_release(&mutex->word, word_for(mutex, word, (struct abti_mutex_waiter *)w));
    abti_spin_unlock(&mutex->lock);
    return first;
}

/*
 * Announces a waiter to the holder of the mutex, with `lock` held; the next unlock wakes one. False: nobody holds it.
 * relaxed: the compare-and-swap looks again. acquire and release: of no use, as release_plain takes `lock`.
 */
static bool announce_to_holder(ABT_mutex mutex)
{
    uint32_t word = abti_load_relaxed(&mutex->word); /* relaxed: the compare-and-swap decides */
    while (word & ABTI_MUTEX_LOCKED) {
        if (abti_cas_word(&mutex->word, &word, (word & ~(uint32_t)ABTI_MUTEX_QUIET) | ABTI_MUTEX_WAITERS))
            return true;
    }
    return false;
}

/*
 * Queues a waiter for a mutex that is not recursive, with `lock` held, if somebody has that and the waiter need not
 * look at it. False: it does not queue, and has its turn behind those that do. relaxed: the lock under which the waiter
 * was claimed orders it.
 */
static bool admit_locked(ABT_mutex mutex, struct abti_waiter *w)
{
    abti_assert(abti_load_relaxed(&mutex->lock.word) == 1 && !w->next);
    struct abti_mutex_waiter *waiter = (struct abti_mutex_waiter *)w;
    if (abti_load_relaxed(&w->claim) != ABTI_CLAIM_NONE)
        return false;
    if (w->unit && !has_waiters(mutex))
        mutex->home = w->unit->pool; /* where it goes next in any case */
    struct abti_waitq *queue = queue_of(mutex, waiter);
    waiter->behind = true;
    if (!need_not_poll(mutex, queue, w) || !announce_to_holder(mutex))
        return false;
    waiter->behind = false;
    w->object = mutex;
    w->reason = ABT_SYNC_EVENT_TYPE_MUTEX;
    abti_waitq_push(queue, w);
    return true;
}

struct abti_waiter *abti_mutex_admit(ABT_mutex mutex, struct abti_waiter *list)
{
    if (abti_mutex_is_recursive(mutex))
        return list;
    struct abti_waiter *to_wake = NULL, **last = &to_wake;
    abti_spin_lock(&mutex->lock);
    for (struct abti_waiter *w = list, *next; w; w = next) {
        next = w->next;
        w->next = NULL;
        if (!admit_locked(mutex, w)) {
            *last = w;
            last = &w->next;
        }
    }
    abti_spin_unlock(&mutex->lock);
    return to_wake;
}

/* --- For mutexes with an owner and without --- */

static ABTI_NOINLINE int lock_owned(ABT_mutex mutex)
{
    if (!enter_again(mutex)) {
        lock_plain(mutex);
        set_owner(mutex);
    }
    return ABT_SUCCESS;
}

int abti_mutex_lock_slow(ABT_mutex mutex)
{
    return ABTI_LIKELY(!is_owned(mutex)) ? lock_plain(mutex) : lock_owned(mutex);
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
    if (owned && enter_again(mutex))
        return true;
    if (!mutex_take(mutex, ABTI_MUTEX_LOCKED, false))
        return false;
    if (owned)
        set_owner(mutex);
    return true;
}

void abti_mutex_spinlock(ABT_mutex mutex)
{
    abti_spin_until(abti_mutex_trylock(mutex));
}

/* Waiters of synchronisation objects. Sleepers and the lists of those who sleep on pools are in parking.c. */
#include "sync/waiter.h"

#include <sched.h>
#include "base/hash.h"
#include "run/block.h"
#include "run/end.h"
#include "run/sched.h"
#include "sync/timer.h"
#include "wait/cpus.h"
#include "wait/word.h"

/* How often a native thread looks before it sleeps: less than a wake by the system takes. */
enum { WAITER_LOOKS = 40 };

void abti_waiter_init(struct abti_waiter *w, ABT_sync_event_type reason, const void *object)
{
    abti_es *es = abti_es_self;
    w->unit = es && es->parent && !abti_unit_is_tasklet(es->cur) ? es->cur : NULL;
    /* A migration calls the user's callback: not later, under the object's lock. */
    if (w->unit && abti_has_requests(w->unit))
        abti_serve_migration(w->unit);
    w->object = object;
    w->reason = reason;
    atomic_init(&w->word, ABTI_AWAKE);
    atomic_init(&w->claim, ABTI_CLAIM_NONE);
}

static void after_park(void *arg)
{
    struct abti_waiter *w = arg;
    struct abti_spin *lock = w->lock; /* the waiter lies on the stack that was left and may be gone with the unlock */
    struct abti_waiter *other = w->other;
    /* release: as in abti_after_suspend */
    abti_store_release(&w->unit->state, ABT_THREAD_STATE_BLOCKED);
    abti_spin_unlock(lock);
    if (other)
        abti_waiter_wake(other);
}

static bool is_woken(struct abti_waiter *w)
{
    /* acquire: pairs with the exchange in abti_waiter_wake */
    return abti_load_acquire(&w->word) == ABTI_WOKEN;
}

/* It may be woken within less time than a system call takes. */
static bool is_woken_soon(struct abti_waiter *w, uint32_t looks)
{
    for (uint32_t i = 0; i < looks; i++) {
        if (is_woken(w))
            return true;
        abti_cpu_relax();
    }
    return false;
}

/* The native thread waits for the wake; false when the deadline has passed before. */
static bool sleep_native(struct abti_waiter *w, uint64_t deadline_ns)
{
    if (is_woken_soon(w, WAITER_LOOKS))
        return true;
    uint32_t awake = ABTI_AWAKE;
    /* Fails when it is woken already, or when it is ASLEEP from an earlier wait for the same wake. */
    (void)abti_cas_acq_rel(&w->word, &awake, ABTI_ASLEEP);
    for (bool in_time = true; !is_woken(w) && in_time;)
        in_time = abti_word_wait(&w->word, ABTI_ASLEEP, deadline_ns);
    return is_woken(w);
}

/*
 * The words that crowds sleep on, by a hash of their objects; each counts how often it was woken. Crowds that share one
 * by chance wake each other now and then, which costs time and nothing else. They are not in the objects, since these
 * may be gone as soon as one of the crowd knows that it is woken.
 */
static struct crowd {
    _Atomic(uint32_t) wakes;
    _Atomic(uint32_t) thrift;       /* of looks, see MAX_THRIFT */
    _Atomic(uint32_t) waits_asleep; /* how many were to begin with sleep the last time, see lose_patience */
} ABTI_ALIGNED(ABTI_CACHE_LINE) crowds[64];

static struct crowd *crowd_of(const void *object)
{
    return &crowds[abti_hash((uintptr_t)object >> 4) >> 58];
}

/* Every waiter of the crowd that was IN_CROWD has been made WOKEN. */
static void wake_crowd(struct crowd *crowd)
{
    /* release: who sees the count sees who was woken before */
    abti_fetch_add_release(&crowd->wakes, 1);
    abti_word_wake_all(&crowd->wakes);
}

/*
 * The native thread sleeps with its crowd. No wake is lost: if the waker made us WOKEN after we looked, it counted
 * after we read the count, and then the sleep ends or does not begin.
 */
static void sleep_in_crowd(struct abti_waiter *w)
{
    uint32_t awake = ABTI_AWAKE;
    if (!abti_cas_acq_rel(&w->word, &awake, ABTI_IN_CROWD))
        return;
    struct crowd *crowd = crowd_of(w->object);
    for (;;) {
        /* acquire: pairs with wake_crowd, and keeps the next look after it */
        uint32_t wakes = abti_load_acquire(&crowd->wakes);
        if (is_woken(w))
            return;
        abti_word_wait(&crowd->wakes, wakes, ABTI_CLOCK_NEVER);
    }
}

/*
 * How a crowd has got on lately is one number: how many powers of two fewer looks it takes than at first. More than the
 * most says how many of its waits are to begin with sleep, since somebody else wants the CPU. relaxed: a matter of
 * time.
 */
enum { MAX_THRIFT = 6 };

static void learn(struct crowd *crowd, uint32_t thrift, bool woken)
{
    uint32_t next = woken ? 0 : thrift < MAX_THRIFT ? thrift + 1 : thrift;
    /* If it has changed meanwhile somebody else has learned something. */
    if (next != thrift)
        (void)abti_cas_relaxed(&crowd->thrift, &thrift, next);
}

/*
 * Looks before it sleeps, for about as long as a wake takes: then those who meet again and again keep step, without any
 * system call. If that is in vain the crowd looks less the next time, but once in a while as long as at first, in case
 * its threads were kept from running.
 */
static bool looks_with_crowd(struct abti_waiter *w)
{
    enum { LOOKS = 256, AGAIN = 128 };
    struct crowd *crowd = crowd_of(w->object);
    uint32_t thrift = abti_load_relaxed(&crowd->thrift);
    bool again = thrift > MAX_THRIFT || abti_load_relaxed(&crowd->wakes) % AGAIN == 0;
    bool woken = is_woken_soon(w, again ? LOOKS : LOOKS >> thrift);
    learn(crowd, thrift, woken);
    return woken;
}

/*
 * It took too long: the next waits of the crowd begin with sleep. So many more each time, as long as it does not get on
 * without that for as many waits in between.
 */
static void lose_patience(struct crowd *crowd, uint32_t thrift, unsigned num)
{
    enum { LEAST_MEETINGS = 16, MOST_MEETINGS = 4096, MOST_THREADS = 65536 };
    uint32_t threads = num < MOST_THREADS ? num : MOST_THREADS;
    uint32_t waits = 2 * abti_load_relaxed(&crowd->waits_asleep);
    if (waits < LEAST_MEETINGS * threads)
        waits = LEAST_MEETINGS * threads;
    else if (waits > MOST_MEETINGS * threads)
        waits = MOST_MEETINGS * threads;
    /* One of those who notice at the same time. */
    if (abti_cas_relaxed(&crowd->thrift, &thrift, MAX_THRIFT + waits))
        abti_store_relaxed(&crowd->waits_asleep, waits);
}

static void gain_patience(struct crowd *crowd)
{
    uint32_t waits = abti_load_relaxed(&crowd->waits_asleep);
    if (waits > 0)
        abti_store_relaxed(&crowd->waits_asleep, waits - 1);
}

/*
 * The same for a crowd of more than can run at once: those who are still to come need the CPU, and to give way to them
 * costs less than to sleep and be woken, so that it is tried once in any case. But a CPU that is given to somebody else
 * comes back a time slice later, while a thread that sleeps gets it as soon as it is woken. So a crowd that takes
 * longer than its own threads would sleeps at once for a while.
 */
static bool yields_with_crowd(struct abti_waiter *w, unsigned num)
{
    enum { YIELDS = 4, ANY_NS = 400000, EACH_NS = 10000 }; /* time slices are 700,000 and more */
    struct crowd *crowd = crowd_of(w->object);
    uint32_t thrift = abti_load_relaxed(&crowd->thrift);
    if (thrift > MAX_THRIFT) {
        abti_store_relaxed(&crowd->thrift, thrift - 1); /* whoever else does so */
        return false;
    }
    uint32_t cpus = abti_load_relaxed(&abti_num_cpus); /* 0: before ABT_init it is not known */
    uint64_t limit = ANY_NS + (uint64_t)EACH_NS * num / (cpus > 0 ? cpus : 1);
    uint64_t since = abti_clock_mono_ns(), took = 0;
    bool woken = is_woken(w);
    for (uint32_t i = 0; !woken && took <= limit && (i == 0 || i < (uint32_t)YIELDS >> thrift); i++) {
        sched_yield();
        took = abti_clock_mono_ns() - since;
        woken = is_woken(w);
    }
    if (took > limit) {
        lose_patience(crowd, thrift, num);
    } else {
        learn(crowd, thrift, woken);
        if (woken)
            gain_patience(crowd);
    }
    return woken;
}

/* The ULT has left its stack: from now on whoever wakes it may resume it. Who was faster has left that to us. */
static void after_await(void *arg)
{
    struct abti_waiter *w = arg;
    abti_unit *ult = w->ult;
    uint32_t awake = ABTI_AWAKE;
    abti_store_release(&ult->state, ABT_THREAD_STATE_BLOCKED); /* as in abti_after_suspend */
    /* release: publishes the saved context to the waker; acquire: pairs with a waker's exchange */
    if (!abti_cas_acq_rel(&w->word, &awake, ABTI_ASLEEP))
        abti_unblock(ult, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
}

/*
 * The ULT blocks until it is woken, by its timer at the latest. It is not cancelled while others know of its frame: who
 * cancels it makes the timer fire instead (abti_timers_recheck).
 */
static void block_until(struct abti_waiter *w, uint64_t deadline_ns)
{
    struct abti_timer timer;
    abti_unit *ult = w->ult;
    atomic_store(&ult->held, 1); /* until it runs again */
    abti_timer_arm(abti_es_self, &timer, w, deadline_ns);
    if (!(atomic_load(&ult->requests) & ABTI_REQ_CANCEL) || !abti_waiter_give_up(w)) {
        abti_tool_event_suspend(abti_es_self, w->reason, w->object);
        abti_block(abti_es_self, ult, after_await, w);
    }
    abti_store_relaxed(&ult->held, 0);
    abti_timer_disarm(&timer);
}

static bool has_nobody(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        if (!sched->pools[i]->ops->is_empty(sched->pools[i]))
            return false;
    }
    return true;
}

/*
 * Whom to run when the ULT leaves, NULL: who is picked. `other` would be pushed to the very pool that this one is
 * served from; if nobody else stands in the scheduler's pools, so that it would run next, it need not be pushed, nor
 * counted: one of the pool's ULTs is blocked in place of the other.
 */
ABTI_INLINE abti_unit *take_other(abti_es *es, abti_pool *pool, const struct abti_waiter *other)
{
    abti_unit *unit = other ? other->unit : NULL;
    abti_sched *sched = es->dsched;
    if (!unit || unit->pool != pool || !sched || sched->front != pool || !has_nobody(sched) || !abti_may_pick(es))
        return NULL;
    abti_tool_event_resume(unit);
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
    return unit;
}

static void park_ult(struct abti_waiter *w, struct abti_spin *lock, struct abti_waiter *other)
{
    abti_es *es = abti_es_self;
    abti_tool_event_suspend(es, w->reason, w->object);
    abti_unit *next = take_other(es, w->unit->pool, other);
    w->lock = lock;
    w->other = next ? NULL : other;
    /* Tail calls: the ULT goes on in our caller. */
    if (next)
        abti_leave_to(es, w->unit, next, after_park, w);
    else
        abti_block(es, w->unit, after_park, w);
}

void abti_waiter_park(struct abti_waiter *w, struct abti_spin *lock, struct abti_waiter *other)
{
    if (ABTI_LIKELY(w->unit != NULL)) {
        park_ult(w, lock, other);
        return;
    }
    w->ult = NULL;
    abti_spin_unlock(lock);
    if (other)
        abti_waiter_wake(other);
    sleep_native(w, ABTI_CLOCK_NEVER);
}

void abti_waiter_park_to(struct abti_waiter *w, struct abti_spin *lock, abti_unit *next)
{
    abti_es *es = abti_es_self;
    abti_tool_event_suspend(es, w->reason, w->object);
    w->lock = lock;
    w->other = NULL;
    abti_block_to(es, w->unit, next, after_park, w);
}

void abti_waiter_park_in_crowd(struct abti_waiter *w, struct abti_spin *lock, unsigned num)
{
    if (ABTI_LIKELY(w->unit != NULL)) {
        park_ult(w, lock, NULL);
        return;
    }
    w->ult = NULL;
    abti_spin_unlock(lock);
    if (abti_runs_at_once(num) ? looks_with_crowd(w) : yields_with_crowd(w, num))
        return;
    sleep_in_crowd(w);
}

void abti_waiter_open(struct abti_waiter *w)
{
    w->ult = w->unit;
    w->unit = NULL;
    /* relaxed: the lock, under which the waiter or a branch of it is queued and found, orders it */
    abti_store_relaxed(&w->claim, ABTI_CLAIM_OPEN);
}

void abti_branch_init(struct abti_branch *branch, struct abti_waiter *trunk)
{
    branch->base.next = NULL;
    branch->base.unit = NULL;
    atomic_init(&branch->base.claim, ABTI_CLAIM_BRANCH);
    branch->trunk = trunk;
}

bool abti_waiter_give_up(struct abti_waiter *w)
{
    uint32_t open = ABTI_CLAIM_OPEN;
    return abti_cas_acq_rel(&w->claim, &open, ABTI_CLAIM_OVER);
}

struct abti_waiter *abti_waiter_claim_slow(struct abti_waiter *w)
{
    bool branch = abti_load_relaxed(&w->claim) == ABTI_CLAIM_BRANCH;
    struct abti_waiter *trunk = branch ? ABTI_CONTAINER_OF(w, struct abti_branch, base)->trunk : w;
    uint32_t open = ABTI_CLAIM_OPEN;
    if (!abti_cas_acq_rel(&trunk->claim, &open, ABTI_CLAIM_TAKEN))
        return NULL;
    trunk->prev = w;
    return trunk;
}

bool abti_waiter_await(struct abti_waiter *w, uint64_t deadline_ns)
{
    if (deadline_ns == 0 && abti_waiter_give_up(w))
        return false;
    if (w->ult)
        block_until(w, deadline_ns);
    else if (!sleep_native(w, deadline_ns) && !abti_waiter_give_up(w))
        sleep_native(w, ABTI_CLOCK_NEVER); /* a waker was faster: it is on its way from the claim to the wake */
    /* relaxed: it is ours, or the wake came after it */
    return abti_load_relaxed(&w->claim) == ABTI_CLAIM_TAKEN;
}

bool abti_waiter_park_until(struct abti_waiter *w, struct abti_spin *lock, struct abti_waiter *other,
                            uint64_t deadline_ns)
{
    abti_waiter_open(w);
    abti_spin_unlock(lock);
    if (other)
        abti_waiter_wake(other);
    return abti_waiter_await(w, deadline_ns);
}

void abti_waiter_finish(struct abti_waiter *w)
{
    if (w->ult && abti_has_requests(w->ult) && abti_unit_is_cancelled(w->ult))
        abti_ult_exit();
}

/* Wakes it, unless it sleeps in a crowd, which is left to the caller: that is returned, otherwise NULL. */
static struct crowd *wake_waiter(struct abti_waiter *w)
{
    if (ABTI_LIKELY(w->unit != NULL)) {
        abti_unblock(w->unit, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
        return NULL;
    }
    abti_unit *ult = w->ult; /* a native thread may be gone with the exchange */
    const void *object = w->object;
    uint32_t was = abti_exchange_acq_rel(&w->word, ABTI_WOKEN);
    if (was == ABTI_IN_CROWD)
        return crowd_of(object);
    if (was == ABTI_ASLEEP && ult)
        abti_unblock(ult, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
    else if (was == ABTI_ASLEEP)
        abti_word_wake(&w->word);
    return NULL;
}

void abti_waiter_wake(struct abti_waiter *w)
{
    struct crowd *crowd = wake_waiter(w);
    if (ABTI_UNLIKELY(crowd != NULL))
        wake_crowd(crowd);
}

void abti_waiter_wake_all(struct abti_waiter *first)
{
    struct crowd *crowd = NULL;
    for (struct abti_waiter *w = first, *next; w; w = next) {
        next = w->next;
        struct crowd *asleep = wake_waiter(w);
        crowd = asleep ? asleep : crowd;
    }
    if (crowd)
        wake_crowd(crowd);
}

/* Native threads that sleep by themselves, and those that sleep on pools. The waiters of objects are in park.c. */
#include "sync/waiter.h"

#include "pool/pool.h"
#include "sync/timer.h"
#include "stream/xstream.h"
#include "os/wakefd.h"

/* --- Sleepers. All accesses to the word are sequentially consistent: sleep and wake are a store-load exchange. --- */

void abti_sleeper_prepare(struct abti_sleeper *s)
{
    abti_store_seq_cst(&s->word, ABTI_ASLEEP);
}

void abti_sleeper_prepare_fd(struct abti_sleeper *s, int signal_fd)
{
    abti_store_seq_cst(&s->word, ABTI_IN_LOOP | (uint32_t)signal_fd << ABTI_SLEEPER_BITS);
}

bool abti_sleeper_sleep(struct abti_sleeper *s, uint64_t deadline_ns)
{
    bool in_time = true;
    while (abti_load_seq_cst(&s->word) == ABTI_ASLEEP && in_time)
        in_time = abti_word_wait(&s->word, ABTI_ASLEEP, deadline_ns);
    return atomic_exchange(&s->word, ABTI_AWAKE) == ABTI_WOKEN;
}

bool abti_sleeper_cancel(struct abti_sleeper *s)
{
    return atomic_exchange(&s->word, ABTI_AWAKE) == ABTI_WOKEN;
}

bool abti_sleeper_is_woken(struct abti_sleeper *s)
{
    return abti_load_seq_cst(&s->word) == ABTI_WOKEN;
}

/*
 * How to wake is in the word that was exchanged: once it is, the sleeper may go on, and be gone. So a wakeup is the
 * address of the word, which need not be there any more, or a file descriptor, marked by the lowest bit.
 *
 * When the exchange fails after the look, the sleeper has been awake in between, and has looked since.
 */
static abti_wakeup sleeper_claim(struct abti_sleeper *s)
{
    uint32_t word = abti_load_seq_cst(&s->word);
    bool in_loop = (word & ABTI_IN_LOOP) == ABTI_IN_LOOP;
    if ((word != ABTI_ASLEEP && !in_loop) || !atomic_compare_exchange_strong(&s->word, &word, ABTI_WOKEN))
        return NULL;
    return (abti_wakeup)(in_loop ? (uintptr_t)(word >> ABTI_SLEEPER_BITS) << 1 | 1 : (uintptr_t)s);
}

bool abti_sleeper_wake(struct abti_sleeper *s)
{
    abti_wakeup wakeup = sleeper_claim(s);
    abti_parking_wake(wakeup);
    return wakeup != NULL;
}

void abti_parking_wake(abti_wakeup wakeup)
{
    uintptr_t how = (uintptr_t)wakeup;
    if (ABTI_LIKELY(how == 0))
        return;
    if (how & 1)
        abti_wakefd_signal((int)(how >> 1));
    else
        abti_word_wake(&((struct abti_sleeper *)how)->word);
}

/* --- Sleeping on pools --- */

/* Pool lock held. */
static void settle(struct abti_parking *p, abti_pool *pool)
{
    if (p->coming) {
        p->coming = false;
        pool->num_coming--;
    }
}

void abti_parking_settle(struct abti_parking *p, abti_pool *pool)
{
    if (!p->coming)
        return; /* nor will it be: it is not in the list */
    abti_pool_lock(abti_es_self, pool);
    settle(p, pool);
    abti_pool_unlock(abti_es_self, pool);
}

bool abti_parking_enter(struct abti_parking *p, abti_pool *pool, struct abti_sleeper *s)
{
    struct abti_parking_list *list = &pool->parked;
    /* A glance first, not to disturb for nothing who is busy with the pool. */
    if (!pool->user_defined && !pool->ops->is_empty(pool)) {
        abti_parking_settle(p, pool);
        return false;
    }
    p->sleeper = s;
    p->next = NULL;
    abti_pool_lock(abti_es_self, pool);
    settle(p, pool);
    p->prev = abti_load_relaxed(&list->first) ? list->last : NULL;
    list->last = p;
    if (p->prev)
        p->prev->next = p;
    else
        abti_store_relaxed(&list->first, p);
    p->linked = true;
    bool empty = pool->user_defined || pool->ops->is_empty(pool);
    abti_pool_unlock(abti_es_self, pool);
    if (pool->user_defined) {
        /* A user's callback is called without our lock. The fence pairs with the one after the user's push. */
        abti_fence_seq_cst();
        empty = pool->ops->is_empty(pool);
    }
    return empty;
}

void abti_parking_leave(struct abti_parking *p, abti_pool *pool)
{
    struct abti_parking_list *list = &pool->parked;
    if (!p->linked)
        return;
    abti_pool_lock(abti_es_self, pool);
    if (p->next)
        p->next->prev = p->prev;
    else
        list->last = p->prev;
    if (p->prev)
        p->prev->next = p->next;
    else
        abti_store_relaxed(&list->first, p->next);
    abti_pool_unlock(abti_es_self, pool);
    p->linked = false;
}

/* When somebody whose place to sleep was claimed comes is not up to a hook of the user's. */
static bool comes_soon(abti_wakeup wakeup)
{
    return ((uintptr_t)wakeup & 1) == 0;
}

/* Those who are woken already, by this pool or another, look at all of their pools anyway: wake somebody else. */
static abti_wakeup claim_among(abti_pool *pool, bool own)
{
    for (struct abti_parking *p = abti_load_relaxed(&pool->parked.first); p; p = p->next) {
        abti_wakeup wakeup = p->own == own ? sleeper_claim(p->sleeper) : NULL;
        if (!wakeup)
            continue;
        p->coming = p->seeks && !pool->user_defined && comes_soon(wakeup);
        pool->num_coming += p->coming;
        return wakeup;
    }
    return NULL;
}

/* How many are in a user-defined pool is the user's to know: nobody counts as coming to it. */
static bool has_surplus(abti_pool *pool)
{
    return pool->user_defined || abti_pool_num_locked(pool) > pool->num_coming;
}

static abti_wakeup claim_any(abti_pool *pool)
{
    abti_wakeup owner = claim_among(pool, true);
    return owner ? owner : claim_among(pool, false);
}

abti_wakeup abti_parking_claim_slow(abti_pool *pool)
{
    return has_surplus(pool) ? claim_any(pool) : NULL;
}

void abti_parking_unlock_and_wake(abti_pool *pool)
{
    abti_wakeup wakeup = abti_parking_claim_locked(pool);
    abti_pool_unlock(abti_es_self, pool);
    abti_parking_wake(wakeup);
}

void abti_parking_pass(abti_pool *pool)
{
    if (!abti_pool_has_parked(pool) || pool->ops->is_empty(pool))
        return;
    abti_pool_lock(abti_es_self, pool);
    abti_parking_unlock_and_wake(pool);
}

void abti_parking_offer(abti_pool *pool)
{
    abti_pool_lock(abti_es_self, pool);
    abti_wakeup wakeup = claim_any(pool);
    abti_pool_unlock(abti_es_self, pool);
    abti_parking_wake(wakeup);
}

abti_unit *abti_park_pop(abti_pool *pool, uint64_t deadline_ns, ABT_pool_context context)
{
    struct abti_sleeper own = {ABTI_AWAKE};
    abti_es *es = abti_es_self;
    struct abti_sleeper *sleeper = es ? &es->sleeper : &own; /* an ES is told of new timers there */
    for (bool in_time = true, woken = false;;) {
        if (es)
            abti_timers_look(es);
        abti_unit *unit = abti_pool_pop(pool, context);
        if (unit && woken)
            abti_parking_pass(pool); /* there may have been two, one that we were woken for and one found before */
        if (unit || !in_time)
            return unit;
        struct abti_parking parking = {.seeks = true};
        abti_sleeper_prepare(sleeper);
        if (abti_parking_enter(&parking, pool, sleeper)) {
            uint64_t limit = es ? abti_timer_next(es) : ABTI_CLOCK_NEVER;
            woken = abti_sleeper_sleep(sleeper, limit < deadline_ns ? limit : deadline_ns);
            in_time = woken || limit < deadline_ns;
        } else {
            woken = abti_sleeper_cancel(sleeper);
        }
        abti_parking_leave(&parking, pool);
        abti_parking_settle(&parking, pool);
    }
}

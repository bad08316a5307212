/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/parking.h"

#include "base/assert.h"
#include "os/clock.h"
#include "pool/builtin.h"

/* Ends the expectation that the thread comes to the pool, whose lock the caller holds. */
static void parking_settle(struct abti_parking *p, abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool) && (!p->coming || pool->num_coming > 0));
    if (p->coming) {
        p->coming = false;
        pool->num_coming--;
    }
}

void abti_parking_settle(struct abti_parking *p, abti_pool *pool)
{
    if (!p->coming)
        return; /* It will not be set either: the entry is not in the list. */
    abti_pool_lock(abti_es_self, pool);
    parking_settle(p, pool);
    abti_pool_unlock(abti_es_self, pool);
}

/*
 * Whether the sleeper may take units of the pool. Of a private one that has a host nobody else may. relaxed: the host
 * changes under the lock, and a racy read without it is repeated.
 */
static bool may_take(abti_pool *pool, const struct abti_sleeper *s)
{
    const abti_es *host = abti_load_relaxed(&pool->host);
    return host == ABTI_NO_HOST || s == &host->sleeper;
}

/* Whether there is nothing for the sleeper in a built-in pool. */
static bool is_empty_for(abti_pool *pool, const struct abti_sleeper *s)
{
    return !may_take(pool, s) || abti_pool_is_empty(pool);
}

/* --- Lookouts --- */

/*
 * Whether other streams than the caller's have armed timers. A bit is missed only when its stream has yet to take the
 * pool's lock, which the caller holds. acquire: pairs with the release in poll (sync/lookout.c), where `known` has what
 * `timed` has no more; relaxed: that orders it.
 */
static bool others_are_timed(const struct abti_lookout *lookout)
{
    uint64_t own = abti_lookout_bit(abti_es_self->index);
    uint64_t bits = abti_load_acquire(&lookout->timed);
    bits |= abti_load_relaxed(&lookout->known);
    return bits & (own == abti_lookout_bit(ABTI_LOOKOUT_SHARED) ? bits : ~own);
}

/* Makes a stream that enters the list the lookout, if one is needed, with the pool's lock held. */
static void stand_lookout(struct abti_parking *p, abti_pool *pool)
{
    struct abti_lookout *lookout = &pool->lookout;
    if (ABTI_LIKELY(!abti_lookout_is_needed(lookout)) || lookout->parking || !others_are_timed(lookout))
        return;
    lookout->parking = p;
    p->until_ns = abti_load_relaxed(&lookout->next_ns); /* relaxed: the lock is held */
}

/* Picks a sleeper that becomes the lookout when it goes to sleep again, if one is needed, with the pool's lock held. */
static abti_wakeup claim_lookout(abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool));
    if (ABTI_LIKELY(!abti_lookout_is_needed(&pool->lookout)) || pool->lookout.parking)
        return NULL;
    abti_wakeup wakeup = NULL;
    /* The last of the list, which is the last to be woken for a unit. relaxed: the lock is held */
    for (struct abti_parking *p = abti_load_relaxed(&pool->parked.first) ? pool->parked.last : NULL; p && !wakeup;
         p = p->prev) {
        if (p->may_look_out)
            wakeup = abti_sleeper_claim(p->sleeper);
    }
    return wakeup;
}

void abti_parking_replace_lookout(abti_pool *pool)
{
    if (ABTI_LIKELY(!abti_lookout_is_needed(&pool->lookout)))
        return;
    abti_pool_lock(abti_es_self, pool);
    abti_wakeup wakeup = claim_lookout(pool);
    abti_pool_unlock(abti_es_self, pool);
    abti_wakeup_send(wakeup);
}

void abti_parking_look_out_by(abti_pool *pool, uint64_t time_ns)
{
    struct abti_lookout *lookout = &pool->lookout;
    abti_wakeup wakeup = NULL;
    abti_pool_lock(abti_es_self, pool);
    /*
     * relaxed: the lock is held. release: pairs with the acquire in abti_lookout_poll, which sees what the caller has
     * done to timers
     */
    if (abti_load_relaxed(&lookout->next_ns) > time_ns)
        abti_store_release(&lookout->next_ns, time_ns);
    if (!lookout->parking)
        wakeup = claim_lookout(pool);
    else if (lookout->parking->until_ns > time_ns)
        wakeup = abti_sleeper_claim(lookout->parking->sleeper); /* NULL: it is awake, and polls before it sleeps */
    abti_pool_unlock(abti_es_self, pool);
    abti_wakeup_send(wakeup);
}

/* --- The list --- */

/* relaxed, here and below: the lock orders the list, and readers without it take it for a hint */
static void link_parking(struct abti_parking_list *list, struct abti_parking *p)
{
    abti_assert(!p->linked);
    p->next = NULL;
    p->prev = abti_load_relaxed(&list->first) ? list->last : NULL;
    list->last = p;
    if (p->prev)
        p->prev->next = p;
    else
        abti_store_relaxed(&list->first, p);
    p->linked = true;
}

static void unlink_parking(struct abti_parking_list *list, struct abti_parking *p)
{
    abti_assert(p->linked);
    if (p->next)
        p->next->prev = p->prev;
    else
        list->last = p->prev;
    if (p->prev)
        p->prev->next = p->next;
    else
        abti_store_relaxed(&list->first, p->next); /* relaxed: as in link_parking */
    p->linked = false;
}

bool abti_parking_enter(struct abti_parking *p, abti_pool *pool, struct abti_sleeper *s)
{
    abti_assert(s && !p->linked);
    /* A racy read comes first, so that an ES which is busy with the pool is not disturbed needlessly. */
    p->until_ns = ABTI_CLOCK_NEVER;
    if (!abti_pool_is_user(pool) && !is_empty_for(pool, s)) {
        abti_parking_settle(p, pool);
        return false;
    }
    p->sleeper = s;
    abti_pool_lock(abti_es_self, pool);
    parking_settle(p, pool);
    link_parking(&pool->parked, p);
    if (p->may_look_out)
        stand_lookout(p, pool);
    bool empty = abti_pool_is_user(pool) || is_empty_for(pool, s);
    abti_pool_unlock(abti_es_self, pool);
    if (abti_pool_is_user(pool)) {
        /*
         * A user's callback is called without our lock. seq_cst: pairs with the fence in wake_one (pool/user.c), after
         * the user's push.
         */
        abti_fence_seq_cst();
        empty = abti_pool_is_empty(pool);
    }
    return empty;
}

void abti_parking_leave(struct abti_parking *p, abti_pool *pool, bool woken)
{
    if (!p->linked)
        return;
    abti_pool_lock(abti_es_self, pool);
    unlink_parking(&pool->parked, p);
    abti_wakeup wakeup = NULL;
    if (ABTI_UNLIKELY(pool->lookout.parking == p)) {
        pool->lookout.parking = NULL;
        wakeup = woken ? claim_lookout(pool) : NULL;
    }
    p->until_ns = ABTI_CLOCK_NEVER;
    abti_pool_unlock(abti_es_self, pool);
    abti_wakeup_send(wakeup);
}

/* Picks this one for a unit, if it is asleep and may take one. */
static abti_wakeup parking_claim(struct abti_parking *p, abti_pool *pool)
{
    abti_wakeup wakeup = may_take(pool, p->sleeper) ? abti_sleeper_claim(p->sleeper) : NULL;
    if (wakeup) {
        p->coming = p->seeks && !abti_pool_is_user(pool) && abti_wakeup_is_sure(wakeup);
        pool->num_coming += p->coming;
    }
    return wakeup;
}

/*
 * Picks one among the sleepers whose own pool this is, or among the others. Sleepers that have been woken already, for
 * this pool or another, look at all of their pools anyway, so that another one is woken. The lookout comes last, since
 * another one would have to be woken in its place. relaxed: the lock orders the list.
 */
static abti_wakeup claim_among(abti_pool *pool, bool own)
{
    struct abti_parking *lookout = pool->lookout.parking;
    abti_wakeup wakeup = NULL;
    abti_assert(abti_pool_is_locked(pool));
    for (struct abti_parking *p = abti_load_relaxed(&pool->parked.first); p && !wakeup; p = p->next) {
        if (p->own == own && p != lookout)
            wakeup = parking_claim(p, pool);
    }
    return !wakeup && lookout && lookout->own == own ? parking_claim(lookout, pool) : wakeup;
}

/* Only the user knows how many units are in a user-defined pool, so that nobody counts as coming to it. */
static bool has_surplus(abti_pool *pool)
{
    return abti_pool_is_user(pool) || abti_pool_num_locked(pool) > pool->num_coming;
}

static abti_wakeup parking_claim_one(abti_pool *pool)
{
    abti_wakeup owner = claim_among(pool, true);
    return owner ? owner : claim_among(pool, false);
}

/*
 * Whether the caller is a stream that polls the pool next: a driver or a timer has pushed between two units. It counts
 * as one that was woken for the pool, since another one would find the unit gone.
 */
static bool comes_itself(abti_pool *pool)
{
    abti_es *es = abti_es_self;
    const struct abti_park_set *set = es ? es->seeking : NULL;
    for (int i = 0; set && i < set->num; i++) {
        struct abti_parking *p = &set->parkings[i];
        if (set->pools[i] != pool || abti_pool_is_user(pool) || !p->seeks || p->coming || p->linked)
            continue;
        p->coming = true;
        pool->num_coming++;
        es->woken = true;
        return true;
    }
    return false;
}

abti_wakeup abti_parking_claim_surplus(abti_pool *pool)
{
    return has_surplus(pool) && !comes_itself(pool) ? parking_claim_one(pool) : NULL;
}

size_t abti_parking_unlock_and_wake(abti_pool *pool, size_t num)
{
    abti_assert(abti_pool_is_locked(pool));
    if (ABTI_LIKELY(!abti_pool_has_parked(pool))) {
        abti_pool_unlock(abti_es_self, pool);
        return 0;
    }
    abti_wakeup wakeups[ABTI_PARKING_WAKES];
    size_t n = 0;
    while (n < ABTI_PARKING_WAKES && n < num && (wakeups[n] = abti_parking_claim_locked(pool)) != NULL)
        n++;
    abti_pool_unlock(abti_es_self, pool);
    for (size_t i = 0; i < n; i++)
        abti_wakeup_send(wakeups[i]);
    return n < ABTI_PARKING_WAKES ? 0 : num - n;
}

void abti_parking_pass(abti_pool *pool)
{
    if (!abti_pool_has_parked(pool) || abti_pool_is_empty(pool))
        return;
    abti_pool_lock(abti_es_self, pool);
    abti_parking_unlock_and_wake(pool, 1);
}

void abti_parking_offer(abti_pool *pool)
{
    abti_pool_lock(abti_es_self, pool);
    abti_wakeup wakeup = parking_claim_one(pool);
    abti_pool_unlock(abti_es_self, pool);
    abti_wakeup_send(wakeup);
}

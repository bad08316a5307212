/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/gang.h"

#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/round.h"
#include "pool/builtin.h"

/* A scheduler of fewer pools enters their lists. */
enum { FEWEST_POOLS = 3 };

/* So many are on their way at a time at most: who makes units would else wake all others, half a microsecond each. */
enum { ENOUGH_COMING = 8 };

/* Held while schedulers join and quit. It guards pool->deputy, which stays while a scheduler of the gang is there. */
static struct abti_spin gangs_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF);

/* --- Joining --- */

static struct abti_gang *gang_make(uint32_t num_pools)
{
    size_t size = sizeof(struct abti_gang) + num_pools * sizeof(struct abti_deputy);
    struct abti_gang *gang = aligned_alloc(ABTI_CACHE_LINE, abti_round_up(size, ABTI_CACHE_LINE));
    if (!gang)
        return NULL;
    memset(gang, 0, size);
    abti_spin_init(&gang->lock, ABTI_RANK_LEAF);
    gang->num_pools = num_pools;
    for (uint32_t i = 0; i < num_pools; i++) {
        gang->deputies[i].gang = gang;
        gang->deputies[i].parking.may_look_out = true;
    }
    return gang;
}

/* Takes the pools for a new gang. False: some are in another one, or twice in the list. */
static bool take_pools(struct abti_gang *gang, int num, abti_pool **pools)
{
    uint32_t taken = 0;
    abti_assert(abti_spin_is_mine(&gangs_lock));
    for (int i = 0; i < num; i++) {
        if (abti_pool_answers(pools[i]) && pools[i]->deputy)
            return false;
        if (!abti_pool_answers(pools[i]))
            continue;
        pools[i]->deputy = &gang->deputies[taken++];
        pools[i]->deputy->pool = pools[i];
    }
    return true;
}

static void drop_pools(struct abti_gang *gang, int num, abti_pool **pools)
{
    abti_assert(abti_spin_is_mine(&gangs_lock));
    for (int i = 0; i < num; i++) {
        if (pools[i]->deputy && pools[i]->deputy->gang == gang)
            pools[i]->deputy = NULL;
    }
}

/* Whether the RANDWS pools among these, as many as the gang has, are those of the gang: each is met once. */
static bool has_same_pools(struct abti_gang *gang, int num, abti_pool **pools)
{
    abti_assert(abti_spin_is_mine(&gangs_lock));
    gang->stamp++;
    for (int i = 0; i < num; i++) {
        struct abti_deputy *deputy = pools[i]->deputy;
        if (!abti_pool_answers(pools[i]))
            continue;
        if (!deputy || deputy->gang != gang || deputy->stamp == gang->stamp)
            return false;
        deputy->stamp = gang->stamp;
    }
    return true;
}

static struct abti_gang *join_locked(struct abti_gang *made, int num, abti_pool **pools)
{
    struct abti_gang *gang = NULL;
    for (int i = 0; i < num && !gang; i++)
        gang = pools[i]->deputy ? pools[i]->deputy->gang : NULL;
    bool fits =
        gang ? gang->num_pools == made->num_pools && has_same_pools(gang, num, pools) : take_pools(made, num, pools);
    if (!fits && !gang)
        drop_pools(made, num, pools);
    gang = !fits ? NULL : gang ? gang : made;
    if (gang)
        gang->num_scheds++;
    return gang;
}

/* Sets whose own pool it is, if that is `from` now. Of two that have the same one the first is it. */
static void set_owner(abti_pool *pool, struct abti_parking *from, struct abti_parking *to)
{
    abti_pool_lock(abti_es_self, pool);
    if (pool->deputy->owner == from)
        pool->deputy->owner = to;
    abti_pool_unlock(abti_es_self, pool);
}

struct abti_gang *abti_gang_join(int num, abti_pool **pools, struct abti_parking *p)
{
    uint32_t num_pools = 0;
    for (int i = 0; i < num; i++)
        num_pools += abti_pool_answers(pools[i]);
    struct abti_gang *made = num_pools < FEWEST_POOLS ? NULL : gang_make(num_pools);
    if (!made)
        return NULL;
    abti_spin_lock(&gangs_lock);
    struct abti_gang *gang = join_locked(made, num, pools);
    abti_spin_unlock(&gangs_lock);
    if (gang != made)
        free(made);
    if (gang && pools[0]->deputy)
        set_owner(pools[0], NULL, p);
    return gang;
}

/* Nobody is in the gang's list any more, so that a push finds nothing here. */
static void unlink_deputy(struct abti_deputy *deputy)
{
    abti_pool *pool = deputy->pool;
    abti_pool_lock(abti_es_self, pool);
    if (abti_load_relaxed(&deputy->parking.linked)) /* relaxed: the lock is held */
        abti_parking_unlink(&pool->parked, &deputy->parking);
    abti_pool_unlock(abti_es_self, pool);
}

/* The deputies of a new gang of the same pools may come before these are gone. */
void abti_gang_quit(struct abti_gang *gang, int num, abti_pool **pools, struct abti_parking *p)
{
    /* relaxed: the stream of the entry is awake, and nobody else links it */
    abti_assert(!abti_load_relaxed(&p->linked) && gang->num_scheds > 0);
    if (pools[0]->deputy)
        set_owner(pools[0], p, NULL);
    abti_spin_lock(&gangs_lock);
    bool is_last = --gang->num_scheds == 0;
    if (is_last)
        drop_pools(gang, num, pools);
    abti_spin_unlock(&gangs_lock);
    for (uint32_t i = 0; is_last && i < gang->num_pools; i++)
        unlink_deputy(&gang->deputies[i]);
    if (is_last)
        free(gang);
}

/* --- The list --- */

/* Ends the expectation that the stream comes. The gang's lock is held. */
static void gang_settle(struct abti_gang *gang, struct abti_parking *p)
{
    uint32_t num = abti_load_relaxed(&gang->num_coming); /* relaxed, both: the lock is held */
    abti_assert(abti_spin_is_mine(&gang->lock) && (!p->coming || num > 0));
    abti_store_relaxed(&gang->num_coming, num - p->coming);
    p->coming = false;
}

void abti_gang_enter(struct abti_gang *gang, struct abti_parking *p, struct abti_sleeper *s)
{
    abti_spin_lock(&gang->lock);
    gang_settle(gang, p);
    p->sleeper = s;
    abti_parking_link(&gang->sleepers, p);
    abti_spin_unlock(&gang->lock);
    /* seq_cst: pairs with the fence in abti_gang_claim_locked */
    abti_fence_seq_cst();
}

void abti_gang_leave(struct abti_gang *gang, struct abti_parking *p)
{
    abti_spin_lock(&gang->lock);
    if (abti_load_relaxed(&p->linked)) /* relaxed: the lock is held */
        abti_parking_unlink(&gang->sleepers, p);
    abti_spin_unlock(&gang->lock);
}

void abti_gang_settle(struct abti_gang *gang, struct abti_parking *p)
{
    if (!p->coming)
        return; /* It will not be set either: the entry is not in the list. */
    abti_spin_lock(&gang->lock);
    gang_settle(gang, p);
    abti_spin_unlock(&gang->lock);
    /* seq_cst: pairs with the fence in abti_gang_claim_locked */
    abti_fence_seq_cst();
}

/* --- Its pools --- */

static bool link_deputy(abti_pool *pool, struct abti_parking *deputy)
{
    abti_pool_lock(abti_es_self, pool);
    if (!abti_load_relaxed(&deputy->linked)) /* relaxed: the lock is held */
        abti_parking_link(&pool->parked, deputy);
    bool is_empty = abti_pool_is_empty(pool);
    abti_pool_unlock(abti_es_self, pool);
    return is_empty;
}

bool abti_gang_finds_empty(abti_pool *pool)
{
    struct abti_parking *deputy = &pool->deputy->parking;
    /* acquire: pairs with the release in abti_parking_link: what was pushed before is seen */
    if (!abti_load_acquire(&deputy->linked))
        return link_deputy(pool, deputy);
    bool looks_empty = abti_pool_looks_empty(pool);
    /* acquire: pairs with the fence in abti_loot_fill_locked: units that have left the ring are seen in a box */
    abti_fence_acquire();
    return looks_empty && abti_pool_is_empty(pool);
}

/* Whether more are to come for the pool, by a racy read. */
static bool needs_more(struct abti_gang *gang, abti_pool *pool)
{
    size_t units = abti_pool_num_locked(pool);
    size_t enough = units < ENOUGH_COMING ? units : ENOUGH_COMING;
    return abti_load_relaxed(&gang->num_coming) < enough; /* relaxed: it is behind a fence */
}

/* Takes this one out of the list, and picks it if it sleeps. The gang's lock is held. */
static abti_wakeup gang_pick(struct abti_gang *gang, struct abti_parking *p)
{
    abti_assert(abti_spin_is_mine(&gang->lock));
    abti_parking_unlink(&gang->sleepers, p);
    abti_wakeup wakeup = abti_sleeper_claim(p->sleeper);
    p->coming = wakeup && abti_wakeup_is_sure(wakeup);
    /* relaxed, both: the lock is held; who reads it without has a fence before */
    abti_store_relaxed(&gang->num_coming, abti_load_relaxed(&gang->num_coming) + p->coming);
    return wakeup;
}

abti_wakeup abti_gang_claim_locked(struct abti_deputy *deputy, abti_pool *pool, bool own, bool anyway)
{
    struct abti_gang *gang = deputy->gang;
    struct abti_parking *owner = deputy->owner, *p;
    abti_wakeup wakeup = NULL;
    abti_assert(abti_pool_is_locked(pool) && deputy->pool == pool);
    /*
     * seq_cst: pairs with the fences in abti_gang_enter and abti_gang_settle. One who is not seen there any more, or
     * not yet, sees the unit. relaxed: the fence orders it
     */
    abti_fence_seq_cst();
    if (own ? !owner || !abti_load_relaxed(&owner->linked) : !anyway && !needs_more(gang, pool))
        return NULL;
    abti_spin_lock(&gang->lock);
    if (own && abti_load_relaxed(&owner->linked)) /* relaxed, as the next ones: the lock is held */
        wakeup = gang_pick(gang, owner);
    while (!own && !wakeup && (p = abti_load_relaxed(&gang->sleepers.first)) != NULL)
        wakeup = gang_pick(gang, p);
    if (!abti_load_relaxed(&gang->sleepers.first))
        abti_parking_unlink(&pool->parked, &deputy->parking);
    abti_spin_unlock(&gang->lock);
    return wakeup;
}

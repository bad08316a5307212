/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/request.h"

#include "base/assert.h"
#include "os/clock.h"
#include "pool/blocked.h"
#include "pool/builtin.h"
#include "pool/stolen.h"
#include "wait/cpus.h"

/*
 * How long a thief waits to be granted its request. An ES that is busy with small units answers at once; from others a
 * unit is taken, with the bias, and then the next ones are cheap.
 */
enum { PATIENCE_NS = 1000 };

/* So often a thief looks at its request before it looks at the pool again. */
enum { OWN_LOOKS = 8 };

/* The gift, which the caller has taken off the pool, is on its giver's stack, and goes when it is DONE. */
static void accept_gift(abti_pool *pool, struct abti_gift *gift)
{
    uint32_t offered = ABTI_GIFT_OFFERED;
    /* relaxed: the pool's word has ordered the gift, and DONE orders the rest */
    if (abti_cas_relaxed(&gift->state, &offered, ABTI_GIFT_ACCEPTED)) {
        abti_assert(gift->unit);
        pool->ops->push_locked(pool, gift->unit, gift->context);
        abti_pool_count_left(abti_es_self, pool);
    }
    /* release: pairs with the acquires in abti_pool_give */
    abti_store_release(&gift->state, ABTI_GIFT_DONE);
}

static void grant_locked(abti_pool *pool, struct abti_steal_request *request)
{
    abti_unit *unit = abti_ring_pop(&pool->ring, true);
    if (request->box)
        abti_stolen_fill_locked(pool, request->box, request->more);
    /* release: pairs with the acquires in abti_pool_ask; publishes the units, and what the lock has ordered */
    abti_store_release(&request->unit, unit);
}

void abti_pool_answer_locked(abti_pool *pool)
{
    abti_assert(abti_pool_is_locked(pool));
    uintptr_t word = abti_load_relaxed(&pool->request); /* relaxed: a missed request is answered later, or taken back */
    if (ABTI_LIKELY(word == 0))
        return;
    bool is_gift = word & ABTI_REQUEST_GIFT;
    /*
     * The last unit is left to the holder of the lock, which is likely to take it soon. If somebody sleeps on the pool,
     * its giver pushes the gift itself and wakes the sleeper.
     */
    if (is_gift ? abti_pool_has_parked(pool) : abti_ring_size(&pool->ring) < 2)
        return;
    /* acquire: pairs with the compare-and-swap of abti_pool_ask or abti_pool_give, which publishes the request or gift
     */
    if (!abti_cas_acq_rel(&pool->request, &word, 0))
        return;
    if (is_gift)
        accept_gift(pool, (struct abti_gift *)(word - ABTI_REQUEST_GIFT));
    else
        grant_locked(pool, (struct abti_steal_request *)word);
}

/* Whether it is worth while to wait on. relaxed: these are racy reads. */
static bool is_busy(abti_pool *pool, uint64_t asked_ns)
{
    return abti_load_relaxed(&pool->lock.owner) && abti_clock_mono_ns() - asked_ns < PATIENCE_NS;
}

/*
 * Waits for the answer. What it looks at is its own; at the pool, whose owner is busy there, it looks now and then
 * only. Sets *empty when the pool was empty. Returns the unit, or NULL.
 */
static abti_unit *wait_for_grant(abti_pool *pool, struct abti_steal_request *request, bool *empty)
{
    uint64_t asked_ns = abti_clock_mono_ns();
    do {
        for (int i = 0; i < OWN_LOOKS; i++) {
            /* acquire: pairs with the store of the unit in grant_locked */
            abti_unit *unit = abti_load_acquire(&request->unit);
            if (unit)
                return unit;
            abti_cpu_relax();
        }
        *empty = abti_pool_looks_empty(pool);
    } while (!*empty && is_busy(pool, asked_ns));
    return NULL;
}

bool abti_pool_ask(abti_pool *pool, abti_unit **unit, struct abti_stolen *box, unsigned more)
{
    abti_assert(abti_pool_answers(pool));
    struct abti_steal_request request = {NULL, box, more};
    uintptr_t none = 0, mine = (uintptr_t)&request;
    bool empty = false;
    *unit = NULL;
    /* relaxed: a racy read comes first. release: publishes the request to the compare-and-swap in
     * abti_pool_answer_locked
     */
    if (abti_pool_is_asked(pool) || !abti_cas_acq_rel(&pool->request, &none, mine))
        return false;
    *unit = wait_for_grant(pool, &request, &empty);
    if (*unit)
        return true;
    /* release and acquire: of no use; the word is the caller's own, or the unit below orders what follows */
    if (abti_cas_acq_rel(&pool->request, &mine, 0))
        return !empty;
    abti_spin_until(*unit = abti_load_acquire(&request.unit));
    return true;
}

bool abti_pool_may_ask(abti_pool *pool)
{
    return abti_pool_answers(pool) && abti_runs_at_once(2);
}

/*
 * Waits for a while for a holder of the pool's lock to accept the gift, and withdraws it then. It does not look at the
 * pool, which is gone if the unit was accepted and has ended. False: the gift was accepted.
 */
static bool withdraw_gift(struct abti_gift *gift)
{
    uint32_t offered = ABTI_GIFT_OFFERED;
    uint64_t offered_ns = abti_clock_mono_ns();
    while (abti_load_relaxed(&gift->state) == ABTI_GIFT_OFFERED && abti_clock_mono_ns() - offered_ns < PATIENCE_NS)
        abti_cpu_relax();
    /* relaxed: the unit and the gift are the caller's own then, or DONE orders what follows */
    return abti_cas_relaxed(&gift->state, &offered, ABTI_GIFT_WITHDRAWN);
}

bool abti_pool_give(abti_es *es, abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    struct abti_gift gift = {.unit = unit, .context = context};
    uintptr_t none = 0, mine = (uintptr_t)&gift | ABTI_REQUEST_GIFT;
    struct abti_bias_user *owner = abti_load_relaxed(&pool->lock.owner); /* relaxed: a hint */
    if (!owner || (es && owner == es->bias) || !abti_pool_may_ask(pool) || abti_pool_has_parked(pool))
        return false;
    /* release: publishes the gift and the unit to the compare-and-swap in abti_pool_answer_locked */
    if (!abti_cas_acq_rel(&pool->request, &none, mine))
        return false;
    bool is_mine = withdraw_gift(&gift);
    /* release and acquire: of no use; the gift is the caller's own, or DONE orders what follows */
    if (is_mine && abti_cas_acq_rel(&pool->request, &mine, 0))
        return false;
    /* acquire: pairs with the release in accept_gift, which looks at the gift no more */
    abti_spin_until(abti_load_acquire(&gift.state) == ABTI_GIFT_DONE);
    return !is_mine;
}

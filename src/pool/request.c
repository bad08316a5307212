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

/* So often a thief polls its request before it polls the pool again. */
enum { OWN_SPINS = 8 };

/* The hand-off, which the caller has taken off the pool, is on its giver's stack, and goes when it is DONE. */
static void accept_handoff(abti_pool *pool, struct abti_handoff *handoff)
{
    uint32_t offered = ABTI_HANDOFF_OFFERED;
    /* relaxed: the pool's word has ordered the hand-off, and DONE orders the rest */
    if (abti_cas_relaxed(&handoff->state, &offered, ABTI_HANDOFF_ACCEPTED)) {
        abti_assert(handoff->unit);
        pool->ops->push_locked(pool, handoff->unit, handoff->context);
        abti_pool_count_left(abti_es_self, pool, 1);
    }
    /* release: pairs with the acquires in abti_pool_give */
    abti_store_release(&handoff->state, ABTI_HANDOFF_DONE);
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
    bool is_handoff = word & ABTI_REQUEST_HANDOFF;
    /*
     * The last unit is left to the holder of the lock, which is likely to take it soon. If somebody sleeps on the pool,
     * its giver pushes the hand-off itself and wakes the sleeper.
     */
    if (is_handoff ? abti_pool_has_parked(pool) : abti_ring_size(&pool->ring) < 2)
        return;
    /* acquire: pairs with the compare-and-swap of abti_pool_ask or abti_pool_give, which publishes the request or
     * hand-off
     */
    if (!abti_cas_acq_rel(&pool->request, &word, 0))
        return;
    if (is_handoff)
        accept_handoff(pool, (struct abti_handoff *)(word - ABTI_REQUEST_HANDOFF));
    else
        grant_locked(pool, (struct abti_steal_request *)word);
}

/* Whether it is worth while to wait on. relaxed: these are racy reads. */
static bool is_busy(abti_pool *pool, uint64_t asked_ns)
{
    return abti_load_relaxed(&pool->lock.owner) && abti_clock_mono_ns() - asked_ns < PATIENCE_NS;
}

/*
 * Waits for the answer. The word that it polls is its own; the pool, whose owner is busy there, it polls now and then
 * only. Sets *empty when the pool was empty. Returns the unit, or NULL.
 */
static abti_unit *wait_for_grant(abti_pool *pool, struct abti_steal_request *request, bool *empty)
{
    uint64_t asked_ns = abti_clock_mono_ns();
    do {
        for (int i = 0; i < OWN_SPINS; i++) {
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
 * Waits for a while for a holder of the pool's lock to accept the hand-off, and withdraws it then. It does not look at
 * the pool, which is gone if the unit was accepted and has ended. False: the hand-off was accepted.
 */
static bool withdraw_handoff(struct abti_handoff *handoff)
{
    uint32_t offered = ABTI_HANDOFF_OFFERED;
    uint64_t offered_ns = abti_clock_mono_ns();
    while (abti_load_relaxed(&handoff->state) == ABTI_HANDOFF_OFFERED &&
           abti_clock_mono_ns() - offered_ns < PATIENCE_NS)
        abti_cpu_relax();
    /* relaxed: the unit and the hand-off are the caller's own then, or DONE orders what follows */
    return abti_cas_relaxed(&handoff->state, &offered, ABTI_HANDOFF_WITHDRAWN);
}

bool abti_pool_give(abti_es *es, abti_pool *pool, abti_unit *unit, ABT_pool_context context)
{
    struct abti_handoff handoff = {.unit = unit, .context = context};
    uintptr_t none = 0, mine = (uintptr_t)&handoff | ABTI_REQUEST_HANDOFF;
    struct abti_bias_user *owner = abti_load_relaxed(&pool->lock.owner); /* relaxed: a hint */
    if (!owner || (es && owner == es->bias) || !abti_pool_may_ask(pool) || abti_pool_has_parked(pool))
        return false;
    /* release: publishes the hand-off and the unit to the compare-and-swap in abti_pool_answer_locked */
    if (!abti_cas_acq_rel(&pool->request, &none, mine))
        return false;
    bool is_mine = withdraw_handoff(&handoff);
    /* release and acquire: of no use; the hand-off is the caller's own, or DONE orders what follows */
    if (is_mine && abti_cas_acq_rel(&pool->request, &mine, 0))
        return false;
    /* acquire: pairs with the release in accept_handoff, which looks at the hand-off no more */
    abti_spin_until(abti_load_acquire(&handoff.state) == ABTI_HANDOFF_DONE);
    return !is_mine;
}

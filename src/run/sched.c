#include "run/sched.h"

#include <stdlib.h>
#include <string.h>
#include "rt/rt.h"
#include "run/switch.h"
#include "sync/timer.h"

/*
 * ULTs blocked out of a pool count as work when nobody else would wait for them: a private pool, or one that only this
 * scheduler uses.
 */
bool abti_sched_has_work(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        abti_pool *pool = sched->pools[i];
        bool counts_blocked = pool->access == ABT_POOL_ACCESS_PRIV || abti_load_relaxed(&pool->num_scheds) == 1;
        /* Blocked ones first: one that is resumed in between is then found in the pool. */
        if (counts_blocked && abti_pool_num_blocked(pool) > 0)
            return true;
        if (!pool->ops->is_empty(pool))
            return true;
    }
    return false;
}

bool abti_sched_uses(abti_sched *sched, abti_pool *pool)
{
    for (int i = 0; i < sched->num_pools; i++) {
        if (sched->pools[i] == pool)
            return true;
    }
    return false;
}

/* By who has no bias, or is asked for a unit. By itself, so that it is not for this that the other saves registers. */
static ABTI_NOINLINE abti_unit *pick_shared_slow(abti_es *es, abti_sched *sched, abti_unit *self)
{
    abti_pool *front = sched->front;
    abti_pool_lock(es, front);
    abti_unit *unit = abti_pool_take_head_locked(front);
    abti_pool_answer_locked(front);
    abti_pool_unlock(es, front);
    return unit ? unit : sched->ops->pick(sched, self);
}

ABTI_HOT abti_unit *abti_sched_pick_shared(abti_sched *sched, abti_unit *self)
{
    abti_es *es = abti_es_self;
    abti_pool *front = sched->front;
    /* A glance first: an empty pool costs no access that others would notice. */
    if (abti_pool_looks_empty(front))
        return sched->ops->pick(sched, self);
    if (ABTI_UNLIKELY(abti_pool_is_asked(front) || !abti_bias_enter(&front->lock, es->bias)))
        return pick_shared_slow(es, sched, self);
    abti_unit *unit = abti_pool_take_head_locked(front);
    abti_bias_leave(es->bias);
    return ABTI_LIKELY(unit != NULL) ? unit : sched->ops->pick(sched, self);
}

bool abti_sched_has_to_stop(abti_sched *sched)
{
    unsigned requests = atomic_load(&sched->requests); /* seq_cst: see abti_sched_request */
    if (requests & ABTI_SCHED_REQ_EXIT)
        return true;
    bool may_stop = requests != 0 || abti_load_relaxed(&sched->use) == ABTI_SCHED_STACKED;
    return may_stop && !abti_sched_has_work(sched) && !abti_timers_keep(sched);
}

void abti_sched_pass_wake(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++) {
        abti_parking_settle(&sched->parkings[i], sched->pools[i]);
        abti_parking_pass(sched->pools[i]);
    }
}

void abti_sched_request(abti_sched *sched, unsigned request)
{
    /* One that is stacked may end, and be gone, as soon as it sees the request. No ES sleeps in it. */
    bool stacked = abti_load_acquire(&sched->use) == ABTI_SCHED_STACKED;
    /* seq_cst, and so is the ES's look before it sleeps: one of the two sees the other (abti_es_park) */
    atomic_fetch_or(&sched->requests, (uint8_t)request);
    if (stacked)
        return;
    abti_es *es = atomic_load(&sched->es);
    if (es)
        abti_es_wake(es);
}

bool abti_sched_claim(abti_sched *sched, enum abti_sched_use use)
{
    uint8_t unused = ABTI_SCHED_UNUSED;
    return abti_cas_acq_rel(&sched->use, &unused, (uint8_t)use);
}

int abti_sched_alloc(const struct abti_sched_ops *ops, int num_pools, abti_pool **pools, abti_sched **out)
{
    abti_sched *sched = calloc(1, sizeof(*sched));
    size_t n = num_pools > 0 ? (size_t)num_pools : 1;
    abti_pool **lists = calloc(n * 2, sizeof(*lists));
    struct abti_parking *parkings = calloc(n, sizeof(*parkings));
    if (!sched || !lists || !parkings) {
        free(sched);
        free(lists);
        free(parkings);
        return ABT_ERR_MEM;
    }
    sched->ops = ops;
    sched->event_freq = abti_rt.config.sched_event_freq;
    sched->num_pools = num_pools;
    sched->pools = lists;
    sched->order = lists + n;
    sched->parkings = parkings;
    for (int i = 0; i < num_pools; i++) {
        sched->pools[i] = sched->order[i] = pools[i];
        abti_pool_retain(pools[i]);
        parkings[i].own = i == 0;
        parkings[i].seeks = ops->pick != NULL; /* which unit a user-defined scheduler takes next is not known */
        sched->has_inbox = sched->has_inbox || pools[i]->priv_fifo;
    }
    abti_spin_lock(&abti_rt.lock);
    sched->id = abti_rt.next_sched_id++;
    abti_spin_unlock(&abti_rt.lock);
    sched->random = (uint32_t)sched->id * 2654435761u + 1;
    *out = sched;
    return ABT_SUCCESS;
}

static void sched_dispose(abti_sched *sched)
{
    free(sched->pools);
    free(sched->parkings);
    free(sched);
}

void abti_sched_unmake(abti_sched *sched)
{
    for (int i = 0; i < sched->num_pools; i++)
        abti_fetch_sub_acq_rel(&sched->pools[i]->num_scheds, 1);
    sched_dispose(sched);
}

void abti_sched_destroy(abti_sched *sched)
{
    if (sched->def.free)
        sched->def.free(sched);
    for (int i = 0; i < sched->num_pools; i++)
        abti_pool_drop(sched->pools[i]);
    sched_dispose(sched);
}

void abti_sched_release(abti_sched *sched)
{
    atomic_store(&sched->es, NULL);
    if (sched->automatic) {
        abti_sched_destroy(sched);
        return;
    }
    abti_store_relaxed(&sched->requests, 0); /* they were meant for the use that ends here */
    abti_store_release(&sched->use, ABTI_SCHED_UNUSED);
}

void abti_sched_stacked_main(void *arg)
{
    abti_sched *sched = arg;
    sched->ops->run(sched);
    abti_sched_release(sched);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/xbarrier.h"

#include "base/assert.h"
#include "sync/hazard.h"
#include "sync/rounds.h"
#include "wait/word.h"

void abti_xbarrier_init(struct ABT_xstream_barrier_opaque *barrier, uint32_t num)
{
    abti_assert(num > 0);
    *barrier = (struct ABT_xstream_barrier_opaque){.num = num};
}

void abti_xbarrier_fini(struct ABT_xstream_barrier_opaque *barrier)
{
    abti_hazards_settle(barrier);
    /* acquire: pairs with the release in leave_barrier, which is the last access of a thread that leaves */
    abti_spin_until(abti_load_acquire(&barrier->outsiders) == 0);
}

static void wait_for_round(struct ABT_xstream_barrier_opaque *barrier, uint32_t round)
{
    uint32_t learnt;
    if (abti_round_await_soon(&barrier->rounds, round, barrier->num, &barrier->adaptive, &learnt))
        return;
    /*
     * Nobody sleeps unseen: this counts itself and then looks at `rounds`, the last one counts that up and then looks
     * here. relaxed: the fence orders it. seq_cst: pairs with the fence in abti_xbarrier_wait
     */
    abti_fetch_add_relaxed(&barrier->sleepers, 1);
    abti_fence_seq_cst();
    abti_round_sleep(&barrier->rounds, round, &barrier->adaptive, learnt);
    abti_fetch_add_relaxed(&barrier->sleepers, (uint32_t)-1); /* relaxed: late, it costs a wake */
}

/*
 * Until it has left, the barrier is not freed. The thread that frees it comes out of the last round, to which all
 * arrivals have been counted: they publish what is stored here.
 */
static void enter_barrier(struct ABT_xstream_barrier_opaque *barrier, abti_es *es)
{
    if (ABTI_LIKELY(es != NULL))
        abti_hazard_begin(es, barrier);
    else
        abti_fetch_add_relaxed(&barrier->outsiders, 1); /* relaxed: see above */
}

static void leave_barrier(struct ABT_xstream_barrier_opaque *barrier, abti_es *es)
{
    if (ABTI_LIKELY(es != NULL))
        abti_hazard_end(es);
    else
        abti_fetch_add_release(&barrier->outsiders, (uint32_t)-1); /* release: pairs with abti_xbarrier_fini */
}

void abti_xbarrier_wait(struct ABT_xstream_barrier_opaque *barrier)
{
    uint32_t num = barrier->num;
    if (num == 1)
        return;
    abti_es *es = abti_es_self; /* the same in the end: the thread does not switch meanwhile */
    enter_barrier(barrier, es);
    /*
     * acquire and release: each arrival pairs with those before it, here in abti_xbarrier_wait, so that the last one
     * has seen the stores of the others
     */
    uint64_t arrival = abti_fetch_add_acq_rel(&barrier->arrived, 1);
    uint32_t round = (uint32_t)(arrival / num);
    if (arrival % num == num - 1) {
        /*
         * This is an addition, since the last one of the next round may be here before us. release: pairs with the
         * acquire in abti_round_is_over. acquire: of no use
         */
        abti_fetch_add_acq_rel(&barrier->rounds, 1);
        /* seq_cst: pairs with the fence in wait_for_round. relaxed: the fence orders it */
        abti_fence_seq_cst();
        if (abti_load_relaxed(&barrier->sleepers) > 0)
            abti_word_wake_all(&barrier->rounds);
    } else {
        wait_for_round(barrier, round);
    }
    leave_barrier(barrier, es);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams that search for a source's work, the idle ones, and their wakers. */
#include "base/assert.h"
#include "stream/source_impl.h"

/*
 * So many are counted at a time as those that search: of a source whose work is made when it is asked for, where they
 * poll on for long, and of others.
 */
enum { SEARCH_PATIENT = 4, SEARCH_IMPATIENT = 8 };

/*
 * An attachment becomes ABTI_SOURCE_IDLE, and is that no more. relaxed, in both: the source's lock is held; a thread
 * that reads the number or the state without it has a fence before, or takes it for a hint.
 */
static void enter_idlers(struct abti_attachment *a)
{
    struct abtx_source *source = a->source;
    abti_assert(abti_spin_is_mine(&source->lock));
    a->prev_idler = NULL;
    a->next_idler = source->idlers;
    if (source->idlers)
        source->idlers->prev_idler = a;
    source->idlers = a;
    abti_store_relaxed(&a->state, ABTI_SOURCE_IDLE);
    abti_store_relaxed(&source->idle, abti_load_relaxed(&source->idle) + 1);
}

static void leave_idlers(struct abti_attachment *a)
{
    struct abtx_source *source = a->source;
    abti_assert(abti_spin_is_mine(&source->lock));
    if (a->next_idler)
        a->next_idler->prev_idler = a->prev_idler;
    if (a->prev_idler)
        a->prev_idler->next_idler = a->next_idler;
    else
        source->idlers = a->next_idler;
    /* relaxed, both: the lock is held; a thread that reads it without has a fence before, or takes it for a hint */
    abti_store_relaxed(&source->idle, abti_load_relaxed(&source->idle) - 1);
}

void abti_source_leave_idle(struct abti_attachment *a, uint32_t state)
{
    abti_assert(a->es == abti_es_self && state != ABTI_SOURCE_IDLE);
    /* acquire: pairs with the store in wake_idler, which may come until the lock is held */
    if (abti_load_acquire(&a->state) == ABTI_SOURCE_IDLE) {
        abti_spin_lock(&a->source->lock);
        if (abti_load_relaxed(&a->state) == ABTI_SOURCE_IDLE) /* relaxed: the lock is held */
            leave_idlers(a);
        abti_spin_unlock(&a->source->lock);
    }
    abti_store_relaxed(&a->state, state); /* relaxed: the ES alone leaves the other two states */
}

/* Makes one of the wakes that were left to a stream that has searched and does so no more. The caller has a fence
 * before. */
static void pay_owed(struct abtx_source *source)
{
    if (abti_load_relaxed(&source->owed) == 0) /* relaxed: the fence orders it */
        return;
    /* acquire, release: of no use */
    uint32_t owed = abti_exchange_acq_rel(&source->owed, 0);
    if (owed > 1 && abti_load_relaxed(&source->idle) > 0) /* relaxed, both: the one that is woken polls again */
        abti_fetch_add_relaxed(&source->owed, owed - 1);
    if (owed > 0)
        abti_source_wake_one(source);
}

/* The ES has asked, and is not counted among those that search any more. */
static void end_search(struct abti_attachment *a)
{
    if (!a->searches)
        return;
    a->searches = false;
    abti_fetch_add_relaxed(&a->source->searching, -1); /* relaxed: the fence orders it */
    /* seq_cst: pairs with the fences in leave_wake and become_idle */
    abti_fence_seq_cst();
    pay_owed(a->source);
}

void abti_source_enter_idle(struct abti_attachment *a)
{
    abti_assert(a->es == abti_es_self);
    end_search(a);
    abti_spin_lock(&a->source->lock);
    enter_idlers(a);
    abti_spin_unlock(&a->source->lock);
}

void abti_source_leave_search(struct abti_attachment *a)
{
    struct abtx_source *source = a->source;
    bool searched = a->searches;
    end_search(a);
    /* relaxed: behind the fence in end_search, or in become_idle */
    if (searched && source->patience_ns > 0 && abti_load_relaxed(&source->searching) == 0)
        abti_source_wake_one(source);
}

/*
 * Counts one more searching stream, unless enough do. So few wakers come for the source's lock, too. relaxed: those
 * that look at the number on account of another word have a fence in between.
 */
static bool claim_search(struct abtx_source *source)
{
    int enough = source->patience_ns > 0 ? SEARCH_PATIENT : SEARCH_IMPATIENT;
    int searching = abti_load_relaxed(&source->searching);
    while (searching < enough) {
        if (abti_cas_relaxed(&source->searching, &searching, searching + 1))
            return true;
    }
    return false;
}

bool abti_source_may_search(struct abti_attachment *a)
{
    abti_assert(a->es == abti_es_self);
    a->searches = a->searches || claim_search(a->source);
    return a->searches;
}

/*
 * Leaves the wake to a searching stream. False: there is none any more. One that searches for work that others make
 * when they are asked polls again by itself.
 */
static bool leave_wake(struct abtx_source *source)
{
    if (source->patience_ns > 0)
        return true;
    abti_fetch_add_relaxed(&source->owed, 1); /* relaxed, as the next: the fence orders it */
    /* seq_cst: pairs with the fence in end_search */
    abti_fence_seq_cst();
    return abti_load_relaxed(&source->searching) > 0;
}

/* Wakes the last one that has become idle, in whose name the caller has been counted as searching. */
static void wake_idler(struct abtx_source *source)
{
    abti_wakeup wakeup = NULL;
    abti_spin_lock(&source->lock);
    struct abti_attachment *a = source->idlers;
    if (a) {
        leave_idlers(a);
        a->searches = true;
        /*
         * seq_cst: pairs with the load in abti_source_is_one_woken. The read of the sleeper comes after it, as that
         * one comes after the announcement of the sleep.
         */
        abti_store_seq_cst(&a->state, ABTI_SOURCE_WOKEN);
        wakeup = abti_sleeper_claim(&a->es->sleeper);
    } else {
        /* relaxed: a stream that becomes idle takes the lock after this, and looks at the number then */
        abti_fetch_add_relaxed(&source->searching, -1);
    }
    abti_spin_unlock(&source->lock);
    abti_wakeup_send(wakeup);
    if (!a) {
        /* seq_cst: pairs with the fence in leave_wake */
        abti_fence_seq_cst();
        pay_owed(source);
    }
}

void abti_source_wake_one(struct abtx_source *source)
{
    /* seq_cst: pairs with the fence in become_idle */
    abti_fence_seq_cst();
    if (abti_load_relaxed(&source->idle) == 0) /* relaxed: the fence orders it */
        return;
    while (!claim_search(source)) {
        if (leave_wake(source))
            return;
    }
    wake_idler(source);
}

bool abti_source_end_locked(struct abti_attachment *a)
{
    abti_assert(abti_spin_is_mine(&a->source->lock));
    if (abti_load_relaxed(&a->state) == ABTI_SOURCE_IDLE) /* relaxed: the lock is held */
        leave_idlers(a);
    if (a->searches)
        abti_fetch_add_relaxed(&a->source->searching, -1); /* relaxed: the fence in abti_source_wake_one orders it */
    return a->searches;
}

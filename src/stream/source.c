#include "stream/source.h"

#include <stdlib.h>
#include "base/assert.h"
#include "os/annotate.h"
#include "pool/member.h"
#include "run/sched.h"
#include "stream/events.h"
#include "unit/tool_event.h"

enum { SOURCE_BUSY, SOURCE_IDLE, SOURCE_WOKEN };

/* Held while attachments come and go. */
static struct abti_spin attaching = ABTI_SPIN_INIT(ABTI_RANK_SOURCES);

/* --- What the ES does --- */

/* Asks one source after the other, with the lock held. */
static bool ask_sources(abti_es *es, ABTX_work *work)
{
    /* relaxed: the lock is held */
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
        *work = (ABTX_work){.thread = ABT_THREAD_NULL};
        if (a->source->ask(a->source->arg, work) != ABT_FALSE)
            return true;
    }
    return false;
}

/*
 * All attachments become SOURCE_IDLE. True if one was not, so that the sources are to be asked once more. relaxed: the
 * lock of the list is held.
 */
static bool become_idle(abti_es *es)
{
    bool asks = false;
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
        /* relaxed: this ES alone leaves the other two states */
        if (abti_load_relaxed(&a->state) == SOURCE_IDLE)
            continue;
        /* relaxed: counted first, so that the word never falls below 0. The fence below orders both. */
        abti_fetch_add_relaxed(&a->source->idle, 1);
        abti_store_relaxed(&a->state, SOURCE_IDLE);
        asks = true;
    }
    es->idle->in_vain = true;
    /* seq_cst: pairs with the fence in abti_source_wake_one */
    if (asks)
        abti_fence_seq_cst();
    return asks;
}

/* relaxed: the lock of the list is held. */
static bool is_idle(abti_es *es)
{
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
        /* acquire: pairs with the compare-and-swap in wake_attached (stream/source.c), whose work is to be seen */
        if (abti_load_acquire(&a->state) != SOURCE_IDLE)
            return false;
    }
    return true;
}

bool abti_source_is_to_ask_slow(abti_es *es)
{
    abti_spin_lock(&es->idle->sources_lock);
    bool is_to_ask = !is_idle(es);
    abti_spin_unlock(&es->idle->sources_lock);
    return is_to_ask;
}

/* relaxed: the lock of the list is held. */
static void set_busy_locked(abti_es *es)
{
    es->idle->in_vain = false;
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
        uint32_t state = SOURCE_IDLE;
        /*
         * acquire: pairs with the compare-and-swap in wake_attached (stream/source.c), with which it competes. release:
         * of no use. It fails when the state is SOURCE_BUSY, or SOURCE_WOKEN by now.
         */
        if (abti_cas_acq_rel(&a->state, &state, SOURCE_BUSY))
            abti_fetch_add_relaxed(&a->source->idle, -1); /* relaxed: it is a hint */
        else
            abti_store_relaxed(&a->state, SOURCE_BUSY); /* relaxed: the ES alone leaves these states */
    }
}

void abti_source_set_busy_slow(abti_es *es)
{
    abti_assert(es == abti_es_self);
    abti_spin_lock(&es->idle->sources_lock);
    set_busy_locked(es);
    abti_spin_unlock(&es->idle->sources_lock);
}

/* relaxed: the lock of the list is held. */
bool abti_source_is_woken_slow(abti_es *es)
{
    bool woken = false;
    abti_spin_lock(&es->idle->sources_lock);
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a && !woken; a = a->next_of_es)
        /* seq_cst: pairs with the swap in abti_source_wake_one, and comes after the announcement of the sleep */
        woken = abti_load_seq_cst(&a->state) == SOURCE_WOKEN;
    abti_spin_unlock(&es->idle->sources_lock);
    return woken;
}

/*
 * There is no memory for a new unit: the stream asks again before it sleeps, until there is some. relaxed: the lock of
 * the list is held.
 */
static void stay_woken(abti_es *es)
{
    for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
        if (abti_load_relaxed(&a->state) == SOURCE_BUSY)
            abti_store_relaxed(&a->state, SOURCE_WOKEN);
    }
    es->idle->in_vain = true;
}

/* The descriptor is there before anything is taken, so that nothing is lost for want of memory. */
abti_unit *abti_source_ask_slow(abti_es *es, abti_sched *sched)
{
    ABTX_work work;
    int code;
    abti_assert(es == abti_es_self && !es->parent && sched->num_pools > 0);
    abti_spin_lock(&es->idle->sources_lock);
    if (is_idle(es)) { /* also when somebody has detached the last source meanwhile */
        abti_spin_unlock(&es->idle->sources_lock);
        return NULL;
    }
    abti_unit *unit = abti_unit_new(es, sched->pools[0], NULL, NULL, 0, &code);
    abti_annotate_acquire(es->idle); /* the thread that has attached a source has released that */
    bool found = unit && (ask_sources(es, &work) || (become_idle(es) && ask_sources(es, &work)));
    if (found)
        set_busy_locked(es);
    if (!unit)
        stay_woken(es);
    abti_spin_unlock(&es->idle->sources_lock);
    if (found && work.thread == ABT_THREAD_NULL) {
        unit->func = work.func;
        unit->arg = work.arg;
        abti_tool_event_create(abti_tool_es(), unit);
        return unit;
    }
    if (unit)
        abti_unit_dispose(es, unit);
    return found ? work.thread : NULL;
}

/* --- What others do --- */

/* Wakes the ES if it is idle. */
static bool wake_attached(struct abti_attachment *a)
{
    uint32_t idle = SOURCE_IDLE;
    /*
     * seq_cst: pairs with the load in abti_source_is_woken_slow. The look at the sleeper, in abti_es_wake, comes after
     * it, as that one comes after the announcement of the sleep.
     */
    if (!atomic_compare_exchange_strong(&a->state, &idle, SOURCE_WOKEN))
        return false;
    abti_fetch_add_relaxed(&a->source->idle, -1); /* relaxed: it is a hint */
    abti_es_wake(a->es);
    return true;
}

void abti_source_wake_one(ABTX_source source)
{
    /* seq_cst: pairs with the fence in become_idle */
    abti_fence_seq_cst();
    if (abti_load_relaxed(&source->idle) == 0) /* relaxed: the fence orders it */
        return;
    abti_spin_lock(&source->lock);
    struct abti_attachment *a = source->attachments;
    while (a && !wake_attached(a))
        a = a->next_of_source;
    abti_spin_unlock(&source->lock);
}

/* --- Attaching --- */

/* Returns the link to the attachment in the list of the ES, or where a new one would hang, with the lock held. */
static struct abti_attachment *find_attachment(abti_es *es, ABTX_source source)
{
    struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); /* relaxed: the lock is held */
    while (a && a->source != source)
        a = a->next_of_es;
    return a;
}

int abti_source_attach(ABTX_source source, abti_es *es)
{
    struct abti_attachment *a = malloc(sizeof(*a));
    if (!a)
        return ABT_ERR_MEM;
    *a = (struct abti_attachment){.source = source, .es = es};
    abti_annotate_release(es->idle);
    abti_spin_lock(&attaching);
    abti_spin_lock(&es->idle->sources_lock);
    bool is_new = !find_attachment(es, source);
    if (is_new) {
        a->next_of_es = abti_load_relaxed(&es->idle->sources); /* relaxed: the lock is held */
        abti_store_relaxed(&es->idle->sources, a);             /* relaxed: the ES is asked for a look below */
    }
    abti_spin_unlock(&es->idle->sources_lock);
    if (is_new) {
        abti_spin_lock(&source->lock);
        a->next_of_source = source->attachments;
        source->attachments = a;
        abti_spin_unlock(&source->lock);
    }
    abti_spin_unlock(&attaching);
    if (!is_new) {
        free(a);
        return ABT_ERR_INV_ARG;
    }
    abti_es_request(es, ABTI_ES_REQ_LOOK);
    return ABT_SUCCESS;
}

static void unlink_from_es(struct abti_attachment *a)
{
    struct abti_idle *idle = a->es->idle;
    abti_spin_lock(&idle->sources_lock);
    struct abti_attachment *first = abti_load_relaxed(&idle->sources); /* relaxed, as below: the lock is held */
    if (first == a) {
        abti_store_relaxed(&idle->sources, a->next_of_es);
    } else {
        while (first->next_of_es != a)
            first = first->next_of_es;
        first->next_of_es = a->next_of_es;
    }
    abti_spin_unlock(&idle->sources_lock);
}

/* `attaching` is held. First nobody asks any more, then nobody wakes. */
static void detach_one(struct abti_attachment *a)
{
    unlink_from_es(a);
    abti_spin_lock(&a->source->lock);
    struct abti_attachment **link = &a->source->attachments;
    while (*link != a)
        link = &(*link)->next_of_source;
    *link = a->next_of_source;
    /* relaxed: neither the ES nor a waker has it any more */
    if (abti_load_relaxed(&a->state) == SOURCE_IDLE)
        abti_fetch_add_relaxed(&a->source->idle, -1);
    abti_spin_unlock(&a->source->lock);
    free(a);
}

int abti_source_detach(ABTX_source source, abti_es *es)
{
    abti_spin_lock(&attaching);
    abti_spin_lock(&es->idle->sources_lock);
    struct abti_attachment *a = find_attachment(es, source);
    abti_spin_unlock(&es->idle->sources_lock);
    if (a)
        detach_one(a);
    abti_spin_unlock(&attaching);
    return a ? ABT_SUCCESS : ABT_ERR_INV_ARG;
}

void abti_source_detach_all(ABTX_source source)
{
    abti_spin_lock(&attaching);
    while (source->attachments)
        detach_one(source->attachments);
    abti_spin_unlock(&attaching);
}

/* relaxed: there is one thread */
void abti_sources_forget(void)
{
    attaching = (struct abti_spin)ABTI_SPIN_INIT(ABTI_RANK_SOURCES);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
            a->source->lock = (struct abti_spin)ABTI_SPIN_INIT(ABTI_RANK_LEAF);
            a->source->attachments = NULL;
            abti_store_relaxed(&a->source->idle, 0);
        }
    }
}

void abti_sources_fini(abti_es *es)
{
    abti_spin_lock(&attaching);
    struct abti_attachment *a;
    while ((a = abti_load_relaxed(&es->idle->sources)) != NULL) /* relaxed: the ES runs no more */
        detach_one(a);
    abti_spin_unlock(&attaching);
}

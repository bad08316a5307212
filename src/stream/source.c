/* SPDX-License-Identifier: BSD-3-Clause */
/* How sources come to streams, and go. */
#include <stdlib.h>
#include "base/assert.h"
#include "os/annotate.h"
#include "rt/rt.h"
#include "stream/events.h"
#include "stream/source_impl.h"

/* Held while attachments come and go. */
static struct abti_spin attaching = ABTI_SPIN_INIT(ABTI_RANK_SOURCES);

/* Returns the attachment of the ES to the source, or NULL, with the lock held. */
static struct abti_attachment *find_attachment(abti_es *es, struct abtx_source *source)
{
    abti_assert(abti_spin_is_mine(&es->idle->sources_lock));
    struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); /* relaxed: the lock is held */
    while (a && a->source != source)
        a = a->next_of_es;
    return a;
}

int abti_source_attach(struct abtx_source *source, abti_es *es)
{
    struct abti_attachment *a = aligned_alloc(ABTI_CACHE_LINE, sizeof(*a));
    if (!a)
        return ABT_ERR_MEM;
    *a = (struct abti_attachment){.source = source, .es = es};
    abti_annotate_release(es->idle);
    abti_spin_lock(&attaching);
    abti_spin_lock(&es->idle->sources_lock);
    bool is_new = !find_attachment(es, source);
    if (is_new) {
        a->next_of_es = abti_load_relaxed(&es->idle->sources); /* relaxed: the lock is held */
        abti_store_relaxed(&es->idle->sources, a);             /* relaxed: the ES is asked for a check below */
    }
    abti_spin_unlock(&es->idle->sources_lock);
    if (is_new) {
        abti_spin_lock(&source->lock);
        a->next_of_source = source->attachments;
        if (source->attachments)
            source->attachments->prev_of_source = a;
        source->attachments = a;
        abti_spin_unlock(&source->lock);
    }
    abti_spin_unlock(&attaching);
    if (!is_new) {
        free(a);
        return ABT_ERR_INV_ARG;
    }
    abti_es_notify(es, ABTI_ES_REQ_CHECK);
    return ABT_SUCCESS;
}

/* Takes the lock of the list when the ES is in no source's function, which may take long. */
static void source_lock_unasked(struct abti_idle *idle)
{
    abti_spin_lock(&idle->sources_lock);
    for (unsigned step = 0; idle->asks; step++) {
        abti_spin_unlock(&idle->sources_lock);
        abti_backoff(step);
        abti_spin_lock(&idle->sources_lock);
    }
}

static void unlink_from_es(struct abti_attachment *a)
{
    struct abti_idle *idle = a->es->idle;
    source_lock_unasked(idle);
    struct abti_attachment *first = abti_load_relaxed(&idle->sources); /* relaxed, as below: the lock is held */
    if (first == a) {
        abti_store_relaxed(&idle->sources, a->next_of_es);
    } else {
        while (first->next_of_es != a) {
            abti_assert(first->next_of_es);
            first = first->next_of_es;
        }
        first->next_of_es = a->next_of_es;
    }
    abti_spin_unlock(&idle->sources_lock);
}

/* `attaching` is held. First nobody asks any more, then nobody wakes. */
static void detach_one(struct abti_attachment *a)
{
    abti_assert(abti_spin_is_mine(&attaching));
    unlink_from_es(a);
    abti_spin_lock(&a->source->lock);
    if (a->next_of_source)
        a->next_of_source->prev_of_source = a->prev_of_source;
    if (a->prev_of_source)
        a->prev_of_source->next_of_source = a->next_of_source;
    else
        a->source->attachments = a->next_of_source;
    bool searched = abti_source_end_locked(a);
    abti_spin_unlock(&a->source->lock);
    if (searched)
        abti_source_wake_one(a->source); /* in its place */
    free(a);
}

void abti_source_detach_all(struct abtx_source *source)
{
    abti_spin_lock(&attaching);
    while (source->attachments)
        detach_one(source->attachments);
    abti_spin_unlock(&attaching);
}

void abti_sources_forget(void)
{
    attaching = (struct abti_spin)ABTI_SPIN_INIT(ABTI_RANK_SOURCES);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        for (struct abti_attachment *a = abti_load_relaxed(&es->idle->sources); a; a = a->next_of_es) {
            a->source->lock = (struct abti_spin)ABTI_SPIN_INIT(ABTI_RANK_LEAF);
            a->source->attachments = a->source->idlers = NULL;
            abti_store_relaxed(&a->source->idle, 0);
            abti_store_relaxed(&a->source->searching, 0);
            abti_store_relaxed(&a->source->owed, 0);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources: functions that a stream asks for work when it has nothing else to run. Forked tasks have one for all
 * streams that take them, and libabtomp has one for each stream whose ULTs wait (include/abt_source.h). The streams
 * that a source is attached to are its set; one of those that are idle can be woken when there is work.
 *
 * The state of an attachment, between a stream S and a source:
 *
 *   ABTI_SOURCE_BUSY   S runs something, or looks for it. S alone leaves this state, for ABTI_SOURCE_IDLE.
 *   ABTI_SOURCE_IDLE   S has got nothing after it had come to this state. It asks no more until it has run something or
 *                      is woken. It is in the source's list of those, and is counted in its idle word. S goes to
 *                      ABTI_SOURCE_BUSY, and a waker to ABTI_SOURCE_WOKEN.
 *   ABTI_SOURCE_WOKEN  S is to ask again and does not sleep before. S alone leaves this state.
 *
 * A few at a time search: those that are on their way from ABTI_SOURCE_WOKEN to their sources and, of a source with
 * patience, searchers that still wait for a reply. The others become idle at once, so that many
 * streams without work do not move the lines in which there could be some. A waker counts the stream that it wakes
 * before it takes the lock, so that few wait for that. A wake beyond that number is pending (`owed`): a waker adds to
 * the pending wakes, and counts again; a stream that ends its search takes itself out of the number, and then performs
 * one pending wake, and so does the stream that it wakes. A wake that is pending when no stream is idle is dropped,
 * since each asks when it becomes idle.
 *
 * A source with patience has work that is made when it is asked for. As long as a stream is idle, all that there is has
 * been asked, or somebody searches, or has been counted in its place by a waker. A searcher that has found something
 * takes itself out of the number, and wakes another one if it was the last. A stream that becomes idle is counted as
 * such, then looks at the number, and asks all that is left if nobody searches (abti_source_resigns), or wakes another
 * one if it finds something just then. Both have a seq_cst fence between the two: so the first sees that a stream is
 * idle, or that one sees that nobody searches. A waker that finds no stream takes its count back under the lock, and so
 * before the next one becomes idle.
 *
 * ABTI_SOURCE_IDLE is entered and left under the source's lock. A waker takes the stream that has come last: it is the
 * most likely not to sleep yet, and none of the others is looked at.
 *
 * No wake is lost. A thread makes work and then calls wake_one, which looks at the idle word; a stream comes to
 * ABTI_SOURCE_IDLE, which counts it there, and then asks. Both have a seq_cst fence in between, so that the stream
 * finds the work, or the waker finds the stream. A waker stores ABTI_SOURCE_WOKEN and then looks at whether the stream
 * sleeps; the stream announces its sleep and then looks at its states (abti_source_is_woken), again with seq_cst on
 * both sides.
 *
 * S may find nothing for as long as it likes before it comes to ABTI_SOURCE_IDLE, since what counts is that it asks
 * once more after that. It does so when the last few times that it had been woken or given something were not worth it:
 * the work that it got is judged as a thief's stolen units are, by an abti_thief, and a wake for nothing as the least
 * of all. It then rests, for up to 16 us, and asks once in a microsecond. On one CPU it does not rest, as nothing is
 * made meanwhile.
 */
#ifndef ABTI_STREAM_SOURCE_H
#define ABTI_STREAM_SOURCE_H

#include <abt_source.h>
#include <stdbool.h>
#include "idle/idle.h"
#include "lock/spin.h"
#include "rt/self.h"

struct abtx_source {
    abtx_source_fn ask; /* constant, as are the next four */
    void *arg;
    uint32_t patience_ns; /* how long a stream polls on, before it becomes idle, for what it has asked others for */
    size_t stacksize;     /* of the ULTs that it makes; 0: the default */
    bool pins;            /* they are not migratable */

    _Atomic(int)
        idle ABTI_ALIGNED(ABTI_CACHE_LINE); /* lock: how many attachments are ABTI_SOURCE_IDLE. Forkers read it */
    _Atomic(int) searching;                 /* how many `searches` */
    _Atomic(uint32_t) owed;                 /* how many wakes were left to those */
    struct abti_spin lock;                  /* of the lists */
    struct abti_attachment *attachments;    /* lock */
    struct abti_attachment *idlers; /* lock: those that are ABTI_SOURCE_IDLE, the last that has become so first */
};

struct abti_attachment {
    _Atomic(uint32_t) state ABTI_ALIGNED(ABTI_CACHE_LINE);
    bool searches;              /* source->searching counts it. The waker's, and from ABTI_SOURCE_WOKEN on the ES's */
    struct abtx_source *source; /* constant, as is es */
    abti_es *es;
    struct abti_attachment *next_of_es;                      /* es->idle->sources_lock */
    struct abti_attachment *next_of_source, *prev_of_source; /* source->lock */
    struct abti_attachment *next_idler, *prev_idler;         /* source->lock */
};

/* Returns an ABT code. */
int abti_source_attach(struct abtx_source *source, abti_es *es) ABTI_MUST_CHECK;
void abti_source_detach_all(struct abtx_source *source);

void abti_source_wake_one(struct abtx_source *source);

/* Detaches what is attached to an ES that runs no more. */
void abti_sources_fini(abti_es *es);

/* In the child of a fork, as long as the streams of the parent are known: no source is attached to any of them. */
void abti_sources_forget(void);

/* --- For the ES, which has nothing else to run --- */

/*
 * For the ES in a source's function. Whether it asks for the last time before it sleeps; and that it is to ask again
 * soon, and not to become idle before.
 */
bool abti_source_resigns(abti_es *es);
void abti_source_ask_again(abti_es *es);

abti_unit *abti_source_ask_all(abti_es *es, abti_sched *sched);
bool abti_source_is_one_busy(abti_es *es);
void abti_source_set_all_busy(abti_es *es);
bool abti_source_is_one_woken(abti_es *es);

/* Whether the ES has sources. relaxed: a thread that attaches one asks for a check, after which it is seen */
ABTI_INLINE bool abti_source_is_attached(abti_es *es)
{
    return ABTI_UNLIKELY(abti_load_relaxed(&es->idle->sources) != NULL);
}

/*
 * Asks the sources. Returns a unit that runs next, in the scheduler's first pool if it is a new one; NULL: there is
 * nothing, nobody to ask, or no memory, and the ES is idle from now on.
 */
ABTI_INLINE abti_unit *abti_source_ask(abti_es *es, abti_sched *sched)
{
    return abti_source_is_attached(es) ? abti_source_ask_all(es, sched) : NULL;
}

/* Whether it is worth while to ask: the ES has not yet asked without success, or was woken since. */
ABTI_INLINE bool abti_source_is_to_ask(abti_es *es)
{
    return abti_source_is_attached(es) && abti_source_is_one_busy(es);
}

/* The ES is going to run something, or ends: it is not idle. */
ABTI_INLINE void abti_source_set_busy(abti_es *es)
{
    if (ABTI_UNLIKELY(es->idle->in_vain))
        abti_source_set_all_busy(es);
}

/* The ES has announced that it is going to sleep. Whether it is to ask again first. */
ABTI_INLINE bool abti_source_is_woken(abti_es *es)
{
    return ABTI_UNLIKELY(es->idle->in_vain) && abti_source_is_one_woken(es);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hazard pointers: a stream that polls an object, such as a barrier, names it in its own record until it has left it.
 * So polling costs no line that streams share. A thread that frees the object waits until no record names it.
 *
 * The thread that frees it has to be sure that all pollers have named it: it has seen something, such as the end of a
 * round, that came after each of them had begun.
 */
#ifndef ABTI_SYNC_HAZARD_H
#define ABTI_SYNC_HAZARD_H

#include "base/assert.h"
#include "rt/self.h"

/* The calling thread is the ES. It polls one object at a time, and makes no switch until it has ended. */
ABTI_INLINE void abti_hazard_begin(abti_es *es, const void *object)
{
    /* relaxed, both: the thread's own. What the caller does next with the object publishes it */
    abti_assert(es == abti_es_self && !abti_load_relaxed(&es->hazard));
    abti_store_relaxed(&es->hazard, object);
}

ABTI_INLINE void abti_hazard_end(abti_es *es)
{
    abti_assert(es == abti_es_self && abti_load_relaxed(&es->hazard)); /* relaxed: the thread's own */
    /* release: pairs with the acquire in abti_hazards_settle */
    abti_store_release(&es->hazard, NULL);
}

/* Returns when no stream polls the object. None begins any more. */
void abti_hazards_settle(const void *object);

#endif

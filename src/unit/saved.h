/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread state that a ULT takes along when it leaves its stream, and has again where it goes on: its C++ exceptions in
 * hand (unit/exceptions.h), and its switch hooks. Both are stored in the frame of the function that switches. es->hooks
 * belongs to the running unit, so that
 *
 *   whenever a unit starts or goes on, es->hooks is NULL until that unit sets it.
 *
 * It is a chain of links, which the user owns. While it is set es->slow says that switches take the slow form, which is
 * the only one that asks.
 */
#ifndef ABTI_UNIT_SAVED_H
#define ABTI_UNIT_SAVED_H

#include "unit/exceptions.h"

struct abti_saved {
    struct abti_cxx_globals exceptions;
    ABTX_switch_link *hooks; /* NULL: none */
};

/* Take the hooks off the stream, with a call of `leave`, and put them back on that of the caller, with one of `back`.
 */
void abti_hooks_leave(abti_es *es);
void abti_hooks_back(ABTX_switch_link *hooks);

/* Sets the chain of the running unit. */
void abti_hooks_set(abti_es *es, ABTX_switch_link *hooks);

/* Adds a link to a chain, which has not got it; takes one out, or returns false if it is not there. */
bool abti_hooks_add(ABTX_switch_link **chain, ABTX_switch_link *link);
bool abti_hooks_remove(ABTX_switch_link **chain, ABTX_switch_link *link);

/* Takes a link out of the chain of the running unit, which has it. */
void abti_hooks_take(abti_es *es, ABTX_switch_link *link);

/* Returns the first link whose `leave` is this one; NULL: there is none. */
ABTX_switch_link *abti_hooks_find(ABTX_switch_link *chain, void (*leave)(void *arg));

/* The running unit is about to leave the stream; it is back, maybe on another one. */
ABTI_INLINE struct abti_saved abti_saved_lay_by(abti_es *es)
{
    struct abti_saved saved = {.hooks = es->hooks};
    if (ABTI_UNLIKELY(saved.hooks != NULL))
        abti_hooks_leave(es);
    if (abti_has_exceptions(es))
        abti_exceptions_take(es, &saved.exceptions);
    return saved;
}

ABTI_INLINE void abti_saved_pick_up(const struct abti_saved *saved)
{
    if (ABTI_UNLIKELY(saved->exceptions.caught || saved->exceptions.uncaught > 0))
        abti_exceptions_give(&saved->exceptions);
    if (ABTI_UNLIKELY(saved->hooks != NULL))
        abti_hooks_back(saved->hooks);
}

/* The running unit ends by a call. Like all that its functions own, what is saved here is left. */
ABTI_INLINE void abti_saved_drop(abti_es *es)
{
    struct abti_cxx_globals dropped;
    if (abti_has_exceptions(es))
        abti_exceptions_take(es, &dropped);
    if (ABTI_UNLIKELY(es->hooks != NULL))
        abti_hooks_set(es, NULL);
}

#endif

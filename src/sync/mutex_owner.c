/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mutexes whose owner is kept: recursive ones always, and all of them while owners are watched. These never take the
 * quick paths.
 */
#include "sync/mutex.h"

#include "wait/external.h"

/* What no word of a mutex ever holds. */
enum { NEVER = -1 };

struct abti_mutex_quick abti_mutex_quick = {0, ABTI_MUTEX_LOCKED};

void abti_mutex_watch_owners(bool watch)
{
    abti_mutex_quick.free = watch ? (uint32_t)NEVER : 0;
    abti_mutex_quick.held = watch ? (uint32_t)NEVER : ABTI_MUTEX_LOCKED;
}

/* Counts one level more if the caller owns the mutex. */
static bool enter_again(ABT_mutex mutex, const void *self)
{
    /* relaxed: it is the caller if and only if the caller stored that */
    if (!abti_mutex_is_recursive(mutex) || abti_load_relaxed(abti_mutex_owner_at(mutex)) != self)
        return false;
    mutex->depth++;
    return true;
}

const void *abti_mutex_self(void)
{
    abti_es *es = abti_es_self;
    if (es)
        return es->cur;
    abti_external_note();
    struct abti_known *known = abti_known_self;
    if (known)
        abti_store_relaxed(&known->owns_as, &abti_es_self); /* relaxed: it is only shown */
    return &abti_es_self;                                   /* no other thread has anything there */
}

const void *abti_mutex_owner(ABT_mutex mutex)
{
    return abti_load_relaxed(abti_mutex_owner_at(mutex)); /* relaxed: as in enter_again */
}

/* Out of line: a ULT that has waited may have come to another native thread. */
ABTI_NOINLINE void abti_mutex_own(ABT_mutex mutex)
{
    abti_store_relaxed(abti_mutex_owner_at(mutex), abti_mutex_self()); /* relaxed: as in enter_again */
}

int abti_mutex_lock_owned(ABT_mutex mutex)
{
    if (enter_again(mutex, abti_mutex_self()))
        return ABT_SUCCESS;
    abti_mutex_lock_plain(mutex);
    abti_mutex_own(mutex);
    return ABT_SUCCESS;
}

bool abti_mutex_disown(ABT_mutex mutex)
{
    if (abti_mutex_is_recursive(mutex) && mutex->depth > 0) {
        mutex->depth--;
        return false;
    }
    abti_store_relaxed(abti_mutex_owner_at(mutex), NULL); /* relaxed: as in enter_again */
    return true;
}

bool abti_mutex_trylock_owned(ABT_mutex mutex)
{
    if (enter_again(mutex, abti_mutex_self()))
        return true;
    if (!abti_mutex_take(mutex))
        return false;
    abti_mutex_own(mutex);
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of the library, looked for with ABT_CHECK: one line on stderr with the call, the object and its creator; then
 * the function returns its error code, or the program ends (ABT_CHECK=abort). doc/debugging.md has the list.
 *
 * Nothing of this is on a hot path. While misuse is looked for units are created on the general paths and have a
 * cold line, so that they are freed there too, and mutexes are never taken at once.
 */
#ifndef ABTI_API_MISUSE_H
#define ABTI_API_MISUSE_H

#include "api/check.h"
#include "os/annotate.h"
#include "rt/handle.h"
#include "unit/ledger.h"
#include "unit/unit.h"

/* Room for what is said of one object. */
enum { ABTI_MISUSE_TEXT = 256 };

/* These look, and tell: true when there is something wrong. None is called for null handles. */

/* The object has gone, or is of another kind. */
bool abti_misuse_is_stale(const void *handle, enum abti_handle_kind kind, const char *function) ABTI_COLD;
/* The caller, or a unit that nobody may wait for. */
bool abti_misuse_of_join(abti_es *es, abti_unit *unit, const char *function) ABTI_COLD;
/* A pool that goes has units or schedulers. */
bool abti_misuse_of_pool(abti_pool *pool, const char *function) ABTI_COLD;
/* The unit, which is to run or to be pushed, has ended, runs, is blocked, or is queued in a pool. One that is to be
 * resumed is not blocked. */
bool abti_misuse_of_target(abti_unit *unit, bool resumed, const char *function) ABTI_COLD;
/* The attribute has gone, or a ULT that has not ended has its stack. */
bool abti_misuse_of_attr(ABT_thread_attr attr, const char *function) ABTI_COLD;
/* An object that goes, or is to be as new, is locked or waited for. */
bool abti_misuse_in_use(void *object, enum abti_handle_kind kind, const char *function) ABTI_COLD;
/* The same for one that goes, or it is the program's own. */
bool abti_misuse_of_free(void *object, enum abti_handle_kind kind, const char *function) ABTI_COLD;
/* The mutex has gone; one that the caller has already is only reported, since others may unlock it. */
bool abti_misuse_of_lock(ABT_mutex mutex, const char *function) ABTI_COLD;
/*
 * The mutex has gone, nobody has it, or it is recursive and not the caller's; other mutexes of others are only
 * reported.
 */
bool abti_misuse_of_unlock(ABT_mutex mutex, const char *function) ABTI_COLD;
/* Before a lock: the caller has it already for writing, which is only reported. Returns false. */
bool abti_misuse_of_rwlock(ABT_rwlock rwlock, const char *function) ABTI_COLD;
/* Before an unlock: nobody has it; that another unit has it for writing is only reported. */
bool abti_misuse_of_rwunlock(ABT_rwlock rwlock, const char *function) ABTI_COLD;
/* The condition belongs to another mutex. */
bool abti_misuse_of_pair(ABT_cond cond, ABT_mutex mutex, const char *function) ABTI_COLD;
/* The unit, which is to be revived, has gone or has not ended. */
bool abti_misuse_of_revive(abti_unit *unit, const char *function) ABTI_COLD;
/*
 * A pool that is private to a stream is used by others: reported once for each pool, and no more, since it works, by a
 * lock. Returns false.
 */
bool abti_misuse_of_private(abti_pool *pool, const char *function) ABTI_COLD;
/* A new unit has no function. */
bool abti_misuse_of_function(void (*func)(void *), const char *function) ABTI_COLD;

/*
 * Of a handle that the ledger does not know. NULL: there is such an object, as far as that can be known. Else why there
 * is none, as words for the user.
 */
const char *abti_garbage_reason(const void *handle, enum abti_handle_kind kind) ABTI_COLD;

/* For the message of a misuse that others have found. */
void abti_misuse_tell(const char *function, const void *handle, enum abti_handle_kind kind,
                      const char *problem) ABTI_COLD;

/* A work unit, or an address that stands for a native thread, or NULL for one. */
void abti_misuse_spell_owner(char text[ABTI_MISUSE_TEXT], const void *owner) ABTI_COLD;

/* They cost one load while misuse is not looked for. In builds without checks of arguments they are not made. */
#define ABTI_MISUSED(call) (ABTI_BUILD_CHECKS && ABTI_UNLIKELY(abti_ledger_on) && (call))

/* A null handle, or a stale one: one comparison while misuse is not looked for. `function` is the one that the user has
 * called. */
#define ABTI_IS_BAD_IN(handle, null, kind, function)                                                                   \
    (abti_handle_is_to_check(handle) &&                                                                                \
     (ABTI_IS_NULL(handle, null) || ABTI_MISUSED(abti_misuse_is_stale(handle, kind, function))))
#define ABTI_IS_BAD(handle, null, kind) ABTI_IS_BAD_IN(handle, null, kind, __func__)

/* The same where a null handle is right. */
#define ABTI_IS_STALE(handle, null, kind, function)                                                                    \
    (ABTI_MISUSED(!ABTI_IS_NULL(handle, null) && abti_misuse_is_stale(handle, kind, function)))

/* The user has popped a unit, or none. */
ABTI_INLINE void abti_note_popped(abti_unit *unit)
{
    if (ABTI_UNLIKELY(abti_ledger_on) && unit)
        abti_ledger_note_popped(unit, true);
}

/* The caller is about to push to the pool or to pop from it. */
#define ABTI_USES_POOL_IN(pool, function) ((void)ABTI_MISUSED(abti_misuse_of_private(pool, function)))
#define ABTI_USES_POOL(pool) ABTI_USES_POOL_IN(pool, __func__)

#endif

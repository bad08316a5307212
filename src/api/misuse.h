/*
 * Misuse of the library, looked for with ABT_CHECK: one line on stderr with the call, the object and its creator; then
 * the function returns its error code, or the program ends (ABT_CHECK=abort). doc/debugging.md has the list.
 *
 * Nothing of this stands on a hot path. While misuse is looked for units are created on the general paths and have a
 * cold line, so that they are freed there too, and mutexes are never taken at once.
 */
#ifndef ABTI_API_MISUSE_H
#define ABTI_API_MISUSE_H

#include "api/check.h"
#include "os/annotate.h"
#include "unit/ledger.h"
#include "unit/unit.h"

/* These look, and tell: true when there is something wrong. None is called for null handles. */

/* The object has gone, or is of another kind. */
bool abti_misuse_is_stale(const void *handle, enum abti_handle_kind kind, const char *function) ABTI_COLD;
/* The caller, or a unit that nobody may wait for. */
bool abti_misuse_of_join(abti_es *es, abti_unit *unit, const char *function) ABTI_COLD;
/* A pool that goes has units or schedulers. */
bool abti_misuse_of_pool(abti_pool *pool, const char *function) ABTI_COLD;
/* The mutex has gone; one that the caller has already is told only, since others may unlock it. */
bool abti_misuse_of_lock(ABT_mutex mutex, const char *function) ABTI_COLD;
/* The mutex has gone, nobody has it, or it is recursive and not the caller's; other mutexes of others are told only. */
bool abti_misuse_of_unlock(ABT_mutex mutex, const char *function) ABTI_COLD;
/* A new unit has no function. */
bool abti_misuse_of_function(void (*func)(void *), const char *function) ABTI_COLD;

/* For the message of a misuse that others have found. */
void abti_misuse_tell(const char *function, const void *handle, enum abti_handle_kind kind,
                      const char *problem) ABTI_COLD;

/* Makes a new unit known, before anybody else knows it. */
void abti_misuse_note_unit(abti_unit *unit) ABTI_COLD;

/* They cost one load while misuse is not looked for. In builds without checks of arguments they are not made. */
#define ABTI_MISUSED(call) (ABTI_BUILD_CHECKS && ABTI_UNLIKELY(abti_ledger_on) && (call))

/* A null handle, or a stale one: one comparison while misuse is not looked for. `function` is the one that the user has
 * called. */
#define ABTI_IS_BAD_IN(handle, null, kind, function)                                                                   \
    (abti_is_seldom(handle) &&                                                                                         \
     (ABTI_IS_NULL(handle, null) || ABTI_MISUSED(abti_misuse_is_stale(handle, kind, function))))
#define ABTI_IS_BAD(handle, null, kind) ABTI_IS_BAD_IN(handle, null, kind, __func__)

ABTI_INLINE void abti_note_unit(abti_unit *unit)
{
    if (ABTI_UNLIKELY(abti_ledger_on))
        abti_misuse_note_unit(unit);
}

#endif

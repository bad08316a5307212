/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse of what units wait for: objects that go while they are waited for, and locks. */
#include <stdio.h>
#include "api/misuse.h"
#include "rt/rt.h"
#include "sync/barrier.h"
#include "sync/cond.h"
#include "sync/eventual.h"
#include "sync/future.h"
#include "sync/mutex.h"
#include "sync/rwlock.h"
#include "sync/xbarrier.h"

enum { SYNC_TEXT = ABTI_MISUSE_TEXT, PROBLEM = SYNC_TEXT + 64 };

/* --- Objects that go --- */

/* Names the waiters in the queue; "": there are none. The queue's lock is held. */
static void spell_waiters(char text[PROBLEM], const struct abti_waitq *q)
{
    char waiter[SYNC_TEXT];
    struct abti_waiter *w = q->head;
    if (!w)
        return;
    abti_misuse_spell_owner(waiter, w->unit ? w->unit : w->ult);
    snprintf(text, PROBLEM, "is waited for by %s%s", waiter, w->next == w ? "" : " and others");
}

/* The same with the lock. */
static void find_waiters(char text[PROBLEM], struct abti_spin *lock, const struct abti_waitq *q)
{
    abti_spin_lock(lock);
    spell_waiters(text, q);
    abti_spin_unlock(lock);
}

static bool is_locked(ABT_mutex mutex)
{
    /* relaxed: the caller asks of itself, or there is a mistake whatever the moment */
    return (abti_load_relaxed(&mutex->word) & ABTI_MUTEX_LOCKED) != 0;
}

static void find_use_of_mutex(char text[PROBLEM], ABT_mutex mutex)
{
    char owner[SYNC_TEXT];
    const void *unit = abti_mutex_owner(mutex);
    if (is_locked(mutex) && unit) {
        abti_misuse_spell_owner(owner, unit);
        snprintf(text, PROBLEM, "is locked by %s", owner);
        return;
    }
    find_waiters(text, &mutex->lock, &mutex->waiters);
    find_waiters(text, &mutex->lock, &mutex->near);
    if (!*text && is_locked(mutex))
        snprintf(text, PROBLEM, "is locked");
}

/* Names the owner; "": there is none. */
static void spell_inside(char text[PROBLEM], ABT_rwlock rwlock)
{
    char writer[SYNC_TEXT];
    abti_spin_lock(&rwlock->lock);
    const void *unit = abti_load_relaxed(&rwlock->writer); /* relaxed: the lock is held */
    uint32_t readers = rwlock->readers;
    abti_spin_unlock(&rwlock->lock);
    if (unit) {
        abti_misuse_spell_owner(writer, unit);
        snprintf(text, PROBLEM, "is locked by %s", writer);
    } else if (readers > 0) {
        snprintf(text, PROBLEM, "is locked by %u reader%s", (unsigned)readers, readers == 1 ? "" : "s");
    }
}

static void find_use_of_rwlock(char text[PROBLEM], ABT_rwlock rwlock)
{
    spell_inside(text, rwlock);
    if (!*text)
        find_waiters(text, &rwlock->lock, &rwlock->waiters);
}

static void find_use_of_barrier(char text[PROBLEM], ABT_barrier barrier)
{
    abti_spin_lock(&barrier->lock);
    uint32_t arrived = barrier->arrived, num = barrier->num;
    abti_spin_unlock(&barrier->lock);
    if (arrived > 0)
        snprintf(text, PROBLEM, "is waited at by %u of %u", (unsigned)arrived, (unsigned)num);
}

static void find_use_of_xbarrier(char text[PROBLEM], ABT_xstream_barrier barrier)
{
    /* relaxed: those that come meanwhile are the mistake */
    unsigned arrived = (unsigned)(abti_load_relaxed(&barrier->arrived) % barrier->num);
    if (arrived > 0)
        snprintf(text, PROBLEM, "is waited at by %u of %u", arrived, (unsigned)barrier->num);
}

static void find_use(char text[PROBLEM], void *object, enum abti_handle_kind kind)
{
    ABT_cond cond = object;
    struct abti_gate *gate = object;
    switch (kind) {
    case ABTI_HANDLE_MUTEX: find_use_of_mutex(text, object); break;
    case ABTI_HANDLE_RWLOCK: find_use_of_rwlock(text, object); break;
    case ABTI_HANDLE_BARRIER: find_use_of_barrier(text, object); break;
    case ABTI_HANDLE_XBARRIER: find_use_of_xbarrier(text, object); break;
    case ABTI_HANDLE_COND: find_waiters(text, &cond->lock, &cond->waiters); break;
    case ABTI_HANDLE_EVENTUAL:
    case ABTI_HANDLE_FUTURE: find_waiters(text, &gate->lock, &gate->waiters); break;
    default: break;
    }
}

_Static_assert(offsetof(struct ABT_eventual_opaque, gate) == 0 && offsetof(struct ABT_future_opaque, gate) == 0,
               "they begin with a gate");

bool abti_misuse_in_use(void *object, enum abti_handle_kind kind, const char *function)
{
    char problem[PROBLEM] = "";
    find_use(problem, object, kind);
    if (*problem)
        abti_misuse_tell(function, object, kind, problem);
    return *problem != '\0';
}

bool abti_misuse_of_free(void *object, enum abti_handle_kind kind, const char *function)
{
    struct abti_ledger_note note;
    if (abti_misuse_in_use(object, kind, function))
        return true;
    if (!abti_ledger_find(object, &note) || !note.foreign)
        return false;
    abti_misuse_tell(function, object, kind, "is in the program's own memory, and was not created by a call");
    return true;
}

/* --- Mutexes --- */

/* The owner of the mutex has ended, and so is never going to unlock it. A mutex that it has unlocked before is not its
 * own. */
static bool has_owner_ended(ABT_mutex mutex, const void *owner)
{
    return abti_slab_has(&abti_rt.unit_slab, owner) && abti_unit_is_done((abti_unit *)(uintptr_t)owner) &&
           is_locked(mutex) && abti_mutex_owner(mutex) == owner;
}

bool abti_misuse_of_lock(ABT_mutex mutex, const char *function)
{
    char problem[PROBLEM], text[SYNC_TEXT];
    if (abti_misuse_is_stale(mutex, ABTI_HANDLE_MUTEX, function))
        return true;
    const void *owner = is_locked(mutex) && !abti_mutex_is_recursive(mutex) ? abti_mutex_owner(mutex) : NULL;
    if (!owner)
        return false;
    if (owner == abti_mutex_self()) {
        abti_misuse_tell(function, mutex, ABTI_HANDLE_MUTEX, "is locked by the caller, and is not recursive");
    } else if (has_owner_ended(mutex, owner)) {
        abti_misuse_spell_owner(text, owner);
        snprintf(problem, sizeof(problem), "is locked by %s, which has ended", text);
        abti_misuse_tell(function, mutex, ABTI_HANDLE_MUTEX, problem);
    }
    return false;
}

bool abti_misuse_of_unlock(ABT_mutex mutex, const char *function)
{
    char problem[PROBLEM], owner[SYNC_TEXT];
    if (abti_misuse_is_stale(mutex, ABTI_HANDLE_MUTEX, function))
        return true;
    if (!is_locked(mutex)) {
        abti_misuse_tell(function, mutex, ABTI_HANDLE_MUTEX, "is not locked");
        return true;
    }
    const void *unit = abti_mutex_owner(mutex);
    if (!unit || unit == abti_mutex_self())
        return false;
    abti_misuse_spell_owner(owner, unit);
    snprintf(problem, sizeof(problem), "is locked by %s, not by the caller", owner);
    abti_misuse_tell(function, mutex, ABTI_HANDLE_MUTEX, problem);
    return abti_mutex_is_recursive(mutex);
}

bool abti_misuse_of_pair(ABT_cond cond, ABT_mutex mutex, const char *function)
{
    char problem[PROBLEM];
    abti_spin_lock(&cond->lock);
    ABT_mutex own = cond->mutex;
    abti_spin_unlock(&cond->lock);
    if (!own || own == mutex)
        return false;
    snprintf(problem, sizeof(problem), "belongs to mutex %p, not to mutex %p", (void *)own, (void *)mutex);
    abti_misuse_tell(function, cond, ABTI_HANDLE_COND, problem);
    return true;
}

/* --- Reader-writer locks --- */

bool abti_misuse_of_rwlock(ABT_rwlock rwlock, const char *function)
{
    if (abti_load_relaxed(&rwlock->writer) == abti_mutex_self()) /* relaxed: the caller's own store, or another's */
        abti_misuse_tell(function, rwlock, ABTI_HANDLE_RWLOCK, "is locked by the caller");
    return false;
}

bool abti_misuse_of_rwunlock(ABT_rwlock rwlock, const char *function)
{
    char text[PROBLEM] = "", problem[PROBLEM + 32];
    const void *writer = abti_load_relaxed(&rwlock->writer); /* relaxed: as above */
    spell_inside(text, rwlock);
    if (!*text) {
        abti_misuse_tell(function, rwlock, ABTI_HANDLE_RWLOCK, "is not locked");
        return true;
    }
    if (writer && writer != abti_mutex_self()) {
        snprintf(problem, sizeof(problem), "%s, not by the caller", text);
        abti_misuse_tell(function, rwlock, ABTI_HANDLE_RWLOCK, problem);
    }
    return false;
}

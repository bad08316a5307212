/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a handle that the ledger does not know is one at all: while misuse is looked for (ABT_CHECK). */
#include "api/misuse.h"

#include "os/peek.h"
#include "pool/user_def.h"
#include "rt/rt.h"
#include "sync/cond.h"
#include "sync/eventual.h"
#include "sync/mutex.h"
#include "watch/registry.h"

/* What the program may have in its own memory, by an initialiser. */
union abti_own {
    struct ABT_mutex_opaque mutex;
    struct ABT_cond_opaque cond;
    struct ABT_eventual_opaque eventual;
    struct ABT_pool_def pool_def;
};

static const size_t own_sizes[ABTI_NUM_HANDLE_KINDS] = {
    [ABTI_HANDLE_MUTEX] = sizeof(struct ABT_mutex_opaque),
    [ABTI_HANDLE_COND] = sizeof(struct ABT_cond_opaque),
    [ABTI_HANDLE_EVENTUAL] = sizeof(struct ABT_eventual_opaque),
    [ABTI_HANDLE_POOL_DEF] = sizeof(struct ABT_pool_def),
};

/* relaxed, here and below: it is a copy, of any moment. */
static bool looks_like_lock(const struct abti_spin *lock)
{
    return ABTI_BUILD_ASSERT || abti_load_relaxed(&lock->word) <= 1; /* a build with assertions has the rank there */
}

static bool looks_like_mutex(const struct ABT_mutex_opaque *mutex)
{
    const uint32_t bits = ABTI_MUTEX_RECURSIVE | ABTI_MUTEX_LOCKED | ABTI_MUTEX_WAITERS | ABTI_MUTEX_SUCCESSOR |
                          ABTI_MUTEX_COMING | ABTI_MUTEX_QUIET;
    return !(abti_load_relaxed(&mutex->word) & ~bits) && looks_like_lock(&mutex->lock); /* relaxed: as above */
}

static bool looks_like_eventual(const struct ABT_eventual_opaque *eventual)
{
    return looks_like_lock(&eventual->gate.lock) && abti_load_relaxed(&eventual->gate.open) <= 1 && /* relaxed: above */
           eventual->size >= 0 && (eventual->size == 0) == (eventual->value == NULL);
}

static bool looks_like(const union abti_own *copy, enum abti_handle_kind kind)
{
    switch (kind) {
    case ABTI_HANDLE_MUTEX: return looks_like_mutex(&copy->mutex);
    case ABTI_HANDLE_COND:
        return looks_like_lock(&copy->cond.lock) && abti_load_relaxed(&copy->cond.waited) <= 1; /* relaxed: as above */
    case ABTI_HANDLE_EVENTUAL: return looks_like_eventual(&copy->eventual);
    default: return true;
    }
}

/* All units are in one slab, also those that the ledger does not know since the library has made them. */
static const char *reason_of_unit(const void *handle)
{
    struct abti_unit_note note;
    if (!abti_slab_has(&abti_rt.unit_slab, handle))
        return "no work unit has been there";
    return abti_registry_look((abti_unit *)(uintptr_t)handle, &note) ? NULL : "it has been freed";
}

const char *abti_garbage_reason(const void *handle, enum abti_handle_kind kind)
{
    union abti_own copy;
    size_t size = own_sizes[kind] > 0 ? own_sizes[kind] : sizeof(void *);
    if (kind == ABTI_HANDLE_UNIT)
        return reason_of_unit(handle);
    if (abti_slab_has(&abti_rt.unit_slab, handle))
        return "it is a work unit's";
    if ((uintptr_t)handle % _Alignof(ABT_mutex_memory) != 0)
        return "it is not aligned";
    if (!abti_peek(&copy, handle, size))
        return "there is no memory";
    if (!looks_like(&copy, kind))
        return "the memory is not like one";
    if (abti_load_relaxed(&abti_ledger_misses[kind])) /* relaxed: as in abti_ledger_made */
        return NULL;
    if (!own_sizes[kind] || (kind == ABTI_HANDLE_POOL_DEF && !copy.pool_def.u_create_from_thread))
        return "none has been created there";
    abti_ledger_note_foreign(handle, kind);
    return NULL;
}

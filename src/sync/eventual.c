/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/eventual.h"

#include <stdlib.h>
#include <string.h>
#include "unit/ledger.h"
#include "os/annotate.h"

ABT_eventual abti_eventual_create(int size)
{
    /* The value is behind the eventual, at a distance by which it is aligned for every type. */
    char *memory = calloc(1, sizeof(ABT_eventual_memory) + (size_t)size);
    if (!memory)
        return NULL;
    ABT_eventual eventual = (ABT_eventual)memory;
    eventual->size = size;
    if (size > 0)
        eventual->value = memory + sizeof(ABT_eventual_memory);
    return eventual;
}

void abti_eventual_destroy(ABT_eventual eventual)
{
    abti_ledger_free(eventual);
}

/*
 * Sets the value and opens the gate. The lock is held, and is released. It is out of line, so that its callers save no
 * registers for it.
 */
static ABTI_NOINLINE int set_with_value(ABT_eventual eventual, const void *value, int size)
{
    memcpy(eventual->value, value, (size_t)size);
    abti_annotate_release(eventual);
    return abti_gate_open_locked(&eventual->gate);
}

ABTI_INLINE int set_locked(ABT_eventual eventual, const void *value, int size)
{
    if (abti_load_relaxed(&eventual->gate.open)) {
        abti_spin_unlock(&eventual->gate.lock);
        return ABT_ERR_EVENTUAL;
    }
    return size > 0 ? set_with_value(eventual, value, size) : abti_gate_open_locked(&eventual->gate);
}

/* Waits for the lock. It is out of line, like set_with_value, so that abti_eventual_set saves no registers for it. */
static ABTI_NOINLINE int lock_and_set(ABT_eventual eventual, const void *value, int size)
{
    abti_spin_lock(&eventual->gate.lock);
    return set_locked(eventual, value, size);
}

ABTI_HOT int abti_eventual_set(ABT_eventual eventual, const void *value, int size)
{
    if (ABTI_UNLIKELY(!abti_spin_trylock(&eventual->gate.lock)))
        return lock_and_set(eventual, value, size);
    return set_locked(eventual, value, size);
}

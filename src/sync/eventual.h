/* SPDX-License-Identifier: BSD-3-Clause */
/* Eventuals: a flag that is set once, with a value. */
#ifndef ABTI_SYNC_EVENTUAL_H
#define ABTI_SYNC_EVENTUAL_H

#include "sync/gate.h"

typedef char *abti_value_p4 __attribute__((aligned(4)));

/* Static initialisers are zeros: not set, no value. */
struct ABT_eventual_opaque {
    struct abti_gate gate;
    int32_t size;        /* the size of the value in bytes, 0: none. Constant */
    abti_value_p4 value; /* NULL if size is 0. The address is constant; gate.lock, then gate.open, guard the value */
};

_Static_assert(sizeof(struct ABT_eventual_opaque) <= sizeof(ABT_eventual_memory) &&
                   _Alignof(struct ABT_eventual_opaque) == _Alignof(ABT_eventual_memory),
               "lives in the users' storage");

/* Makes an eventual. Returns NULL when there is no memory. */
ABT_eventual abti_eventual_create(int size) ABTI_MUST_CHECK;
void abti_eventual_destroy(ABT_eventual eventual);

ABTI_INLINE bool abti_eventual_is_null(ABT_eventual eventual)
{
    return eventual == ABT_EVENTUAL_NULL || !eventual;
}

/*
 * Returns the index of the first eventual that is ready; num: there is none. Null handles are skipped, here and below.
 */
int abti_eventual_find_ready(int num, ABT_eventual *eventuals);

/* Waits until one is ready, or the deadline has passed; *index is num then. Returns ABT_ERR_MEM or ABT_SUCCESS. */
int abti_eventual_wait_any(int num, ABT_eventual *eventuals, uint64_t deadline_ns, int *index) ABTI_MUST_CHECK;

/*
 * Copies the value in and wakes everybody. `size` is at most that of the eventual. Returns ABT_ERR_EVENTUAL when the
 * eventual is set already.
 */
int abti_eventual_set(ABT_eventual eventual, const void *value, int size) ABTI_MUST_CHECK;

#endif

/* Eventuals: a flag that is set once, with a value. */
#ifndef ABTI_SYNC_EVENTUAL_H
#define ABTI_SYNC_EVENTUAL_H

#include "sync/gate.h"

typedef char *abti_value_p4 __attribute__((aligned(4)));

/* Static initialisers are zeros: not set, no value. */
struct ABT_eventual_opaque {
    struct abti_gate gate;
    int32_t size;        /* of the value in bytes, 0: none. Constant */
    abti_value_p4 value; /* size 0: NULL. Where it is is constant; what it says: gate.lock, then gate.open */
};

_Static_assert(sizeof(struct ABT_eventual_opaque) <= sizeof(ABT_eventual_memory) &&
                   _Alignof(struct ABT_eventual_opaque) == _Alignof(ABT_eventual_memory),
               "lives in the users' storage");

/* NULL when there is no memory. */
ABT_eventual abti_eventual_create(int size) ABTI_MUST_CHECK;
void abti_eventual_destroy(ABT_eventual eventual);

ABTI_INLINE bool abti_eventual_is_null(ABT_eventual eventual)
{
    return eventual == ABT_EVENTUAL_NULL || !eventual;
}

/* The index of the first that is ready; num: there is none. Null handles are skipped, here and below. */
int abti_eventual_find_ready(int num, ABT_eventual *eventuals);

/* Waits until one is ready, or the deadline: *index is num then. ABT_ERR_MEM. */
int abti_eventual_wait_any(int num, ABT_eventual *eventuals, uint64_t deadline_ns, int *index) ABTI_MUST_CHECK;

/* Copies the value in and wakes everybody; size is at most that of the eventual. ABT_ERR_EVENTUAL when it is set. */
int abti_eventual_set(ABT_eventual eventual, const void *value, int size) ABTI_MUST_CHECK;

#endif

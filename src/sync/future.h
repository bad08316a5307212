/* Futures: open when all compartments are filled; the caller that fills the last one calls back first. */
#ifndef ABTI_SYNC_FUTURE_H
#define ABTI_SYNC_FUTURE_H

#include "sync/gate.h"

struct ABT_future_opaque {
    struct abti_gate gate;
    uint32_t num;              /* compartments. Constant */
    uint32_t filled;           /* gate.lock */
    void (*callback)(void **); /* NULL: none. Constant */
    void *values[];            /* gate.lock while there are fewer than num, then the callback's */
};

/* NULL when there is no memory. */
ABT_future abti_future_create(uint32_t num, void (*callback)(void **)) ABTI_MUST_CHECK;
void abti_future_destroy(ABT_future future);

/* Fills the next compartment. ABT_ERR_FUTURE when there is none. */
int abti_future_set(ABT_future future, void *value) ABTI_MUST_CHECK;
void abti_future_reset(ABT_future future);

#endif

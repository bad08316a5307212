/* SPDX-License-Identifier: BSD-3-Clause */
/* Futures. They are open when all compartments are filled. The caller that fills the last one calls back first. */
#ifndef ABTI_SYNC_FUTURE_H
#define ABTI_SYNC_FUTURE_H

#include "sync/gate.h"

struct ABT_future_opaque {
    struct abti_gate gate;
    uint32_t num;              /* number of compartments. Constant */
    uint32_t filled;           /* gate.lock */
    void (*callback)(void **); /* NULL: none. Constant */
    void *values[];            /* gate.lock guards them while fewer than num are filled; then they belong to the
                                  callback */
};

/* Makes a future. Returns NULL when there is no memory. */
ABT_future abti_future_create(uint32_t num, void (*callback)(void **)) ABTI_MUST_CHECK;
void abti_future_destroy(ABT_future future);

/* Fills the next compartment. Returns ABT_ERR_FUTURE when there is none. */
int abti_future_set(ABT_future future, void *value) ABTI_MUST_CHECK;
void abti_future_reset(ABT_future future);

#endif

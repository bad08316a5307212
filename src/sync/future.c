/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/future.h"

#include <stdlib.h>
#include "unit/ledger.h"
#include "os/annotate.h"

ABT_future abti_future_create(uint32_t num, void (*callback)(void **))
{
    ABT_future future = calloc(1, sizeof(*future) + num * sizeof(future->values[0]));
    if (!future)
        return NULL;
    future->num = num;
    future->callback = callback;
    abti_gate_reset(&future->gate, num == 0);
    return future;
}

void abti_future_destroy(ABT_future future)
{
    abti_ledger_free(future);
}

int abti_future_set(ABT_future future, void *value)
{
    abti_spin_lock(&future->gate.lock);
    if (future->filled == future->num) {
        abti_spin_unlock(&future->gate.lock);
        return ABT_ERR_FUTURE;
    }
    future->values[future->filled++] = value;
    bool last = future->filled == future->num;
    abti_annotate_release(future); /* the value, which the callback reads */
    abti_spin_unlock(&future->gate.lock);
    if (!last)
        return ABT_SUCCESS; /* from here on another thread may open it, and another one free it */

    /* All others are refused by now, so that the callback needs no lock. */
    abti_annotate_acquire(future);
    if (future->callback)
        future->callback(future->values);
    abti_annotate_release(future); /* the stores of the callback, too */
    abti_spin_lock(&future->gate.lock);
    return abti_gate_open_locked(&future->gate);
}

void abti_future_reset(ABT_future future)
{
    future->filled = 0;
    abti_gate_reset(&future->gate, future->num == 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What kind of unit calls. */
#ifndef ABTIO_CALLER_H
#define ABTIO_CALLER_H

#include <stdbool.h>
#include "abt.h"

/* Whether the caller can leave its stream, or has none: eventuals serve it. The others are tasklets. */
static inline bool may_wait(void)
{
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;
    ABT_self_get_type(&type);
    return type != ABT_UNIT_TYPE_TASK;
}

static inline bool is_ult(void)
{
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;
    ABT_self_get_type(&type);
    return type == ABT_UNIT_TYPE_THREAD;
}

/*
 * From here to allow_cancel the caller, if it is a ULT that is cancelled, does not end: others know of what is on its
 * stack, or it has something to free.
 */
static inline ABT_bool put_off_cancel(void)
{
    ABT_bool before = ABT_TRUE;
    if (is_ult())
        ABTX_self_put_off_cancel(ABT_TRUE, &before);
    return before;
}

/* Gets what that has returned. */
static inline void allow_cancel(ABT_bool before)
{
    if (!before)
        ABTX_self_put_off_cancel(ABT_FALSE, NULL);
}

/* Whether the caller's pool has nothing that the stream could run meanwhile. */
static inline bool is_alone(void)
{
    ABT_pool pool;
    size_t ready = 1;

    if (ABT_self_get_last_pool(&pool) == ABT_SUCCESS)
        ABT_pool_get_size(pool, &ready);
    return ready == 0;
}

#endif

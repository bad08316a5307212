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

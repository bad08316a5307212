/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes behind ABT_thread_attr. */
#ifndef ABTI_RUN_ATTR_H
#define ABTI_RUN_ATTR_H

#include <abt.h>
#include <stdbool.h>
#include "rt/rt.h"

struct ABT_thread_attr_opaque {
    void *stackaddr; /* NULL: the runtime allocates the stack */
    size_t stacksize;
    bool migratable;
    void (*callback)(ABT_thread, void *); /* NULL: none */
    void *callback_arg;
};

ABTI_INLINE bool abti_attr_is_of_default_size(const struct ABT_thread_attr_opaque *attr)
{
    return attr->stacksize == 0 || attr->stacksize == abti_rt.config.thread_stacksize;
}

/* Whether the attribute asks for more than flags, so that creation cannot be quick. */
ABTI_INLINE bool abti_attr_needs_more(const struct ABT_thread_attr_opaque *attr)
{
    return attr->stackaddr || !abti_attr_is_of_default_size(attr) || attr->callback;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What is behind ABT_thread_attr. */
#ifndef ABTI_API_ATTR_H
#define ABTI_API_ATTR_H

#include <abt.h>
#include <stdbool.h>

struct ABT_thread_attr_opaque {
    void *stackaddr; /* NULL: the runtime allocates the stack */
    size_t stacksize;
    bool migratable;
    void (*callback)(ABT_thread, void *); /* NULL: none */
    void *callback_arg;
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A library with a function that members of a region run. With RELOAD_LOCAL it has a variable of each thread. */
#include "reload.h"

#ifdef RELOAD_LOCAL
static __thread int own_calls;
#else
static int own_calls; /* the members run one after another */
#endif

__attribute__((section(".members"), visibility("default"))) void reload_count(void *calls)
{
    struct reload_calls *to = calls;
    to->calls[to->number()] = __atomic_add_fetch(&own_calls, 1, __ATOMIC_RELAXED);
}

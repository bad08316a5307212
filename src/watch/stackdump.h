/* Text about the stacks of units that do not run. */
#ifndef ABTI_WATCH_STACKDUMP_H
#define ABTI_WATCH_STACKDUMP_H

#include <stdio.h>
#include "stream/halt.h"

/*
 * One unit: where it goes on, the bounds of its stack, a back-trace if the build has them, and the memory in use unless
 * config.print_raw_stack is off.
 */
void abti_stackdump_unit(FILE *fp, abti_unit *unit);

/* Each unit in a pool that can be looked through (ABTI_POOL_PRINT_ALL). */
void abti_stackdump_pool(FILE *fp, abti_pool *pool);

/* The pools of all main schedulers, each once: what a request of abti_halt_post does. */
void abti_stackdump_all(const struct abti_halt_request *request, bool timed_out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Text about units and their stacks. */
#ifndef ABTI_WATCH_STACKDUMP_H
#define ABTI_WATCH_STACKDUMP_H

#include <stdio.h>
#include "stream/halt.h"

/*
 * One unit that does not run: what it is, what it waits for, where it goes on, the bounds of its stack, the calls that
 * led there, and the memory in use unless config.print_raw_stack is off.
 */
void abti_stackdump_unit(FILE *fp, abti_unit *unit);

/* Prints each unit in a pool that can be looked through (ABTI_POOL_PRINT_ALL). */
void abti_stackdump_pool(FILE *fp, abti_pool *pool);

/*
 * The streams that are late, but the caller's, and all units, whatever state they are in, with the calls of those that
 * run, if that can be had. `raw`: and the memory of their stacks. is_late is called with rt.lock held.
 */
void abti_stackdump_everything(FILE *fp, bool (*is_late)(abti_es *es), bool raw);

/* The first line of a dump or the last, "begin" or "end", with the time. */
void abti_stackdump_mark(FILE *fp, const char *what, const char *note);

/* The pools of all main schedulers, and the same, between two marks: what a request of abti_halt_post does. */
void abti_stackdump_all(const struct abti_halt_request *request, bool timed_out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches under a sanitizer or valgrind. They do what other switches do, and tell the tools. os/annotate.h has the
 * rules of the tools. All of this is called only if abti_annotate_on, except where said.
 */
#ifndef ABTI_RUN_ANNOTATED_H
#define ABTI_RUN_ANNOTATED_H

#include "mem/stack.h"
#include "os/annotate.h"
#include "rt/types.h"

/* `self` leaves its stack for that of `to`, which goes on or starts. `after` may be NULL. */
int abti_annotate_switch(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg) ABTI_NO_SANITIZE;
int abti_annotate_start(abti_unit *self, abti_unit *to, void (*after)(void *), void *arg) ABTI_NO_SANITIZE;

/* The caller is about to leave its stack for good, for one where somebody goes on or starts. */
void abti_depart(struct abti_stack *to) ABTI_NO_SANITIZE;
void abti_depart_to_start(struct abti_stack *to) ABTI_NO_SANITIZE;

/* Marks the stack that was left for good as dead, on the ES where the caller has arrived. */
void abti_bury_dead_stack(void) ABTI_NO_SANITIZE;

/*
 * A unit begins on the stack where the caller is, and ends: before it does so for others. Where the order is reported.
 */
void abti_annotate_begin(void) ABTI_NO_SANITIZE;
void abti_annotate_end(abti_unit *unit) ABTI_NO_SANITIZE;

/* All of a tasklet. */
void abti_annotate_tasklet(abti_unit *unit) ABTI_NO_SANITIZE;

/* Is the first thing to be called on a new stack. It asks abti_annotate_on itself. */
ABTI_INLINE void abti_annotate_arrival(void)
{
    if (ABTI_UNLIKELY(abti_annotate_on)) {
        abti_annotate_asan_finish(NULL, NULL, NULL);
        abti_bury_dead_stack();
        if (abti_annotate_order)
            abti_annotate_begin();
    }
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks that units have from creation to free, since they are of another size than the default one: taken from caches
 * of the size's class, so that making and freeing such units asks nothing of the system in the long run.
 */
#ifndef ABTI_UNIT_OWNSTACK_H
#define ABTI_UNIT_OWNSTACK_H

#include "rt/self.h"

/* The slabs go, when there are no caches any more. */
void abti_ownstacks_end(void);

/* Moves the free stacks to the depots, for others to take. */
void abti_ownstacks_flush(struct abti_ownstacks *stacks);
void abti_ownstacks_fini(struct abti_ownstacks *stacks);

/*
 * Takes a stack of at least `size` bytes. `es` is the caller's ES, or NULL for external threads. Returns NULL when
 * there is no memory.
 */
struct abti_stack *abti_ownstack_take(abti_es *es, size_t size) ABTI_MUST_CHECK;
/* Gives a stack back. If it is the user's memory, it is let go. */
void abti_ownstack_give(abti_es *es, struct abti_stack *stack);

#endif

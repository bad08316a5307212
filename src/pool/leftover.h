/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ended units that their joiners have to free themselves. As a rule the end of a unit frees it on behalf of a joiner in
 * ABT_thread_free. But destructors of keys, and the free_unit of a user-defined pool, are the user's functions: they
 * run on the joiner's stack, and when they ask for the running unit, the answer is the joiner.
 */
#ifndef ABTI_POOL_LEFTOVER_H
#define ABTI_POOL_LEFTOVER_H

#include "rt/types.h"

/*
 * Leaves a unit to the joiner that sleeps in ABT_thread_free. The joiner gets a request, ABTI_REQ_FREE, and therefore
 * runs on through its parent, which switches to it by way of abti_leftover_free. The caller still has to resume the
 * joiner.
 */
void abti_leftover_leave(abti_unit *unit, abti_unit *joiner);

/* Returns the unit that was left to the joiner. The caller serves the joiner's request. */
abti_unit *abti_leftover_take(abti_unit *joiner);

/* In the child of a fork: nothing was left. */
void abti_leftover_forget(void);

/* Frees what was taken, and nulls the handle that the joiner has given ABT_thread_free. */
void abti_leftover_free(void *unit);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How work units are created: the general path, for every pool, caller and attribute. run/quick.h has the quick
 * paths, and doc/architecture.md (Ways) says which is taken when. The callers have checked the arguments.
 */
#ifndef ABTI_RUN_CREATE_H
#define ABTI_RUN_CREATE_H

#include "base/compiler.h"
#include "rt/types.h"

/*
 * Creates a unit and pushes it to its pool. `attr` may be NULL, and is for a ULT. `flags` is ABTI_UNIT_TASKLET or 0.
 * `handle`, which may be NULL, is set before the unit may run. Returns an ABT code.
 */
int abti_create(abti_pool *pool, void (*func)(void *), void *arg, ABT_thread_attr attr, unsigned flags,
                ABT_thread *handle) ABTI_MUST_CHECK;

/*
 * Creates a ULT that is to start at once on the caller's ES, and does not push it. The creation fails if there is no
 * stack for it. Returns an ABT code.
 */
int abti_create_unqueued(abti_es *es, abti_pool *pool, void (*func)(void *), void *arg, ABT_thread_attr attr,
                         ABT_thread *handle, abti_unit **unit) ABTI_MUST_CHECK;

/* Creates the ULT in which a scheduler runs that is stacked in a pool, and pushes it. Returns an ABT code. */
int abti_create_stacked(abti_pool *pool, abti_sched *sched) ABTI_MUST_CHECK;

/* Revives a terminated unit into a pool, without pushing it. Returns an ABT code. */
int abti_revive_unqueued(abti_unit *unit, abti_pool *pool, void (*func)(void *), void *arg) ABTI_MUST_CHECK;

/* Does so, and pushes it. */
int abti_revive(abti_unit *unit, abti_pool *pool, void (*func)(void *), void *arg) ABTI_MUST_CHECK;

#endif

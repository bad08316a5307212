/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which locks each unit and native thread has: kept while misuse is looked for (ABT_CHECK), for units that end with
 * one. An owner and a lock are addresses here, which are only compared.
 */
#ifndef ABTI_UNIT_HELD_H
#define ABTI_UNIT_HELD_H

#include <stdbool.h>
#include "base/compiler.h"
#include "unit/ledger.h"

/* The owner holds the lock once more. Without memory that stays unknown. */
void abti_held_add(const void *owner, const void *lock, enum abti_handle_kind kind);

/* The owner has it once less. False: it had not, as far as is known. */
bool abti_held_drop(const void *owner, const void *lock);

/* Whoever holds the lock holds it once less. */
void abti_held_drop_of_all(const void *lock);

bool abti_held_has(const void *owner, const void *lock) ABTI_MUST_CHECK;

/* Takes a lock from its owner's, and tells which. False: there is none left. */
bool abti_held_take(const void *owner, const void **lock, enum abti_handle_kind *kind) ABTI_MUST_CHECK;

/* Forgets all. */
void abti_held_end(void);

/* In the child of a fork: nobody has anything. */
void abti_held_forget(void);

#endif

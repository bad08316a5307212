/* SPDX-License-Identifier: BSD-3-Clause */
/* Work-unit specific data of a given unit, for the functions that differ only in the unit. */
#ifndef ABTI_API_SPECIFIC_H
#define ABTI_API_SPECIFIC_H

#include "base/compiler.h"
#include "rt/types.h"

/* Sets a value. Returns an ABT code. */
int abti_unit_set_specific(abti_unit *unit, ABT_key key, void *value) ABTI_MUST_CHECK;
void *abti_unit_get_specific(abti_unit *unit, ABT_key key);

#endif

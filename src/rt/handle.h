/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which handles take the slow path of a function: null handles, which are errors or stand for nothing, and all handles
 * while their order is reported to a tool (abti_annotate_order), while misuse is looked for (unit/ledger.h), and while
 * the library is down. So a quick path needs one comparison for all of that.
 */
#ifndef ABTI_RT_HANDLE_H
#define ABTI_RT_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/*
 * NULL counts as the null handle of every kind. Null handles are small numbers, which no object's address is, and a
 * null handle of another kind is not allowed: one comparison does.
 */
#define ABTI_IS_NULL(handle, null) ((uintptr_t)(handle) < ABTI_NULL_HANDLES + 0 * sizeof((handle) == (null)))
#define ABTI_NULL_HANDLES 64u

/* Handles below this take the slow path. Written by abti_handles_look only. */
extern uintptr_t abti_handles_below ABTI_HIDDEN;

/* All handles are to take the slow path, or only null ones, unless abti_annotate_order. */
void abti_handles_look(bool all);

ABTI_INLINE bool abti_handle_is_to_check(const void *handle)
{
    return ABTI_UNLIKELY((uintptr_t)handle < abti_handles_below);
}

#endif

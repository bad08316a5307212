/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounding of sizes. */
#ifndef ABTI_BASE_ROUND_H
#define ABTI_BASE_ROUND_H

#include <stddef.h>
#include "base/compiler.h"

/* Returns the smallest multiple that is no less than `size`, if size_t has it. */
ABTI_INLINE size_t abti_round_up(size_t size, size_t multiple)
{
    size_t rest = size % multiple;
    return rest == 0 ? size : size + (multiple - rest);
}

#endif

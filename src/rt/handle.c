/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/handle.h"

#include "os/annotate.h"

uintptr_t abti_handles_below = UINTPTR_MAX; /* the library is down */

void abti_handles_look(bool all)
{
    abti_handles_below = all || abti_annotate_order ? UINTPTR_MAX : ABTI_NULL_HANDLES;
}

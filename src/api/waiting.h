/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the public functions that wait. */
#ifndef ABTI_API_WAITING_H
#define ABTI_API_WAITING_H

#include "api/check.h"
#include "unit/unit.h"

/* In the 1.x API tasklets may not wait, except for mutexes. In 2.0 they block their ES. */
ABTI_INLINE bool abti_may_not_wait(void)
{
    abti_es *es = abti_es_self;
    return !ABTI_BUILD_VER20 && ABTI_REFUSE(es && abti_unit_is_tasklet(es->cur));
}

#endif

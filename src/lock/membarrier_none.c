/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock/membarrier.h"

bool abti_membarrier_is_ready(void)
{
    return false;
}

bool abti_membarrier_init(void)
{
    return false;
}

bool abti_membarrier(void)
{
    return false;
}

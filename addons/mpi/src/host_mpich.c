/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

/* MPICH gives up the processor in no look. */
void abtmpi_host_keep_processor(void)
{
}

void abtmpi_host_share_processor(void)
{
}

bool abtmpi_host_watch(void (*look)(void))
{
    abtmpi_ucx_watch(look);
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

/* MPICH gives up the processor in no poll. */
void abtmpi_host_keep_processor(void)
{
}

void abtmpi_host_share_processor(void)
{
}

bool abtmpi_host_watch(void (*poll)(void))
{
    abtmpi_ucx_watch(poll);
    return true;
}

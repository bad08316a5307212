/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include "watch/probes.h"

void abti_probes_begin(void)
{
    fprintf(stderr, "libabt: ABT_TRACE=probes: the library was built without sys/sdt.h and has no probes\n");
}

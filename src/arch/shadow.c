/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/shadow.h"

#include <stdio.h>
#include "arch/cpu.h"

bool (*abti_shadow_stack)(void) = abti_cpu_shadow_stack;

bool abti_shadow_permits(void)
{
    if (!abti_shadow_stack())
        return true;
    fprintf(stderr,
            "libabt: ABT_init: the process has a shadow stack, which context switches would break: start it without "
            "(GLIBC_TUNABLES=glibc.cpu.x86_shstk=off)\n");
    return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Any processor: see arch/cpu.h for the contract. */
#ifndef ABTI_ARCH_GENERIC_ARCH_CPU_H
#define ABTI_ARCH_GENERIC_ARCH_CPU_H

/* In the frame of a suspended context, as ctx.c makes it. */
enum { ABTI_CTX_BELOW = 0, ABTI_CTX_RESUMES_AT = 0 };

#include "arch/plain_cpu.h"

#endif

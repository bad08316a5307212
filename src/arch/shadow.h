/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shadow stacks: where a processor checks each return against a second stack, which it keeps of calls alone. A context
 * switch changes the one stack and not the other, so that the first return after it is a fault.
 */
#ifndef ABTI_ARCH_SHADOW_H
#define ABTI_ARCH_SHADOW_H

#include <stdbool.h>

/* Whether the calling thread has one. A variable, so that a test can take the place of the processor. */
extern bool (*abti_shadow_stack)(void);

/* There is none; otherwise this is said on stderr. */
bool abti_shadow_permits(void);

#endif

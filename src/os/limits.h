/* SPDX-License-Identifier: BSD-3-Clause */
/* Why the system gives no more memory. */
#ifndef ABTI_OS_LIMITS_H
#define ABTI_OS_LIMITS_H

#include <stddef.h>

/*
 * Returns in words what most likely keeps the process from mapping `size` bytes more. It takes its time, and asks for
 * no memory but that, for a moment.
 */
const char *abti_limits_blame(size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A fence of every running thread of the process, made by one of them: the others need none where they would pair. */
#ifndef ABTI_LOCK_MEMBARRIER_H
#define ABTI_LOCK_MEMBARRIER_H

#include <stdbool.h>
#include "base/compiler.h"

/*
 * Asks the system for it, once, before the first call of the next function. False: the system has none. This is quick
 * while the process has one thread, and may take some milliseconds later.
 */
bool abti_membarrier_init(void);

/*
 * Returns when every thread has executed a full fence since the call, or has not run. It takes a microsecond or some,
 * and interrupts those that run. False when the system does not do it any more.
 */
bool abti_membarrier(void) ABTI_MUST_CHECK;

#endif

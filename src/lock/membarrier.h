/* SPDX-License-Identifier: BSD-3-Clause */
/* A fence of every running thread of the process, made by one of them: the others need none where they would pair. */
#ifndef ABTI_LOCK_MEMBARRIER_H
#define ABTI_LOCK_MEMBARRIER_H

#include <stdbool.h>
#include "base/compiler.h"

/*
 * Whether the system has been asked for it, which has to be so before abti_membarrier is called. That takes a
 * microsecond while the process has one thread: then it is done when the library is loaded.
 */
bool abti_membarrier_is_ready(void);

/* Asks the system. It takes up to some ten milliseconds, since all processors meet. False: it has none. */
bool abti_membarrier_init(void);

/*
 * Returns when every thread has executed a full fence since the call, or has not run. It takes a microsecond or some,
 * and interrupts those that run. False when the system does not do it any more.
 */
bool abti_membarrier(void) ABTI_MUST_CHECK;

#endif

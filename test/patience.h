/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a program may take for its next result: shared by the watchdog, which ends it then, and TAP in C and C++. */
#ifndef TEST_PATIENCE_H
#define TEST_PATIENCE_H

#include <unistd.h>

static unsigned tap_patience; /* in seconds; 0: as long as it takes */

/* At each result. */
static inline void tap_begin_wait(void)
{
    if (tap_patience > 0)
        alarm(tap_patience);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The library under a thread that enters a stream, perhaps before ABT_init. */
#ifndef ABTI_API_INIT_H
#define ABTI_API_INIT_H

#include "base/compiler.h"

/* The library is there from now on, at least until abti_init_leave. Returns an ABT code. */
int abti_init_enter(void) ABTI_MUST_CHECK;

/* The thread has left its stream. */
void abti_init_leave(void);

#endif

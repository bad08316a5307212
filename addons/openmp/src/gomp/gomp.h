/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the programs of gcc call, and other files as well. The others have no prototypes. */
#ifndef ABTOMP_GOMP_H
#define ABTOMP_GOMP_H

#include <stdbool.h>
#include "export.h"

ABTOMP_API void GOMP_atomic_end(void);
ABTOMP_API void GOMP_atomic_start(void);
ABTOMP_API void GOMP_task(void (*)(void *), void *, void (*)(void *, void *), long, long, bool, unsigned, void **, int,
                          void *);
ABTOMP_API void GOMP_taskwait_depend(void **);
ABTOMP_API void GOMP_taskwait_depend_nowait(void **);

#endif

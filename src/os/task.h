/* Native threads as the system numbers them: what POSIX has no call for. */
#ifndef ABTI_OS_TASK_H
#define ABTI_OS_TASK_H

#include <stdbool.h>
#include "base/compiler.h"

enum { ABTI_TASK_UNKNOWN = 0 };

/* The number of the calling native thread. ABTI_TASK_UNKNOWN: the system does not tell it. */
int abti_task_self(void);

/* Sends a native thread of this process a signal that brings `value`. False: there is no such thread, or no memory. */
bool abti_task_signal(int task, int sig, void *value) ABTI_MUST_CHECK;

#endif

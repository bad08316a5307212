/* SPDX-License-Identifier: BSD-3-Clause */
/* Native threads as the system numbers them: what POSIX has no call for. */
#ifndef ABTI_WAIT_TASK_H
#define ABTI_WAIT_TASK_H

#include <stdbool.h>
#include <stdint.h>

/* The number of a native thread of which none is known. */
enum { ABTI_TASK_UNKNOWN = 0 };

/* The number of the calling native thread. */
int abti_task_self(void);

/* The native mutex that the thread sleeps for, without a deadline, and has locked itself; 0: none that is known. */
uintptr_t abti_task_own_mutex(int task);

/* Visits all native threads of this process. False: the system does not tell them, or there is no memory. */
bool abti_task_walk(void (*visit)(int task, void *arg), void *arg);

/* The native thread is the kernel's own, or one that a sanitizer has made: it runs no code of the program. */
bool abti_task_is_foreign(int task);

#endif

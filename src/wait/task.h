/* SPDX-License-Identifier: BSD-3-Clause */
/* Native threads as the system numbers them: what POSIX has no call for. */
#ifndef ABTI_WAIT_TASK_H
#define ABTI_WAIT_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

/* The number of a native thread of which none is known. */
enum { ABTI_TASK_UNKNOWN = 0 };

/* The number of the calling native thread. */
int abti_task_self(void);

/* Sends a native thread of this process a signal that brings `value`. False: there is no such thread, or no memory. */
bool abti_task_signal(int task, int sig, void *value) ABTI_MUST_CHECK;

/* Where a native thread is that sleeps in the system; 0: it is not known. Other registers are not known. */
struct abti_task_place {
    uintptr_t pc, sp;
};

/*
 * Whether a native thread of this process sleeps in the system just now, by a racy read. False: it runs, or would if it
 * got a processor, or nothing is known of it.
 */
bool abti_task_sleeps(int task, struct abti_task_place *place);

/* Visits all native threads of this process. False: the system does not tell them, or there is no memory. */
bool abti_task_walk(void (*visit)(int task, void *arg), void *arg);

/* The native thread is the kernel's own, or one that a sanitizer has made: it runs no code of the program. */
bool abti_task_is_foreign(int task);

#endif

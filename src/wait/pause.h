/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of the library's own helper threads, which run no units and are in no hurry. */
#ifndef ABTI_WAIT_PAUSE_H
#define ABTI_WAIT_PAUSE_H

#include <semaphore.h>
#include <stdint.h>

/* Sleeps for so long, or until a signal's handler has run. A signal handler may call it. */
void abti_pause(uint64_t ns);

/* Sleeps until the semaphore is posted, which a signal handler may do. */
void abti_pause_for(sem_t *posted);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/pause.h"

#include <errno.h>
#include <time.h>

void abti_pause(uint64_t ns)
{
    const uint64_t second = 1000000000;
    (void)nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / second), .tv_nsec = (long)(ns % second)}, NULL);
}

void abti_pause_for(sem_t *posted)
{
    while (sem_wait(posted) != 0 && errno == EINTR)
        ;
}

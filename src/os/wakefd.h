/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file descriptor that wakes a thread which sleeps in an event loop: it is readable when it has been signalled since
 * it was drained last.
 */
#ifndef ABTI_OS_WAKEFD_H
#define ABTI_OS_WAKEFD_H

#include <stdint.h>
#include "base/compiler.h"

struct abti_wakefd {
    int wait_fd;   /* polled for being readable */
    int signal_fd; /* written to */
};

/* Opens it. Returns 0 or -errno. */
int abti_wakefd_open(struct abti_wakefd *w) ABTI_MUST_CHECK;
void abti_wakefd_close(struct abti_wakefd *w);

/* Signals, by one system call. Signal handlers may call this. */
void abti_wakefd_signal(int signal_fd);

/* Takes back the signals that have come, and returns how many. It does not block. */
uint64_t abti_wakefd_drain(struct abti_wakefd *w);

/* Blocks until it is readable, or for so long at most. */
void abti_wakefd_wait(struct abti_wakefd *w, int milliseconds);

#endif

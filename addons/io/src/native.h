/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Native threads: those that are made, and how a tasklet waits for operations. It has no stack that could be left, and
 * eventuals do not serve it. All such waiters sleep on one word, and each result wakes them all. Few programs have any.
 */
#ifndef ABTIO_NATIVE_H
#define ABTIO_NATIVE_H

#include "abtio.h"

/* Something has been delivered. Costs a load when nobody sleeps. */
void abtioi_native_wake(void);

/*
 * Sleeps until a poll finds what it looks for. `poll` is called again after each delivery, and at least every
 * millisecond.
 */
void abtioi_native_wait(int (*poll)(void *arg), void *arg);

/* Makes a thread that nobody joins and that lets no signal in, since those of the program are for its own threads: 0,
 * or an error. */
int abtioi_native_make_thread(void *(*main)(void *));

/*
 * Sleeps until the descriptor is readable, or a number of nanoseconds have passed; negative: for ever. Of any thread;
 * may end early.
 */
void abtioi_native_wait_fd(int fd, int64_t nanoseconds);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signal that interrupts system calls of native threads: a real-time signal, which the program has named or does
 * not use. All under the helpers' lock, but for begin and end, and for what a thread does to itself.
 */
#ifndef ABTIO_SIGNALS_H
#define ABTIO_SIGNALS_H

#include <signal.h>
#include <sys/types.h>

/* Takes this one, or, if it is 0, one that the program neither handles nor blocks. Errors: -EINVAL, -EAGAIN. */
int abtioi_signal_begin(int number);

/* Gives it back as it was found, if there is one that the program does not handle by now; no helper is left. */
void abtioi_signal_end(void);

/* The signal to use now: another one if the program handles the former by now. */
int abtioi_signal(void);

/* Interrupts a thread. */
void abtioi_signal_send(int number, pid_t thread);

/* The value that comes with it, by which the handler knows ours. */
void *abtioi_signal_mark(void);

/* The calling thread lets this one in. *old, if not NULL, gets the signals that it blocks until then. */
void abtioi_signal_let_in(int number, sigset_t *old);

/* Until it lets it in again. */
void abtioi_signal_keep_out(int number);

#endif

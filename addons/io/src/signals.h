/* The signal that interrupts system calls of helpers: a real-time signal that the program does not use. */
#ifndef ABTIO_SIGNALS_H
#define ABTIO_SIGNALS_H

#include <signal.h>

/* Takes one. Errors: -EAGAIN, the program uses them all. */
int abtioi_signal_begin(void);

/* Gives it back; no helper is left. */
void abtioi_signal_end(void);

int abtioi_signal(void);

/* The calling thread lets this one in. *before, if not NULL, gets the signals that it blocks until then. */
void abtioi_signal_let_in(sigset_t *before);

/* Until it lets it in again. */
void abtioi_signal_keep_out(void);

#endif

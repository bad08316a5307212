/* The signal that interrupts system calls of helpers: a real-time signal that the program does not use. */
#ifndef ABTIO_SIGNALS_H
#define ABTIO_SIGNALS_H

/* Takes one. Errors: -EAGAIN, the program uses them all. */
int abtioi_signal_begin(void);

/* Gives it back; no helper is left. */
void abtioi_signal_end(void);

int abtioi_signal(void);

/* The calling thread, which blocks all signals, lets this one in. */
void abtioi_signal_let_in(void);

#endif

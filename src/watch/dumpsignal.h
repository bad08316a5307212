/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ABT_DUMP_SIGNAL: a signal that prints all units to stderr, with the streams running on. A native thread prints, which
 * sleeps otherwise, so that a program can be asked whose streams all wait or are held up.
 */
#ifndef ABTI_WATCH_DUMPSIGNAL_H
#define ABTI_WATCH_DUMPSIGNAL_H

#include <signal.h>

/*
 * At ABT_init, when the runtime is up; number 0: nothing is done. A handler that was there before is called, too, after
 * ours. When no native thread can be had that is reported on stderr, and the signal does what it did.
 */
void abti_dumpsignal_begin(int number);

/* At ABT_finalize, when the runtime is still up. A handler that was put in place of ours stays. */
void abti_dumpsignal_end(void);

/* If *now is the handler of that signal, it becomes what that has replaced. */
void abti_dumpsignal_look_behind(int sig, struct sigaction *now);

/* In the child of a fork, which does not have the thread: signals are counted, and nothing is printed. */
void abti_dumpsignal_forget(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of memory accesses (SIGSEGV, SIGBUS): somebody is asked about each before it takes its course, on a stack of
 * its own, since the one that it happened on may be at its end.
 */
#ifndef ABTI_OS_FAULT_H
#define ABTI_OS_FAULT_H

#include <signal.h>
#include "base/compiler.h"

/*
 * It only says something about the fault at that address, at which the thread was as `ucontext` says. Called in the
 * signal handler.
 */
typedef void (*abti_fault_look)(void *addr, const void *ucontext);

/*
 * From now on `look` is called at every fault. Then the signal does what it would have done: a handler that was there
 * before is called with the signals blocked, and as often, as it asked for; though on the signal stack of the thread if
 * that has one, whether it asked for that or not, since it would not get far on a stack that is at its end.
 */
void abti_fault_watch(abti_fault_look look);

/*
 * Undoes it. If somebody has put another handler in our place, that one stays, and may go on to pass faults on to ours,
 * also after the next abti_fault_watch; and then nothing but it tells ours of faults.
 */
void abti_fault_unwatch(void);

/* Memory for signal handlers to run on. NULL: there is none. */
void *abti_fault_stack_map(void);
/* NULL is allowed. One is kept for the next call of _map, until _forget. */
void abti_fault_stack_unmap(void *stack);
void abti_fault_stack_forget(void);

/* From now on the calling native thread uses that memory (NULL: nothing is done), unless it has some already. */
void abti_fault_enter(void *stack);
/* It no longer does. */
void abti_fault_leave(void *stack);

/*
 * Passes a signal on to `before`, the handler that was there before the caller's. A default action is not taken.
 * Async-signal-safe.
 */
ABTI_INLINE void abti_pass_on(const struct sigaction *before, int number, siginfo_t *info, void *context)
{
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(number);
}

#endif

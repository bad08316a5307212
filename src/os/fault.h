/*
 * Faults of memory accesses (SIGSEGV, SIGBUS): somebody is asked about each before it takes its course, on a stack of
 * its own, since the one that it happened on may be at its end.
 */
#ifndef ABTI_OS_FAULT_H
#define ABTI_OS_FAULT_H

#include <stdbool.h>

/*
 * From now on `look` is called, in the signal handler, with the address of every fault. It only says something about
 * it: then the signal does what it would have done, a handler that was there before included.
 */
void abti_fault_watch(void (*look)(void *addr));
/* Undoes it, unless somebody has put another handler in our place. */
void abti_fault_unwatch(void);

/* Memory for signal handlers to run on. NULL: there is none. */
void *abti_fault_stack_map(void);
/* NULL is allowed. One is kept for the next who asks, until _forget. */
void abti_fault_stack_unmap(void *stack);
void abti_fault_stack_forget(void);

/* From now on the calling native thread uses that memory (NULL: nothing is done), unless it has some already. */
void abti_fault_enter(void *stack);
/* It no longer does. */
void abti_fault_leave(void *stack);

#endif

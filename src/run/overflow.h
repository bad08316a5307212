/* Stack overflows: who it was, said on stderr. */
#ifndef ABTI_RUN_OVERFLOW_H
#define ABTI_RUN_OVERFLOW_H

#include "base/compiler.h"
#include "rt/types.h"

/* For ABT_init and ABT_finalize: faults in guard pages are reported. Nothing is done when no stack has any. */
void abti_overflow_watch(void);
void abti_overflow_unwatch(void);

/* The unit, which is about to leave its stack, has written over the canary: says so and aborts. */
ABTI_NORETURN void abti_overflow_abort(abti_unit *unit);

#endif

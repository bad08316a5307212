/* How units end: a joiner is told, and the ES goes on with somebody else, from a stack that nobody comes back to. */
#ifndef ABTI_RUN_END_H
#define ABTI_RUN_END_H

#include "unit/unit.h"

/* Ends the calling ULT. With _to, `next`, popped, runs then. */
ABTI_NORETURN void abti_ult_exit(void);

ABTI_NORETURN void abti_ult_end(void); /* the same for who has told of the end and sampled the stack */

ABTI_NORETURN void abti_ult_exit_to(abti_unit *next);

/* The primary ES's main unit ends: the primary ULT, which waits for it, goes on. */
ABTI_NORETURN void abti_main_exit(abti_es *es);

/* Publishes the end of a unit that runs no more. Returns the ULT that waited for it, still blocked, or NULL. */
abti_unit *abti_terminate(abti_es *es, abti_unit *unit);

/* A ULT that waited for a unit goes to its pool. It may still be on its way out: it has registered before it left. */
void abti_resume_joiner(abti_unit *joiner);

/* The end of a unit that is on no stack: a tasklet that has returned, one that is discarded. */
void abti_finish_simply(abti_es *es, abti_unit *unit);

/* After abti_stackuse_is_on has changed. */
void abti_entry_watch(void);

/* Runs the units of a row, see run/join.h, in place. */
void abti_nest_row(void *row);

/* A joiner in ABT_thread_free keeps the address of the user's handle in its link, which is not used while it sleeps. */
ABTI_INLINE void abti_null_handle(abti_unit *joiner)
{
    *(ABT_thread *)joiner->next = ABT_THREAD_NULL;
}

#endif

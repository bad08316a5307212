#include "run/picked.h"

#include <stdio.h>

/* The unit runs, is blocked or has ended: it cannot be the next one. Told once for each scheduler. */
ABTI_COLD void abti_picked_tell(abti_sched *sched, abti_unit *unit)
{
    if (sched->picked->has_told)
        return;
    sched->picked->has_told = true;
    fprintf(stderr, "libabt: the pick function of scheduler %d has returned the unit %p, which is not ready\n",
            sched->id, (void *)unit);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a stream's native thread is. A signal stops one that runs for a moment; one that sleeps in the system is
 * stopped anyway.
 */
#ifndef ABTI_WATCH_CAPTURE_H
#define ABTI_WATCH_CAPTURE_H

#include <signal.h>
#include <stdbool.h>
#include "rt/types.h"
#include "watch/unwind.h"

enum abti_capture {
    ABTI_CAPTURED,
    ABTI_CAPTURE_ASLEEP, /* the thread sleeps in the system, and is not asked: there may be no calls, or not all */
    ABTI_CAPTURE_SELF,   /* the caller runs on that stream itself */
    ABTI_CAPTURE_GONE,   /* the unit does not run any more, or not just now */
    ABTI_CAPTURE_DEAF,   /* no answer: the thread blocks the signal, or gets no processor */
};

/*
 * The calls that a unit is in which runs. The signal is SIGURG, which programs do not use, as a rule, and which nobody
 * minds that comes late. A system call ends early by it if the thread enters that just between the look at it and the
 * signal. By any native thread, one at a time.
 */
enum abti_capture abti_capture_unit(const abti_unit *unit, struct abti_calls *calls);

/* If *now is the handler of the signal that is sent, it becomes what that has replaced. */
void abti_capture_look_behind(int sig, struct sigaction *now);

/* At ABT_finalize: the signal does again what it did. */
void abti_capture_fini(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What an ES runs: its main scheduler, again and again, until it is asked to end. */
#ifndef ABTI_STREAM_MAIN_H
#define ABTI_STREAM_MAIN_H

#include "base/compiler.h"
#include "rt/types.h"

/* Runs the main scheduler of `es` in its main unit, on this native thread, until the ES is to terminate. */
void abti_main_run(abti_es *es);

/* Ends the calling main unit in the middle of its scheduler's run. Its secondary ES terminates. */
ABTI_NORETURN void abti_main_leave(abti_es *es);

/* Does the same, as the first function of the primary ES's main unit, which has a stack of its own. */
void abti_main_run_entered(void);

#endif

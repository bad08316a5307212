/* SPDX-License-Identifier: BSD-3-Clause */
/* What outside the library could wake a unit: native threads of the program's own, and handlers of signals. */
#ifndef ABTI_WATCH_OUTSIDE_H
#define ABTI_WATCH_OUTSIDE_H

#include <stdio.h>
#include "wait/guest.h"

struct abti_outside {
    struct abti_outsiders threads;
    int handled; /* the first signal that somebody may send and the program has a handler for; 0: none */
};

/* By a helper of the library. */
void abti_outside_look(struct abti_outside *outside);

/* There is nobody, beside guests: none of these is left out, so that it is known whether they sleep. */
bool abti_outside_is_known(const struct abti_outside *outside);

/* A line for each kind. */
void abti_outside_print(FILE *fp, const struct abti_outside *outside);

#endif

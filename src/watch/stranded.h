/* SPDX-License-Identifier: BSD-3-Clause */
/* Work units that are blocked when the library ends: they are reported, and so is why ABT_finalize waits. */
#ifndef ABTI_WATCH_STRANDED_H
#define ABTI_WATCH_STRANDED_H

#include "rt/types.h"

/*
 * The primary stream, on which the caller is, has been asked to finish. When it is still there after a second, and only
 * blocked units are left, one line on stderr says so, and one line for each unit what it waits for.
 */
void abti_stranded_watch(abti_es *es);

/* It has finished. Units that are blocked for good are reported now, unless they have been before. */
void abti_stranded_end(void);

/* The poll of the driver of the primary stream that polls meanwhile. */
ABT_bool abti_stranded_poll(void *data, ABT_bool about_to_sleep);

#endif

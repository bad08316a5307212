/* SPDX-License-Identifier: BSD-3-Clause */
/* How units are called in what is printed. */
#ifndef ABTI_WATCH_NAME_H
#define ABTI_WATCH_NAME_H

#include <stddef.h>
#include "watch/registry.h"

enum { ABTI_NAME_ROOM = 256 };

/* "ULT 3 (work at program+0x11d9)"; one that was never asked for its id is called by its address. Returns `text`. */
const char *abti_name_unit(char text[ABTI_NAME_ROOM], const struct abti_unit_note *note);

#endif

/* The calls that led to where a suspended context stands. */
#ifndef ABTI_WATCH_UNWIND_H
#define ABTI_WATCH_UNWIND_H

#include <stdio.h>
#include "arch/ctx.h"

/*
 * Prints them, the innermost first, a line each; nothing in a build without back-traces. None of them lies beyond
 * `end`, the highest address of the stack (NULL: not known). Nothing of the context runs.
 */
void abti_unwind_print(FILE *fp, abti_ctx ctx, const char *end);

#endif

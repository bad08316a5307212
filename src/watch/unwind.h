/* The calls that led to where a context stands. */
#ifndef ABTI_WATCH_UNWIND_H
#define ABTI_WATCH_UNWIND_H

#include <stdio.h>
#include "arch/regs.h"

/*
 * Prints them, the innermost first, a line each. None of them lies beyond `end`, the highest address of the stack
 * (NULL: not known). Nothing of the context runs; one that goes on meanwhile makes the answer wrong, and nothing worse.
 */
void abti_unwind_print(FILE *fp, abti_ctx ctx, const char *end);

/* The same for a native thread that stands still; the first line is where it stands. */
void abti_unwind_print_regs(FILE *fp, const struct abti_regs *regs, const char *end);

#endif

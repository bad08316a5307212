/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that led to where a context is. */
#ifndef ABTI_WATCH_UNWIND_H
#define ABTI_WATCH_UNWIND_H

#include <stdio.h>
#include "arch/ucontext.h"

/* The innermost first. Without libunwind there is only that one. */
struct abti_calls {
    unsigned num;
    uintptr_t place[100]; /* program counter * 2, + 1 where it is behind a call, as most do */
};

/*
 * The calls of a suspended context. None of them is beyond `end`, the highest address of the stack (NULL: not known).
 * Nothing of the context runs; one that goes on meanwhile makes the answer wrong, and nothing worse: libunwind reads no
 * memory that it has not tried.
 */
void abti_unwind_ctx(abti_ctx ctx, const char *end, struct abti_calls *calls);

/* A line each. */
void abti_unwind_print(FILE *fp, const struct abti_calls *calls);

#endif

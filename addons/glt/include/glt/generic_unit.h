/* SPDX-License-Identifier: BSD-3-Clause */
/* A unit of GLT over a library that knows functions and no more. Included by the file of that library. */
#ifndef GLT_GENERIC_UNIT_H_INCLUDED
#define GLT_GENERIC_UNIT_H_INCLUDED

#include <setjmp.h>

enum { GLT_MAX_KEYS = 32 };

struct glt_unit {
    void (*function)(void *arg);
    void *arg;
    GLT_ult_id id;
    int cancelled;              /* by anybody, read by the unit */
    jmp_buf end;                /* where glt_ult_exit leads */
    void *values[GLT_MAX_KEYS]; /* by the keys' numbers */
    glt_lower_unit lower;
};

static void glt_run_unit(struct glt_unit *unit);

#endif

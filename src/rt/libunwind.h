/* SPDX-License-Identifier: BSD-3-Clause */
/* libunwind, where it is installed: no build needs it. */
#ifndef ABTI_RT_LIBUNWIND_H
#define ABTI_RT_LIBUNWIND_H

#include <stddef.h>
#include <stdint.h>
#include "arch/ucontext.h"

#define ABTI_LIBUNWIND_FILE "libunwind.so.8"
#define ABTI_NO_LIBUNWIND (*ABTI_UNW_PREFIX ? " is not installed" : " is of no use on this machine")

/* unw_cursor_t, and as much again for versions to come. */
struct abti_unw_cursor {
    _Alignas(16) uintptr_t words[2 * ABTI_UNW_CURSOR_WORDS];
};

/* The beginning of unw_proc_info_t, and more than its other fields take. */
struct abti_unw_proc {
    uintptr_t start, end;
    uintptr_t others[30];
};

/* The functions, which return 0 or a negative number; step: positive, 0 at the end, negative. */
struct abti_libunwind {
    int (*init_local2)(struct abti_unw_cursor *cursor, ucontext_t *context, int flags);
    int (*step)(struct abti_unw_cursor *cursor);
    int (*get_reg)(struct abti_unw_cursor *cursor, int reg, uintptr_t *value);
    int (*is_signal_frame)(struct abti_unw_cursor *cursor);
    int (*get_proc_info)(struct abti_unw_cursor *cursor, struct abti_unw_proc *proc);
    int (*get_proc_name)(struct abti_unw_cursor *cursor, char *name, size_t size, uintptr_t *offset);
};

enum {
    ABTI_UNW_ENOMEM = 2,            /* UNW_ENOMEM: a name is cut off */
    ABTI_UNW_INIT_SIGNAL_FRAME = 1, /* UNW_INIT_SIGNAL_FRAME: the context is not behind a call */
};

/*
 * NULL: it is not installed. The first call loads it, and waits for a thread that is loading another library: so not in
 * a signal handler, and not while a thread is stopped.
 */
const struct abti_libunwind *abti_libunwind(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What clang makes programs call: functions of libomp.so.5. Only programs call them, so that they have no prototypes
 * beside their definitions. `gtid` is the number that __kmpc_global_thread_num says, which is not looked at: each
 * function knows who calls.
 */
#ifndef ABTOMP_KMP_H
#define ABTOMP_KMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "omp.h"

/* Where in the source. */
typedef struct ident {
    int32_t unused, flags, more[2];
    const char *text;
} ident_t;

enum { KMP_AT_BARRIER = 0x20, KMP_AT_END = 0x40, KMP_AT_SECTIONS = 0x400, KMP_AT_DISTRIBUTE = 0x800 };

/* What nearly all functions are told first, and few look at: where in the source, and the number of the caller. */
#define KMP_AT ident_t *at __attribute__((unused))
#define KMP_GTID int32_t gtid __attribute__((unused))
#define KMP_CALLER KMP_AT, KMP_GTID

/* Both region.c and Fortran's form of it have it. */
ABTOMP_API int kmp_get_cancellation_status(int kind);

/* Memory for a variable of the program, of any alignment that it may need. */
static inline void *kmp_alloc(size_t size)
{
    return abtomp_must_have(aligned_alloc(64, (size + 64) & ~(size_t)63));
}

/* A function that teams and tasks run, call(data), and the same with a frame that a tool knows: run_viewed. */
#define KMP_RUN(name, call)                                                                                            \
    static void name(void *data)                                                                                       \
    {                                                                                                                  \
        call(data);                                                                                                    \
    }                                                                                                                  \
    static void run_viewed(void *data)                                                                                 \
    {                                                                                                                  \
        abtomp_current->view->frame.exit_frame.ptr = __builtin_frame_address(0);                                       \
        call(data);                                                                                                    \
        __asm__ volatile(""); /* the frame stays: without it the call might take its place */                          \
    }

/* The end of a construct at which there is nothing to do, but perhaps to tell tools. */
#define KMP_END(name, told)                                                                                            \
    ABTOMP_API void __kmpc_##name(KMP_CALLER)                                                                          \
    {                                                                                                                  \
        told;                                                                                                          \
    }
#define KMP_NOTHING(name) KMP_END(name, )
#define KMP_TOLD(name, told)                                                                                           \
    KMP_END(                                                                                                           \
        name, if (ABTOMP_NOTED(0)) { told; })

#endif

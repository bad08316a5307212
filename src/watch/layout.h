/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a debugger needs to know of the library's structures: the scripts in debug/ read a stopped process or a core
 * file by this table alone, so that they need no debugging information, and fit every build of the library. It is
 * exported, and so it survives strip, and begins with a text by which it is found where there are no symbols at all.
 */
#ifndef ABTI_WATCH_LAYOUT_H
#define ABTI_WATCH_LAYOUT_H

#include "rt/types.h"

/* A field `structure.member`, or a constant, which has size 0. */
struct abti_layout_entry {
    char name[32];
    uint32_t at;
    uint32_t size;
};

/* Scripts refuse another version. It changes when this structure or the meaning of a name does. */
enum { ABTI_LAYOUT_VERSION = 1 };

struct abti_debug_layout {
    char magic[16]; /* "libabt's layout", ended by 0 */
    uint32_t version;
    uint32_t num_entries;
    const struct abti_layout_entry *entries;
    const void *rt;
};

extern const struct abti_debug_layout ABTI_debug_layout ABT_API_PUBLIC;

#endif

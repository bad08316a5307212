/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guard at the low end of a stack, by which an overflow is found.
 *
 * - guard pages: the first access beyond the stack faults, in the guilty frame. They are made by madvise where the
 *   kernel can (Linux 6.13), which costs no mapping; else by mprotect, which splits the stack's mapping, so that there
 *   is a cap well below what the system allows a process.
 * - a canary: a word that is looked at when a unit leaves its stack, so that an overflow is found late.
 */
#ifndef ABTI_MEM_GUARD_H
#define ABTI_MEM_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"

/* The guard that is asked for. Up to 3 the numbers are those of ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK. */
enum abti_stack_guard {
    ABTI_STACK_GUARD_NONE = 0,
    ABTI_STACK_GUARD_CANARY = 1,
    ABTI_STACK_GUARD_MPROTECT = 2,        /* a page that cannot be protected is silently left open */
    ABTI_STACK_GUARD_MPROTECT_STRICT = 3, /* a page that cannot be protected is an error */
    ABTI_STACK_GUARD_AUTO = 4,            /* the best that can be had for each stack */
};

/* The guard that a stack has got. */
enum abti_guard { ABTI_GUARD_NONE, ABTI_GUARD_CANARY, ABTI_GUARD_PAGE };

/*
 * Sets the guard that is asked for: one that is asked for by name is a single page, otherwise there are several, which
 * are found by larger frames and cost no more mappings. It is called before the first stack is made.
 */
void abti_guard_init(enum abti_stack_guard kind);

/* Returns how many bytes at the low end of a mapped stack are set aside for a guard. */
size_t abti_guard_room(void);
/* The same where there is room for as little as can be. */
size_t abti_guard_least_room(void);

/*
 * Whether a page is asked for by name. Then memory is no use in which single pages cannot be guarded, or should not be.
 * The page is one that mprotect has made, at the first page boundary of what the user learns of the stack.
 */
bool abti_guard_needs_page(void);

/* Whether a stack without its page is an error. */
bool abti_guard_is_strict(void);

/*
 * Guards a stack by pages, `size` bytes from `at`, which is a page boundary. Without `pages` the stack gets a canary
 * where it would have had them. It is the nth of its kind, which the cap is for: so stacks of the default size have no
 * count that all streams write. *guard says what it got. False when they are a must and cannot be had.
 */
bool abti_guard_install(char *at, size_t size, bool pages, size_t nth, enum abti_guard *guard) ABTI_MUST_CHECK;
/* In place of a number: those that are guarded so are counted. */
#define ABTI_GUARD_COUNTED SIZE_MAX

/*
 * Undoes it, since the stack is to be no stack any more and its memory stays mapped. Pages that were guarded by
 * mprotect are open again.
 */
void abti_guard_remove(char *at, size_t size, bool counted, enum abti_guard guard);

/* Protects a page again that mprotect has made, and that somebody may have opened. False when that is refused. */
bool abti_guard_renew(char *at) ABTI_MUST_CHECK;

/* Guards the user's memory, of which no page is taken unless one is asked for by name. Returns what it got. */
enum abti_guard abti_guard_install_user(char *low);

/* The kinds of guards that have been made so far, as bits. */
enum abti_guard_kind { ABTI_GUARDED_BY_KERNEL = 1, ABTI_GUARDED_BY_MPROTECT = 2, ABTI_GUARDED_BY_CANARY = 4 };
unsigned abti_guard_kinds(void);

/* Whether a canary is broken. `low` is the address at which it was installed. */
bool abti_guard_is_broken(const char *low);

#endif

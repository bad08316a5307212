/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library tells the tools that watch memory and threads: TSan, ASan, and valgrind. They are found at run time,
 * the sanitizers through weak symbols, so that a stock library serves an instrumented program. Every function does
 * nothing when its tool is absent, but hot code asks abti_annotate_on first, one predictable branch.
 *
 * Rules of the tools:
 * - A switch tells ASan the stack it goes to (start), then TSan its fiber (switch_to), then switches, with no call of
 *   an instrumented function in between: TSan keeps its shadow call stack per fiber. On the new stack comes ASan's
 *   finish.
 * - A fiber is destroyed by a thread that runs on another one.
 * - Memory of a stack that is used again must be unpoisoned first: frames that were left by a switch never did it.
 */
#ifndef ABTI_OS_ANNOTATE_H
#define ABTI_OS_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* Some tool is present. Written by abti_annotate_init only. */
extern bool abti_annotate_on ABTI_HIDDEN;

/*
 * TSan is there, or helgrind or DRD, and needs to know what happens before what: TSan sees no access of a library that
 * is not made with it, and the others do not know which accesses order. Written by abti_annotate_init only.
 */
extern bool abti_annotate_order ABTI_HIDDEN;

/* Looks for the tools, at the first call. */
void abti_annotate_init(void);

/* --- TSan: a fiber per context. NULL where TSan is absent. --- */

void *abti_annotate_fiber_create(void) ABTI_NO_SANITIZE;
void *abti_annotate_fiber_current(void) ABTI_NO_SANITIZE;
void abti_annotate_fiber_destroy(void *fiber) ABTI_NO_SANITIZE;

/* Some code of TSan's. 0 where TSan is absent. */
uintptr_t abti_annotate_tsan_code(void);

/* ordered: all acts of the caller so far happen before the next ones of the fiber. */
void abti_annotate_fiber_switch_to(void *fiber, bool ordered) ABTI_NO_SANITIZE;

/* --- TSan, helgrind and DRD: all that was done before a release of an address comes before a later acquire --- */

void abti_annotate_tell_release(const void *address) ABTI_NO_SANITIZE ABTI_COLD;
void abti_annotate_tell_acquire(const void *address) ABTI_NO_SANITIZE ABTI_COLD;

ABTI_INLINE void abti_annotate_release(const void *address)
{
    if (ABTI_UNLIKELY(abti_annotate_order))
        abti_annotate_tell_release(address);
}

ABTI_INLINE void abti_annotate_acquire(const void *address)
{
    if (ABTI_UNLIKELY(abti_annotate_order))
        abti_annotate_tell_acquire(address);
}

/*
 * In between TSan looks at no access of the calling thread: the library allocates, frees and copies its own memory by
 * the C library's functions, which are seen, under locks of its own, which are not.
 */
void abti_annotate_tell_private(bool begin) ABTI_NO_SANITIZE ABTI_COLD;

ABTI_INLINE void abti_annotate_begin_private(void)
{
    if (ABTI_UNLIKELY(abti_annotate_order))
        abti_annotate_tell_private(true);
}

ABTI_INLINE void abti_annotate_end_private(void)
{
    if (ABTI_UNLIKELY(abti_annotate_order))
        abti_annotate_tell_private(false);
}

/* The address for the ends of all units: a thread that joins a stream, or finalizes, has waited for them. */
extern const char abti_annotate_ends ABTI_HIDDEN;

/* --- ASan --- */

/*
 * Before a switch to the stack [bottom, bottom + size). *fake_save keeps what the context that is left needs when it
 * comes back; fake_save is NULL when it never does, which frees that.
 */
void abti_annotate_asan_start(void **fake_save, const void *bottom, size_t size) ABTI_NO_SANITIZE;

/*
 * After a switch, on the new stack: fake is what the context saved when it was left, NULL in a fresh one. The bounds of
 * the stack that was left are stored where old_bottom and old_size are not NULL; both are 0 without ASan.
 */
void abti_annotate_asan_finish(void *fake, const void **old_bottom, size_t *old_size) ABTI_NO_SANITIZE;

/* [ptr, ptr + size) may be used again. */
void abti_annotate_unpoison(const void *ptr, size_t size) ABTI_NO_SANITIZE;

/* --- ASan, which looks for leaks --- */

/* Pointers in [ptr, ptr + size) count from now on, and no longer. The library's memory is not looked at otherwise. */
void abti_annotate_root_begin(const void *ptr, size_t size) ABTI_NO_SANITIZE;
void abti_annotate_root_end(const void *ptr, size_t size) ABTI_NO_SANITIZE;

/* --- ASan and valgrind: a stack that no unit has. Nobody is on it. --- */

/* To look at it, by a pointer to a variable of a unit that has ended, is a mistake from now on. */
void abti_annotate_stack_dead(const void *ptr, size_t size) ABTI_NO_SANITIZE;
/* It has a unit again. */
void abti_annotate_stack_alive(const void *ptr, size_t size) ABTI_NO_SANITIZE;

/* --- valgrind: which memory is a stack, so that a switch does not look like a huge frame --- */

/* The stack [ptr, ptr + size); the result is for abti_annotate_stack_unregister. */
unsigned abti_annotate_stack_register(const void *ptr, size_t size) ABTI_NO_SANITIZE;
void abti_annotate_stack_unregister(unsigned id) ABTI_NO_SANITIZE;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages straight from the operating system. */
#ifndef ABTI_OS_VM_H
#define ABTI_OS_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* Returns the bytes in a page. It asks the system at every call, which is cheap (libc keeps it). */
size_t abti_vm_page_size(void);

/* Returns the bytes of memory that the machine has. */
uint64_t abti_vm_total(void);

/*
 * Maps private zeroed memory at a page boundary, of `size` rounded up to whole pages. No swap space is set aside for
 * it: what is never touched costs address space only. NULL when there is none or `size` is 0.
 */
void *abti_vm_map(size_t size) ABTI_MUST_CHECK;

/*
 * Maps it in huge pages of that size, a multiple of which `size` is. They are set aside, so that none is missing when
 * it is touched. NULL when there are not enough, or none of that size.
 */
void *abti_vm_map_huge(size_t size, size_t huge_page) ABTI_MUST_CHECK;

/* Maps as abti_vm_map does, at a multiple of `alignment`, a power of two and a multiple of the page size. */
void *abti_vm_map_aligned(size_t size, size_t alignment) ABTI_MUST_CHECK;

/* Says whether the system is to put these pages into huge ones by itself. False when it cannot. */
bool abti_vm_advise_huge(void *ptr, size_t size, bool huge);

/* Whether there is memory at this address. */
bool abti_vm_is_mapped(void *ptr) ABTI_MUST_CHECK;

/* Whether what is mapped now is locked in memory, and so takes memory at once: by mlockall(MCL_FUTURE). */
bool abti_vm_is_locked_when_mapped(void);

/* Undoes any of these, of the same size. NULL is allowed. */
void abti_vm_unmap(void *ptr, size_t size);

/*
 * Gives the memory behind the pages that are wholly in [ptr, ptr + size) back to the system; the address range stays
 * and reads as zero afterwards, unless the system refuses. Pages that are only partly covered are left alone.
 */
void abti_vm_release(void *ptr, size_t size);

/*
 * Makes every access to these pages fault. guard costs no mapping and is undone when they are unmapped; false where the
 * system has no such thing. protect splits the mapping; false when the system refuses.
 */
bool abti_vm_guard(void *ptr, size_t size) ABTI_MUST_CHECK;
/* Whether an access to the byte faults. Emulators of Linux say that they have made a guard, and have not. */
bool abti_vm_faults(const void *byte);
bool abti_vm_protect(void *ptr, size_t size) ABTI_MUST_CHECK;
/* Undoes both, wherever they are in the range. */
void abti_vm_unguard(void *ptr, size_t size);

#endif

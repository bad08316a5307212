/* Whether the process has one thread only, so that an atomic read-modify-write needs no lock prefix. */
#ifndef ABTI_OS_SINGLE_H
#define ABTI_OS_SINGLE_H

#include <stdbool.h>
#include "base/atomic.h"
#include "base/compiler.h"

#if defined(__has_include) && __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#else
#define __libc_single_threaded 0
#endif

/*
 * Compare-and-swap of a pointer-sized word, acquire and release. The C library says when there is no other thread; one
 * that is made later sees all that was done before.
 */
ABTI_INLINE bool abti_cas_word(_Atomic(uintptr_t) *word, uintptr_t *expected, uintptr_t desired)
{
    if (!__libc_single_threaded)
        return abti_cas_acq_rel(word, expected, desired);
    uintptr_t now = abti_load_relaxed(word);
    if (now != *expected) {
        *expected = now;
        return false;
    }
    abti_store_relaxed(word, desired);
    return true;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the process has one thread only, so that an atomic read-modify-write needs no lock prefix. */
#ifndef ABTI_LOCK_SINGLE_H
#define ABTI_LOCK_SINGLE_H

#include <stdbool.h>
#include "base/atomic.h"
#include "base/compiler.h"

#if defined(__has_include) && __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#else
#define __libc_single_threaded 0
#endif

/*
 * A compare-and-swap, whose use names its pair. acquire, release: by abti_cas_acq_rel. relaxed: in abti_cas_alone there
 * is no other thread, as the C library says; one that is made later sees all that was done before.
 */
#define abti_cas_word(word, expected, desired)                                                                         \
    (ABTI_LIKELY(__libc_single_threaded) ? abti_cas_alone(word, expected, desired)                                     \
                                         : abti_cas_acq_rel(word, expected, desired))

/*
 * The same on a word that the caller wrote last: to see that it has changed costs less than a swap that fails. relaxed:
 * abti_cas_acq_rel looks again.
 */
#define abti_cas_own_word(word, expected, desired)                                                                     \
    (ABTI_LIKELY(__libc_single_threaded)                                                                               \
         ? abti_cas_alone(word, expected, desired)                                                                     \
         : abti_load_relaxed(word) == *(expected) && abti_cas_acq_rel(word, expected, desired))

#define abti_cas_alone(word, expected, desired)                                                                        \
    ({                                                                                                                 \
        __typeof__(*(expected)) cas_now = abti_load_relaxed(word);                                                     \
        bool cas_same = cas_now == *(expected);                                                                        \
        if (ABTI_LIKELY(cas_same))                                                                                     \
            abti_store_relaxed(word, desired);                                                                         \
        else                                                                                                           \
            *(expected) = cas_now;                                                                                     \
        cas_same;                                                                                                      \
    })

#endif

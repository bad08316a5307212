/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiler dialect: attributes and hints, so that the rest of the tree is plain C11. */
#ifndef ABTI_BASE_COMPILER_H
#define ABTI_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define ABTI_LIKELY(x) __builtin_expect(!!(x), 1)
#define ABTI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ABTI_NOINLINE __attribute__((noinline))
#define ABTI_INLINE static inline __attribute__((always_inline, unused))
#define ABTI_NORETURN __attribute__((noreturn))
#define ABTI_MUST_CHECK __attribute__((warn_unused_result))
#define ABTI_COLD __attribute__((cold, noinline))
/* For variables: -fvisibility=hidden is for definitions only, and elsewhere their address would be loaded first. */
#define ABTI_HIDDEN __attribute__((visibility("hidden")))
#define ABTI_ALIGNED(n) __attribute__((aligned(n)))
#define ABTI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Nothing is known of such a function where it is called, not even that it returns the same the next time. */
#ifdef __clang__
#define ABTI_UNKNOWN __attribute__((noinline, optnone))
#else
#define ABTI_UNKNOWN __attribute__((noipa))
#endif

/*
 * The fields of a structure that are also read together as one number, of which the first has the lowest digits,
 * whatever the order of bytes.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ABTI_LOW_FIRST_2(a, b)                                                                                         \
    a;                                                                                                                 \
    b;
#define ABTI_LOW_FIRST_6(a, b, c, d, e, f)                                                                             \
    a;                                                                                                                 \
    b;                                                                                                                 \
    c;                                                                                                                 \
    d;                                                                                                                 \
    e;                                                                                                                 \
    f;
#else
#define ABTI_LOW_FIRST_2(a, b)                                                                                         \
    b;                                                                                                                 \
    a;
#define ABTI_LOW_FIRST_6(a, b, c, d, e, f)                                                                             \
    f;                                                                                                                 \
    e;                                                                                                                 \
    d;                                                                                                                 \
    c;                                                                                                                 \
    b;                                                                                                                 \
    a;
#endif

/*
 * Functions that change stacks or tell a sanitizer about it must not be instrumented themselves. To clang no_sanitize
 * means that accesses are not looked at: entry and exit are still reported to TSan, the one on another stack than the
 * other. But to MSan, which keeps nothing by stacks, what such a function stores or returns would be uninitialized.
 */
#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define ABTI_NO_SANITIZE __attribute__((no_sanitize("memory")))
#define ABTI_STORED(variable) __msan_unpoison(&(variable), sizeof(variable))
#endif
#endif
#if !defined(ABTI_NO_SANITIZE) && defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define ABTI_NO_SANITIZE __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef ABTI_NO_SANITIZE
#define ABTI_NO_SANITIZE __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

/* MSan does not see that an assembly instruction has stored the variable. */
#ifndef ABTI_STORED
#define ABTI_STORED(variable) ((void)0)
#endif

#define ABTI_CACHE_LINE 64

/*
 * A function that begins a cache line, so that what it costs does not change with what is before it, and that
 * is next to all others of this kind (in .text.hot), so that they do not compete for the same sets of the
 * processor's caches of code: how fast they were depended on where the linker had put them, by 30 % and more.
 */
#define ABTI_HOT ABTI_ALIGNED(ABTI_CACHE_LINE) __attribute__((hot))

/*
 * In a function that calls a unit's function, on a machine whose calls are described for unwinders by directives of the
 * assembler: an exception comes no further than this function, whose frame is another unit's or no unit's. The program
 * gets the name of the unit whose function has been left, and ends (abti_exception_leaves). Costs nothing while there
 * is none.
 */
#ifdef __ELF__
#define ABTI_STOPS_EXCEPTIONS()                                                                                        \
    __asm__ volatile(".cfi_personality 0x1b, abti_exception_leaves\n\t.hidden abti_exception_leaves")
#else
#define ABTI_STOPS_EXCEPTIONS() ((void)0)
#endif

#define ABTI_CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define ABTI_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif

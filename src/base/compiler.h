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
#define ABTI_ALIGNED(n) __attribute__((aligned(n)))
#define ABTI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* From here on the compiler does not know where this pointer came from. */
#define ABTI_FORGET_SOURCE(ptr) __asm__("" : "+r"(ptr))

/*
 * Functions that change stacks or tell a sanitizer about it must not be instrumented themselves. To clang no_sanitize
 * means that accesses are not looked at: entry and exit are still told to TSan, the one on another stack than the
 * other.
 */
#ifdef __has_attribute
#if __has_attribute(disable_sanitizer_instrumentation)
#define ABTI_NO_SANITIZE __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef ABTI_NO_SANITIZE
#define ABTI_NO_SANITIZE __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

#define ABTI_CACHE_LINE 64

/*
 * A function that begins a cache line, so that what it costs does not change with what stands before it, and that
 * stands next to all others of this kind (in .text.hot), so that they do not compete for the same sets of the
 * processor's caches of code: how fast they were depended on where the linker had put them, by 30 % and more.
 */
#define ABTI_HOT ABTI_ALIGNED(ABTI_CACHE_LINE) __attribute__((hot))

#define ABTI_CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define ABTI_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif

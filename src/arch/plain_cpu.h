/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of arch/cpu.h in plain C. An arch_cpu.h includes this file at its end. What the machine does better it
 * has defined before, and has said so by a macro ABTI_CPU_HAS_<NAME>.
 *
 * A thread-local variable: compilers keep the address of one across calls, so also across a switch, after which the
 * caller may be on another thread. A machine whose thread pointer is a register defines
 *
 *   ABTI_CPU_TLS_OFFSET(variable)    where it is, from the thread pointer, by the initial-exec model: it may be kept
 *   char *abti_cpu_thread(void)      the thread pointer, by asm volatile: read anew each time
 *
 * Where there is neither, the variable's function <variable>_at() returns its address, which nothing is known of.
 */
#ifndef ABTI_ARCH_PLAIN_CPU_H
#define ABTI_ARCH_PLAIN_CPU_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "base/atomic.h"
#include "base/build.h"
#include "base/compiler.h"

#if defined(ABTI_CPU_TLS_OFFSET)
#define ABTI_CPU_THREAD_LOCAL(variable)                                                                                \
    (*(__typeof__(variable) *)(void *)(abti_cpu_thread() + ABTI_CPU_TLS_OFFSET(variable)))
#elif !defined(ABTI_CPU_THREAD_LOCAL)
#define ABTI_CPU_THREAD_LOCAL(variable) (*variable##_at())
#endif

#ifndef ABTI_CPU_HAS_INIT
ABTI_INLINE void abti_cpu_init(void)
{
}
#endif

#ifndef ABTI_CPU_HAS_FETCH_TO_WRITE
ABTI_INLINE void abti_cpu_fetch_to_write(const void *p)
{
    __builtin_prefetch(p, 1);
}
#endif

#ifndef ABTI_CPU_HAS_RELAX
ABTI_INLINE void abti_cpu_relax(void)
{
    __asm__ volatile("" : : : "memory");
}
#endif

#ifndef ABTI_CPU_HAS_TICKS
ABTI_INLINE uint64_t abti_cpu_ticks(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
#endif

#ifndef ABTI_CPU_HAS_FPU_RESET
#include <fenv.h>
ABTI_INLINE void abti_cpu_fpu_reset(void)
{
    fesetenv(FE_DFL_ENV);
}
#endif

#ifndef ABTI_CPU_HAS_CODE_AT
ABTI_INLINE uintptr_t abti_cpu_code_at(uintptr_t return_address)
{
    return return_address;
}
#endif

#ifndef ABTI_CPU_HAS_SHADOW_STACK
ABTI_INLINE bool abti_cpu_shadow_stack(void)
{
    return false;
}
#endif

#ifndef ABTI_CPU_HAS_SP
ABTI_INLINE void *abti_cpu_sp(void)
{
    return __builtin_frame_address(0);
}
#endif

#ifndef ABTI_CPU_HAS_ADD
/*
 * relaxed: only the calling thread writes the word. release: pairs with the acquires in blocked_entered, blocked_left
 * and all others that the callers name.
 */
ABTI_INLINE void abti_cpu_add(_Atomic(uint64_t) *p, uint64_t n)
{
    abti_store_release(p, abti_load_relaxed(p) + n);
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the core asks of a processor besides switching contexts; <arch>/arch_cpu.h provides it, by way of
 * arch/plain_cpu.h where plain C is as good as anything.
 */
#ifndef ABTI_ARCH_CPU_H
#define ABTI_ARCH_CPU_H

#include "arch_cpu.h"

/*
 *   ABTI_CTX_BELOW                  bytes of a suspended context's frame that are below its address
 *   ABTI_CTX_RESUMES_AT             where, from that address, the frame has the address that it goes on at
 *   ABTI_CPU_THREAD_LOCAL(v)        the variable v of the native thread that runs now, looked for anew at each access:
 *                                   a ULT may come back from a switch on another one. It is extern, declared with the
 *                                   model "initial-exec"; a function of its name, with _at behind, returns its address
 *   void abti_cpu_init(void)        once per ABT_init: learns what the switch needs to know of the processor
 *   void abti_cpu_relax(void)       hint inside a spin loop
 *   void abti_cpu_fetch_to_write(p) hint: what p points to, which another processor may have, is about to be written
 *   uint64_t abti_cpu_ticks(void)   a count that grows evenly, the same on all processors; for traces
 *   void abti_cpu_fpu_reset(void)   floating-point control words as at the start of a thread
 *   uintptr_t abti_cpu_code_at(r)   the return address r, without a signature that it may have
 *   bool abti_cpu_shadow_stack(void)    the calling thread has a shadow stack (arch/shadow.h)
 *   void *abti_cpu_sp(void)         an address near the top of the current stack
 *   void abti_cpu_add(p, n)         *p += n, for an _Atomic 8-byte *p that only the calling thread writes: one store,
 *                                   with release order
 *   bool abti_cpu_sp_is_above(p)    the same is at *p or above
 *   bool abti_cpu_sp_is_below(p)    the same is below *p
 *   bool abti_cpu_count_down(p)     --*p > 0, 4 bytes, signed; otherwise as abti_cpu_add
 *   bool abti_cpu_count_own(p)      the same for a word that no other thread reads
 *   void abti_cpu_store_byte(p, n)  *p = n, for an _Atomic byte, relaxed
 *
 * What reads or writes memory of others has abti_delay() before and behind it (base/delay.h). Relaxed loads, compared:
 *   bool abti_cpu_is_set(p)         *p != 0, one byte
 *   bool abti_cpu_is_set_2(p)       the same for two bytes
 *   bool abti_cpu_is_equal(p, n)    *p == n, 8 bytes
 *   bool abti_cpu_is_any_set(p)     one of 8 bytes is not 0, which are aligned to two
 *   bool abti_cpu_has_one_of(p, n)  (*p & n) != 0, 4 bytes
 *   bool abti_cpu_has_one_of_1(p, n) the same for one byte
 */

/* They take any pointer, so the size of what it points to is looked at here. */
#define ABTI_CPU_OF_SIZE(p, size)                                                                                      \
    ((void)sizeof(struct {                                                                                             \
         _Static_assert(sizeof(*(p)) == (size), "the instruction has this size");                                      \
         char unused;                                                                                                  \
     }),                                                                                                               \
     (p))

#define abti_cpu_count_down(p) abti_cpu_count_down(ABTI_CPU_OF_SIZE(p, 4))
#define abti_cpu_count_own(p) abti_cpu_count_own(ABTI_CPU_OF_SIZE(p, 4))
#define abti_cpu_is_set(p) abti_cpu_is_set(ABTI_CPU_OF_SIZE(p, 1))
#define abti_cpu_is_set_2(p) abti_cpu_is_set_2(ABTI_CPU_OF_SIZE(p, 2))
#define abti_cpu_is_equal(p, n) abti_cpu_is_equal(ABTI_CPU_OF_SIZE(p, 8), n)
#define abti_cpu_has_one_of(p, n) abti_cpu_has_one_of(ABTI_CPU_OF_SIZE(p, 4), n)
#define abti_cpu_has_one_of_1(p, n) abti_cpu_has_one_of_1(ABTI_CPU_OF_SIZE(p, 1), n)

#endif

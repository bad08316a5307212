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
 */

#endif

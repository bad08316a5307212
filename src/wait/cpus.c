/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/cpus.h"

#include "os/affinity.h"

_Atomic(uint32_t) abti_num_cpus;

/* Native threads may wait for words of a user (ABTX_word_wait) before ABT_init. */
__attribute__((constructor)) static void count_when_loaded(void)
{
    abti_store_relaxed(&abti_num_cpus, abti_affinity_num_allowed()); /* relaxed: see wait/cpus.h */
}

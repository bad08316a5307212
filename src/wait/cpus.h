/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether polls before a sleep may pay. */
#ifndef ABTI_WAIT_CPUS_H
#define ABTI_WAIT_CPUS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/atomic.h"

/*
 * How many CPUs the thread of ABT_init might run on; before, the one that loaded the library. relaxed, everywhere it is
 * used: only time depends on it.
 */
extern _Atomic(uint32_t) abti_num_cpus ABTI_HIDDEN;

/* Whether that number of threads, which wait for each other, can run at the same time. */
ABTI_INLINE bool abti_runs_at_once(uint32_t num)
{
    return num <= abti_load_relaxed(&abti_num_cpus); /* relaxed: see above */
}

#endif

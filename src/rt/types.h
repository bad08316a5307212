/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of the library, whose fields each have a room of their own. */
#ifndef ABTI_RT_TYPES_H
#define ABTI_RT_TYPES_H

#include <abt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ABT_thread_opaque abti_unit; /* unit/unit.h */
typedef struct ABT_pool_opaque abti_pool;   /* pool/pool.h */
typedef struct ABT_sched_opaque abti_sched; /* run/sched.h */
typedef struct ABT_xstream_opaque abti_es;  /* rt/self.h */

#endif

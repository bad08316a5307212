/* SPDX-License-Identifier: BSD-3-Clause */
/* GLT over Qthreads. A thread is a worker; a pool is a shepherd, which has as many workers as threads share the pool.
 */
#ifndef GLT_QTHREADS_H_INCLUDED
#define GLT_QTHREADS_H_INCLUDED

#include <qthread/qthread.h>

#include <glt/generic.h>

/* Words of Qthreads are full or empty. A mutex is full while it is free; a word to wait for is filled at the end. */
typedef aligned_t glt_lower_mutex;
typedef aligned_t glt_lower_word;
typedef aligned_t glt_lower_unit;

#endif

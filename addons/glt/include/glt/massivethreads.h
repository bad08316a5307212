/* SPDX-License-Identifier: BSD-3-Clause */
/* GLT over MassiveThreads. A thread is a worker. Workers steal, so that the number of a thread is a hint. */
#ifndef GLT_MASSIVETHREADS_H_INCLUDED
#define GLT_MASSIVETHREADS_H_INCLUDED

#include <myth/myth.h>

#include <glt/generic.h>

typedef myth_mutex_t glt_lower_mutex;
typedef struct {
    myth_mutex_t mutex;
    myth_cond_t cond;
    int full;
} glt_lower_word;
typedef myth_thread_t glt_lower_unit;

#endif

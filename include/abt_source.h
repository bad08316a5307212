/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources, for libabt and libabtomp only: this header is not installed, and may change with each version. A source is a
 * function that streams ask for work when they have nothing else to run.
 */
#ifndef ABT_SOURCE_H
#define ABT_SOURCE_H

#include <abt.h>

struct abtx_source;

/* What a source gives: the function of a new ULT. */
struct abtx_work {
    void (*func)(void *arg);
    void *arg;
};

/*
 * Asked by a stream that has nothing else to run. ABT_TRUE: the stream makes a ULT of its scheduler's first pool, freed
 * at its end, that calls work->func. It is called on the scheduler's stack, and may make units, set, signal and resume,
 * but neither wait nor yield, nor open or close sources.
 */
typedef ABT_bool (*abtx_source_fn)(void *arg, struct abtx_work *work);

/*
 * Makes a source that one stream asks, until it is closed or the stream is freed. Its ULTs are not migratable, and have
 * stacks of this size: 0 is the default. Errors: MEM.
 */
int ABTX_source_open(abtx_source_fn ask, void *arg, size_t stacksize, ABT_xstream xstream,
                     struct abtx_source **source) ABT_API_PUBLIC;

/* Waits while it is asked, and frees it. */
void ABTX_source_close(struct abtx_source *source) ABT_API_PUBLIC;

#endif

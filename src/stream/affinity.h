/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPUs of execution streams. With config.binds each stream is bound by default: rank r to entry r of the
 * ABT_SET_AFFINITY list, or to the r-th CPU that the process might use at ABT_init. Without it a stream is bound when
 * the user asks for it. Nothing happens unless config.affinity is set. What a default asks for is always within the
 * CPUs of ABT_init; when the system has taken those away since, the stream stays where it is.
 */
#ifndef ABTI_STREAM_AFFINITY_H
#define ABTI_STREAM_AFFINITY_H

#include <stddef.h>
#include "os/affinity.h"
#include "rt/types.h"

/*
 * Notes the CPUs of the calling native thread. Clears config.affinity when the system does not tell them. Returns an
 * ABT code.
 */
int abti_esaffinity_init(void) ABTI_MUST_CHECK;

/* Gives the native thread of the primary ES, the caller, these CPUs back if it was bound. */
void abti_esaffinity_fini(void);

/*
 * Gives the default CPUs of a rank; an empty set where streams are not bound. It comes before all that cannot be
 * undone, since it may find no memory. Returns an ABT code.
 */
int abti_esaffinity_of(int rank, struct abti_cpuset *cpus) ABTI_MUST_CHECK;

/*
 * The same for an ES that is to be made. Where streams are not bound by default, but some are, these are the CPUs of
 * ABT_init: the native thread would inherit those of the stream that makes it.
 */
int abti_esaffinity_of_new(int rank, struct abti_cpuset *cpus) ABTI_MUST_CHECK;

/*
 * Binds the ES, whose native thread exists, to these CPUs, and has its spare threads follow. Returns what
 * abti_affinity_set does; nothing has changed if that is an error.
 */
int abti_esaffinity_set(abti_es *es, const int *cpus, size_t num) ABTI_MUST_CHECK;

/* Gives the ES what one of the two functions of defaults gave, as far as the system lets it, and ends the set. */
void abti_esaffinity_bind(abti_es *es, struct abti_cpuset *cpus);

/* Whether the ES has been bound, by default or by the user. */
bool abti_esaffinity_is_bound(const abti_es *es);

/*
 * Returns whether streams are bound to CPUs: by default, or since somebody has bound one. This is what programs that
 * ask for the affinity learn; a stream can be bound whenever config.affinity is set.
 */
bool abti_esaffinity_is_on(void);

/* Returns the CPUs that were noted. It is called only while config.affinity is set. */
const struct abti_cpuset *abti_esaffinity_allowed(void);

#endif

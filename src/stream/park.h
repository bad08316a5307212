/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping because it has no work: of a stream, until there is something to run or to look at, and of any native thread
 * that waits for a unit of one pool.
 */
#ifndef ABTI_STREAM_PARK_H
#define ABTI_STREAM_PARK_H

#include <stdint.h>
#include "pool/parking.h"
#include "sync/wordq.h"

/*
 * Sleeps, as the native thread of `es`, until a unit is pushed to one of the scheduler's pools, something is asked of
 * it, or the deadline or that of one of its timers has passed. Returns at once when there is something to do.
 */
void abti_es_park(abti_es *es, abti_sched *sched, uint64_t deadline_ns);

/* Sleeps on the pools of the set in place of the scheduler's. */
void abti_es_park_on(abti_es *es, abti_sched *sched, const struct abti_park_set *set, uint64_t deadline_ns);

/*
 * The ES is about to leave, by a jump, a user-defined function that may have been called in the midst of such a sleep:
 * the wait of a driver, or a function of a pool. It leaves now the lists that it has entered for that.
 */
void abti_es_leave_park(abti_es *es);

/*
 * Sleeps, as any native thread, until it has got a unit by the pool's own pop. NULL: the deadline, which is monotonic,
 * has passed.
 */
abti_unit *abti_park_pop(abti_pool *pool, uint64_t deadline_ns, ABT_pool_context context);

/*
 * The waiting pop of any pool that has one (abti_pool_can), for a number of seconds. A built-in pool has none of its
 * own: there the native thread sleeps here, and is woken for the timers of its ES, too.
 */
abti_unit *abti_wait_for_unit(abti_pool *pool, double secs, ABT_pool_context context);

/* The waiting pop until a time on the scale of ABT_get_wtime. */
abti_unit *abti_wait_for_unit_until(abti_pool *pool, double wtime);

/*
 * The dock: where a stream sleeps whose unit blocks it, at a word of the program, while drivers are on it. There it
 * starts, calls and ends drivers, as it is asked, and calls the wait of one in place of sleep. It runs no unit.
 */
extern const struct abti_word_dock abti_es_dock ABTI_HIDDEN;

#endif

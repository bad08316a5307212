/* A stream without work sleeps. */
#ifndef ABTI_STREAM_PARK_H
#define ABTI_STREAM_PARK_H

#include <stdint.h>
#include "pool/parking.h"

/*
 * The native thread of `es` sleeps until a unit is pushed to one of the scheduler's pools, a request, or the deadline.
 * Returns at once when there is something to do. abti_es_park_on: to one of the set's pools.
 */
void abti_es_park(abti_es *es, abti_sched *sched, uint64_t deadline_ns);

void abti_es_park_on(abti_es *es, abti_sched *sched, const struct abti_park_set *set, uint64_t deadline_ns);

/*
 * Waits for a unit in one pool, on behalf of a native thread, with the pool's own pop. The deadline is monotonic.
 */
abti_unit *abti_park_pop(abti_pool *pool, uint64_t deadline_ns, ABT_pool_context context);

/*
 * Waiting pops, of any pool that has them (abti_pool_can): so many seconds, or until a time on the scale of
 * ABT_get_wtime. At a built-in pool the native thread sleeps until a push; it is woken for its timers, too, which is
 * why they stand here.
 */
abti_unit *abti_wait_for_unit(abti_pool *pool, double secs, ABT_pool_context context);

abti_unit *abti_wait_for_unit_until(abti_pool *pool, double wtime);

#endif

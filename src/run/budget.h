/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event budget of an ES: how many units may run before an event check is due. Each unit that begins or goes on
 * takes one from it. When none is left, the ES checks events, or sees that there is nothing to look at
 * (abti_renew_budget in run/sched.h), and the budget is filled again. It belongs to the ES's native thread alone.
 * Below 0 a check is due; failed attempts to take from it leave it there, after each of which it is filled soon.
 */
#ifndef ABTI_RUN_BUDGET_H
#define ABTI_RUN_BUDGET_H

#include "arch/cpu.h"
#include "base/assert.h"
#include "rt/self.h"

/* Lets as many units run from now on as the scheduler's event_freq says. */
ABTI_INLINE void abti_budget_fill(abti_es *es, uint32_t event_freq)
{
    abti_assert(event_freq > 0 && event_freq <= INT32_MAX);
    es->budget = (int32_t)event_freq - 1;
}

/* Makes a check due at once. */
ABTI_INLINE void abti_budget_exhaust(abti_es *es)
{
    es->budget = -1;
}

/*
 * Takes one unit from the budget, which may run. False: it was the last one, or there was none, and a check is due
 * first.
 */
ABTI_INLINE bool abti_budget_take(abti_es *es)
{
    return --es->budget >= 0; /* compilers make one instruction of it, and none of a comparison with > */
}

/* Whether the next abti_budget_take would return true. */
ABTI_INLINE bool abti_budget_allows(const abti_es *es)
{
    return es->budget > 0;
}

/* Takes one unit from the budget, which allows it. */
ABTI_INLINE void abti_budget_count(abti_es *es)
{
    abti_assert(es->budget >= 0);
    es->budget--;
}

/* Takes one unit from the budget, if there is any left: nobody fills it for a user's scheduler. */
ABTI_INLINE void abti_budget_count_left(abti_es *es)
{
    if (es->budget >= 0)
        es->budget--;
}

/* Makes the next check due earlier by `units`, but not at once. */
ABTI_INLINE void abti_budget_shorten(abti_es *es, uint32_t units)
{
    abti_assert(es->budget >= 0 && units <= INT32_MAX);
    if (es->budget >= (int32_t)units)
        es->budget -= (int32_t)units;
}

/* Whether a check is due. */
ABTI_INLINE bool abti_budget_is_exhausted(const abti_es *es)
{
    return es->budget < 0;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/rounds.h"

#include "arch/cpu.h"
#include "wait/cpus.h"

/*
 * How often a thread polls before it sleeps, for each of the others: as long as their wakes take, one after another.
 * The last one, which wakes them, comes to the next round that much later; a thread that polls for less sleeps again by
 * then, and so for ever. Polls that learn to be fewer take twice as long on a busy machine. LEAST: of a few threads one
 * that has lost its CPU for a moment is not to send the others to sleep. MOST is about a millisecond.
 */
enum { SPINS_FOR_EACH = 400, LEAST_SPINS = 1600, MOST_SPINS = 60000, SPINS_BETWEEN = 16 };

bool abti_round_spin(const _Atomic(uint32_t) *rounds, uint32_t round, uint32_t num, bool (*may_spin)(const void *arg),
                     const void *arg)
{
    uint32_t polls = num < MOST_SPINS / SPINS_FOR_EACH ? SPINS_FOR_EACH * (num - 1) : MOST_SPINS, now;
    polls = polls > LEAST_SPINS ? polls : LEAST_SPINS;
    for (uint32_t i = 0; i < polls; i++) {
        if (abti_round_is_over(rounds, round, &now))
            return true;
        if (i % SPINS_BETWEEN == SPINS_BETWEEN - 1 && may_spin && !may_spin(arg))
            return false;
        abti_cpu_relax();
    }
    return false;
}

bool abti_round_await_soon(const _Atomic(uint32_t) *rounds, uint32_t round, uint32_t num,
                           struct abti_adaptive *adaptive, uint32_t *learnt)
{
    *learnt = ABTI_LEARNT_BEFORE;
    if (abti_runs_at_once(num))
        return abti_round_spin(rounds, round, num, NULL, NULL);
    uint32_t now; /* it is behind `round` as long as the last one of an earlier round has not counted yet */
    do {
        if (abti_round_is_over(rounds, round, &now))
            return true;
    } while (abti_group_await_soon(adaptive, round, rounds, now, num, NULL, learnt));
    return false;
}

void abti_round_sleep(_Atomic(uint32_t) *rounds, uint32_t round, struct abti_adaptive *adaptive, uint32_t learnt)
{
    uint32_t now;
    while (!abti_round_is_over(rounds, round, &now))
        abti_group_sleep(adaptive, learnt, rounds, now);
}

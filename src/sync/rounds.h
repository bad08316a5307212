/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How threads that meet again and again wait for the end of a round. The last one to come counts the round up, with
 * release; the others poll the count, and sleep on it as a futex word. The first round is 0.
 */
#ifndef ABTI_SYNC_ROUNDS_H
#define ABTI_SYNC_ROUNDS_H

#include "wait/group.h"

/* Whether the round is over; *now is the count. acquire: pairs with abti_barrier_meet and abti_xbarrier_wait */
ABTI_INLINE bool abti_round_is_over(const _Atomic(uint32_t) *rounds, uint32_t round, uint32_t *now)
{
    *now = abti_load_acquire(rounds);
    return (int32_t)(*now - round) > 0;
}

/*
 * Spins until the end of a round of `num` threads that can run at the same time, or until may_spin(arg), which is
 * called now and then, returns false. NULL: it is never called. False: the caller is to sleep or to block.
 */
bool abti_round_spin(const _Atomic(uint32_t) *rounds, uint32_t round, uint32_t num, bool (*may_spin)(const void *arg),
                     const void *arg);

/* Polls, or gives way in a group of more threads than there are CPUs. False: *learnt is for abti_round_sleep. */
bool abti_round_await_soon(const _Atomic(uint32_t) *rounds, uint32_t round, uint32_t num,
                           struct abti_adaptive *adaptive, uint32_t *learnt);

/* Sleeps until the round is over. The caller has announced its sleep to the threads that may end it. */
void abti_round_sleep(_Atomic(uint32_t) *rounds, uint32_t round, struct abti_adaptive *adaptive, uint32_t learnt);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drivers with one leader: of the streams that such a driver is attached to, one at a time calls its poll and its wait,
 * the leader; the others, its followers, sleep when they have nothing to run.
 *
 * driver->leader is the index of the leader, or 0, and a bit that says whether it is in a callback now:
 *
 *   0 -> L, calling              by a stream L at an event check
 *   L -> L, calling -> L         by the leader, around each callback
 *   L -> F, calling              by a follower F that has seen no callback for long: L runs a long unit
 *   L -> F, calling              by a ULT of F that looks at once
 *   L -> F                       by a ULT of F that wants the lead; if L is calling it leaves its index in
 *                                driver->next_leader, and L, calling -> F is what ends the callback
 *   L -> 0                       by the leader, when it runs something, or ends
 *
 * So callbacks of different streams never overlap, and the acquire that begins one pairs with the release that ended
 * the one before. When a stream gives up the lead, the next event check of any stream finds the driver without a
 * leader, or the poll of one that sleeps, after ABTI_LEADER_POLL_NS.
 */
#ifndef ABTI_IDLE_LEADER_H
#define ABTI_IDLE_LEADER_H

#include "idle/idle.h"

enum {
    ABTI_LEADER_POLL_NS = 4000000,     /* an idle follower polls so often whether the leader is at work */
    ABTI_LEADER_PATIENCE_NS = 1000000, /* so long without a callback, or twice as long as the leader may sleep, and a
                                          follower takes the lead */
};

/* Whether the ES, which may have become the leader, may call a callback of the driver now. abti_leader_leave follows.
 */
bool abti_leader_enter(abti_es *es, struct abti_callee *c);
void abti_leader_leave(abti_es *es, struct abti_callee *c);

/* Whether the ES has entered a callback of the driver and not left it. */
bool abti_leader_is_calling(abti_es *es, struct abti_callee *c);

/* The same for a ULT of the ES that is to poll now: it takes the lead from a stream that is not in a callback. */
bool abti_leader_enter_at_once(abti_es *es, struct abti_callee *c);

/*
 * The ES becomes the leader: at once, and this returns 0; or when the callback returns in which another stream is,
 * whose index this returns, for that to be woken.
 */
uint32_t abti_leader_claim(abti_es *es, struct abti_callee *c);

/* Gives up the lead, if the ES has it. */
void abti_leader_resign(abti_es *es, struct abti_callee *c);

/* The ES is going to run something. */
void abti_leaders_give_up(abti_es *es);

ABTI_INLINE void abti_leaders_go_busy(abti_es *es)
{
    if (ABTI_UNLIKELY(es->idle->leads))
        abti_leaders_give_up(es);
}

#endif

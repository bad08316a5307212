/* SPDX-License-Identifier: BSD-3-Clause */
/* How members wait for each other. */
#include "ompt/tool.h"
#include "task/tasks.h"

bool abtomp_barrier_pass(struct abtomp_member *me, bool may_be_cancelled)
{
    struct abtomp_team *team = me->team;
    int num = team->num;
    /* relaxed: it changes only when this member has arrived, too */
    uint32_t passed = atomic_load_explicit(&team->barriers, memory_order_relaxed);
    if (ABTOMP_UNLIKELY(may_be_cancelled && (passed & ABTOMP_BARRIER_CANCELLED)))
        return false; /* the word would not change any more */
    /* acq_rel: pairs with itself, in abtomp_barrier: the last one sees what each member has done before */
    if (atomic_fetch_add_explicit(abtomp_arrived(team), 1, memory_order_acq_rel) + 1 < (uint32_t)num) {
        if (!(passed & ABTOMP_BARRIER_TASKS))
            abtomp_wait(&team->barriers, passed, team, num);
        /* acquire: pairs with the release below, and with that in barrier_is_passed: threads that pass have seen the
         * ends of all tasks, also of those that ended after this member arrived */
        if (ABTOMP_UNLIKELY((atomic_load_explicit(&team->barriers, memory_order_acquire) ^ passed) <
                            ABTOMP_BARRIER_ONE))
            return abtomp_crew_barrier(me, passed, may_be_cancelled);
        return true;
    }
    /*
     * Others, which wait among tasks, may have passed the barrier already, and have closed the crew: then nobody is
     * here any more, or as many as have come to the next one. acquire: pairs with the release in abtomp_crew_close.
     * relaxed: what is seen of others is enough
     */
    if (atomic_load_explicit(&team->has_tasks, memory_order_acquire) ||
        ABTOMP_UNLIKELY(atomic_load_explicit(abtomp_arrived(team), memory_order_relaxed) != (uint32_t)num))
        return abtomp_crew_barrier(me, passed, may_be_cancelled);
    /* relaxed, all: the next store publishes them */
    atomic_store_explicit(abtomp_arrived(team), 0, memory_order_relaxed);
    if (ABTOMP_UNLIKELY(atomic_load_explicit(&team->cancelled, memory_order_relaxed) != 0))
        atomic_store_explicit(&team->cancelled, 0, memory_order_relaxed);
    /* release: pairs with the acquire in is_changed: and so do all others */
    atomic_store_explicit(&team->barriers, passed + ABTOMP_BARRIER_ONE, memory_order_release);
    abtomp_wake(&team->barriers);
    return true;
}

void abtomp_barrier_alone(struct abtomp_member *me)
{
    abtomp_tasks_drain(me);
    /* relaxed: nobody else uses it */
    atomic_fetch_and_explicit(&me->team->cancelled, ~(uint32_t)ABTOMP_CANCELLED_SHARE, memory_order_relaxed);
}

static inline void meet_others(struct abtomp_member *me)
{
    if (me->team->num == 1)
        abtomp_barrier_alone(me);
    else
        (void)abtomp_barrier_pass(me, false);
}

static bool meet_viewed(struct abtomp_member *me)
{
    meet_others(me);
    return true;
}

void abtomp_barrier(struct abtomp_member *me)
{
    if (abtomp_is_observed())
        (void)abtomp_tool_sync(me, abtomp_tool_barrier_kind(), meet_viewed);
    else
        meet_others(me);
}

/*
 * The first that comes to the construct counts it. A member that finds others ahead of it passes those constructs
 * without another poll, so that it does not take the line from them at each.
 */
static inline bool take_single(struct abtomp_member *me)
{
    struct abtomp_team *team = me->team;
    if (team->num == 1)
        return true;
    uint64_t met = me->num_singles++;
    if (me->taken_singles > met)
        return false;
    /* relaxed, both: what the first one does is published by the barrier at the end, if there is one */
    uint64_t taken = met;
    if (atomic_compare_exchange_strong_explicit(&team->singles, &taken, met + 1, memory_order_relaxed,
                                                memory_order_relaxed))
        return true;
    me->taken_singles = taken;
    return false;
}

static __attribute__((noinline)) bool take_viewed(struct abtomp_member *me)
{
    bool is_mine = take_single(me);
    abtomp_tool_single(me, is_mine);
    return is_mine;
}

bool abtomp_single(struct abtomp_member *me)
{
    return abtomp_is_observed() ? take_viewed(me) : take_single(me);
}

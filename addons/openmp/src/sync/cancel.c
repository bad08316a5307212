/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancellation, with OMP_CANCELLATION.
 *
 * Of a region: members that come to a barrier do not arrive any more, and those that wait there go on. So a barrier is
 * passed by all, or by none. What is left of it is removed when all members are back. Of a loop or of sections: the
 * next barrier, at which it ends, ends the cancellation, too. Of a task group: see abtomp_task_is_cancelled.
 */
#include "loop/share.h"
#include "ompt/tool.h"
#include "task/tasks.h"

/* The group that a task of the member belongs to, and not one that a construct has only for its reductions. */
static struct abtomp_group *group_of(const struct abtomp_member *me)
{
    struct abtomp_group *group = me->group;
    while (group && group->is_construct)
        group = group->outer;
    return group;
}

/* acquire: pairs with the releases in cancel_region and cancel_share */
static uint32_t read_cancelled(const struct abtomp_team *team)
{
    return atomic_load_explicit(&team->cancelled, memory_order_acquire);
}

static bool find_cancelled(struct abtomp_member *me, enum abtomp_cancellable which)
{
    uint32_t cancelled = read_cancelled(me->team);
    if (which == ABTOMP_CANCEL_SHARE)
        return cancelled != 0;
    if (which == ABTOMP_CANCEL_GROUP)
        return abtomp_task_is_cancelled(me, group_of(me)) || (cancelled & ABTOMP_CANCELLED_REGION);
    return cancelled & ABTOMP_CANCELLED_REGION;
}

/* What the tool is told: functions of compilers note what they cancel, since loops and sections are one here. */
static void tell_cancelled(struct abtomp_member *me, enum abtomp_cancellable which, int how)
{
    int kind = which == ABTOMP_CANCEL_REGION  ? ompt_cancel_parallel
               : which == ABTOMP_CANCEL_GROUP ? ompt_cancel_taskgroup
                                              : abtomp_call.kind;
    abtomp_tool_cancel(me, kind | how);
}

bool abtomp_is_cancelled(struct abtomp_member *me, enum abtomp_cancellable which)
{
    bool is_cancelled = abtomp_env.cancels && find_cancelled(me, which);
    if (is_cancelled && abtomp_is_observed())
        tell_cancelled(me, which, ompt_cancel_detected);
    return is_cancelled;
}

static void cancel_region(struct abtomp_team *team)
{
    /* release: pairs with the acquire in read_cancelled */
    atomic_fetch_or_explicit(&team->cancelled, ABTOMP_CANCELLED_REGION, memory_order_release);
    if (team->num == 1)
        return;
    /* release: pairs with the acquire in abtomp_barrier_is_cancelled */
    atomic_fetch_or_explicit(&team->barriers, ABTOMP_BARRIER_CANCELLED, memory_order_release);
    abtomp_wake(&team->barriers);
    abtomp_bell_ring(team);
}

static void cancel_share(struct abtomp_team *team)
{
    /* release: pairs with the acquire in read_cancelled */
    atomic_fetch_or_explicit(&team->cancelled, ABTOMP_CANCELLED_SHARE, memory_order_release);
}

bool abtomp_cancel(struct abtomp_member *me, enum abtomp_cancellable which)
{
    if (!abtomp_env.cancels)
        return false;
    if (abtomp_is_observed())
        tell_cancelled(me, which, ompt_cancel_activated);
    if (which == ABTOMP_CANCEL_SHARE) {
        cancel_share(me->team);
    } else if (which == ABTOMP_CANCEL_GROUP) {
        struct abtomp_group *group = group_of(me);
        if (group)
            /* relaxed: as in abtomp_task_is_cancelled */
            atomic_store_explicit(&group->is_cancelled, true, memory_order_relaxed);
    } else {
        cancel_region(me->team);
    }
    return true;
}

static inline bool meet_until_cancelled(struct abtomp_member *me)
{
    struct abtomp_team *team = me->team;
    if (team->num == 1) {
        abtomp_barrier_alone(me);
        /* relaxed: this member alone writes it */
        return atomic_load_explicit(&team->cancelled, memory_order_relaxed) & ABTOMP_CANCELLED_REGION;
    }
    return !abtomp_barrier_pass(me, true);
}

static bool meet_viewed(struct abtomp_member *me)
{
    return meet_until_cancelled(me);
}

bool abtomp_barrier_cancel(struct abtomp_member *me)
{
    if (abtomp_is_observed())
        return abtomp_tool_sync(me, abtomp_tool_barrier_kind(), meet_viewed);
    return meet_until_cancelled(me);
}

void abtomp_cancel_clear(struct abtomp_team *team)
{
    /* relaxed, all: no member is in a region */
    atomic_store_explicit(&team->cancelled, 0, memory_order_relaxed);
    atomic_store_explicit(abtomp_arrived(team), 0, memory_order_relaxed);
    atomic_fetch_and_explicit(&team->barriers, ~(uint32_t)ABTOMP_BARRIER_CANCELLED, memory_order_relaxed);
    abtomp_shares_clear(team);
}

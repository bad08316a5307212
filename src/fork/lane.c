/* SPDX-License-Identifier: BSD-3-Clause */
#include "fork/lane.h"

#include "os/annotate.h"

/* All slots are below it, so that the owner takes its slow ways. */
static uintptr_t above_all(struct abti_lane *lane)
{
    return (uintptr_t)lane + ABTX_LANE_BYTES;
}

/*
 * Slots below the limit are public or stolen. No request is lost: the owner stores its limit and then looks at the
 * request, a thief stores the request and then its limit, both with a seq_cst fence between. If the owner's fence comes
 * first the thief's limit comes after the owner's, and stays; otherwise the owner sees the request. relaxed: the fences
 * order them.
 */
static void set_limit(struct abti_lane *lane, uint32_t split)
{
    /* relaxed, all three: as said above */
    abti_store_relaxed(&lane->limit, (uintptr_t)&lane->slots[split]);
    /* seq_cst: pairs with the fence in abti_lane_ask */
    abti_fence_seq_cst();
    if (abti_load_relaxed(&lane->request))
        abti_store_relaxed(&lane->limit, above_all(lane));
}

void abti_lane_ask(struct abti_lane *lane)
{
    /* relaxed: who has set it sets the limit, too; and as said at set_limit */
    if (abti_load_relaxed(&lane->request))
        return;
    abti_store_relaxed(&lane->request, 1);
    /* seq_cst: pairs with the fence in set_limit */
    abti_fence_seq_cst();
    abti_store_relaxed(&lane->limit, above_all(lane));
}

void abti_lane_begin(struct abti_lane *lane, bool is_closed)
{
    lane->split = 0;
    lane->is_closed = is_closed;
    abti_store_relaxed(&lane->public_part, 0); /* relaxed, as below: there is nothing to be found behind it */
    abti_store_relaxed(&lane->request, 0);
    set_limit(lane, 0);
}

/* The tasks before `split` become public. relaxed: the owner alone moves the split. */
static void move_split_up(struct abti_lane *lane, uint32_t split)
{
    for (uint32_t i = lane->split; i < split; i++) {
        abti_store_relaxed(abti_task_state(lane->slots[i]), ABTI_TASK_RUNS); /* relaxed: the swap publishes it */
        abti_annotate_release(lane->slots[i]);                               /* abti_fork_run_stolen acquires it */
    }
    uint64_t part = abti_load_relaxed(&lane->public_part); /* relaxed: only the swap decides */
    /* release: pairs with the acquire in abti_lane_steal. A thief sees the slots, the tasks and their arguments. */
    while (!abti_cas_release(&lane->public_part, &part, abti_lane_pack(abti_lane_tail(part), split)))
        ;
    lane->split = split;
    abti_store_relaxed(&lane->request, 0); /* relaxed: one that comes meanwhile is served by this, too */
    set_limit(lane, split);
}

bool abti_lane_publish(struct abti_lane *lane, uint32_t top)
{
    uint32_t split = lane->split;
    if (top <= split || lane->is_closed) {
        if (lane->is_closed)
            abti_store_relaxed(&lane->request, 0); /* relaxed: as in move_split_up */
        /* relaxed: one that comes meanwhile sets the limit anew. A request stays until there is something to give. */
        if (!abti_load_relaxed(&lane->request))
            set_limit(lane, split);
        return false;
    }
    move_split_up(lane, split + (top - split + 1) / 2);
    return true;
}

/* From the split on first come all the tasks and then NULLs: in steps that double until it has passed the top. */
uint32_t abti_lane_top(struct abti_lane *lane)
{
    uint32_t top = lane->split, end = ABTI_LANE_SLOTS, step = 1;
    while (top < end && lane->slots[top]) {
        uint32_t next = top + step;
        if (next >= end || !lane->slots[next]) {
            end = next < end ? next : end;
            step = 1;
            top++;
        } else {
            top = next;
            step *= 2;
        }
    }
    return top;
}

bool abti_lane_publish_all(struct abti_lane *lane)
{
    uint32_t top = abti_lane_top(lane);
    if (top == lane->split)
        return false;
    move_split_up(lane, top);
    return true;
}

bool abti_lane_take_back(struct abti_lane *lane, uint32_t index)
{
    abti_assert(index + 1 == lane->split);
    uint64_t part = abti_load_relaxed(&lane->public_part); /* relaxed: only the swap decides */
    while (abti_lane_tail(part) <= index) {
        uint32_t tail = abti_lane_tail(part), split = tail + (index - tail + 1) / 2;
        /* relaxed: what a thief has stolen before is not looked at, and the tasks that come back are the owner's own */
        if (abti_cas_relaxed(&lane->public_part, &part, abti_lane_pack(tail, split))) {
            lane->split = split;
            set_limit(lane, split);
            return true;
        }
    }
    return false;
}

/* All tasks before it were stolen, too, since thieves take the oldest. relaxed: nobody steals from what is not public.
 */
void abti_lane_forget(struct abti_lane *lane, uint32_t index)
{
    abti_store_relaxed(&lane->public_part, abti_lane_pack(index, index));
    lane->split = index;
    set_limit(lane, index);
}

struct abtx_task *abti_lane_steal(struct abti_lane *lane)
{
    uint64_t part = abti_load_relaxed(&lane->public_part); /* relaxed: only the swap decides */
    while (abti_lane_tail(part) < abti_lane_split(part)) {
        uint32_t tail = abti_lane_tail(part), split = abti_lane_split(part);
        /* acquire: pairs with the release in move_split_up */
        if (abti_cas_acquire(&lane->public_part, &part, abti_lane_pack(tail + 1, split)))
            return lane->slots[tail];
    }
    return NULL;
}

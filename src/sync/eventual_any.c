/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for any of several eventuals: a branch of the waiter is in the queue of each. The caller that sets one of
 * them claims the waiter and wakes it, as if it waited for that one alone; the waiter then takes the other branches
 * out. A setter touches the waiter and its branches under its eventual's lock only, and after its claim the waiter
 * alone, to wake it: when the waiter has been woken and has had each lock, nobody knows of its frame any more.
 */
#include <stdlib.h>
#include "sync/eventual.h"

/* So many branches are stored on the stack. */
enum { FEW = 16 };

/* Queues a branch for each eventual, up to the first that is ready, whose index is returned; num: there is none. */
static int enter_each(struct abti_waiter *trunk, struct abti_branch *branches, int num, ABT_eventual *eventuals)
{
    for (int i = 0; i < num; i++) {
        ABT_eventual eventual = eventuals[i];
        if (abti_eventual_is_null(eventual))
            continue;
        abti_branch_init(&branches[i], trunk);
        if (!abti_gate_enter(&eventual->gate, &branches[i].base))
            return i;
        abti_spin_unlock(&eventual->gate.lock);
    }
    return num;
}

/* Takes out what is left of the first num branches. Returns the first whose eventual is ready now; num: there is none.
 */
static int leave_each(struct abti_branch *branches, int num, ABT_eventual *eventuals)
{
    int first = num;
    for (int i = num - 1; i >= 0; i--) {
        if (!abti_eventual_is_null(eventuals[i]) && abti_gate_forget(&eventuals[i]->gate, &branches[i].base))
            first = i;
    }
    return first;
}

static int wait_branches(struct abti_waiter *trunk, struct abti_branch *branches, int num, ABT_eventual *eventuals,
                         uint64_t deadline_ns)
{
    abti_waiter_open(trunk);
    int ready = enter_each(trunk, branches, num, eventuals);
    bool woken = abti_waiter_await(trunk, ready < num ? 0 : deadline_ns);
    int entered = ready, late = leave_each(branches, entered, eventuals);
    if (woken)
        return (int)(ABTI_CONTAINER_OF(trunk->prev, struct abti_branch, base) - branches);
    return late < entered ? late : ready;
}

int abti_eventual_find_ready(int num, ABT_eventual *eventuals)
{
    for (int i = 0; i < num; i++) {
        if (!abti_eventual_is_null(eventuals[i]) && abti_gate_is_open(&eventuals[i]->gate))
            return i;
    }
    return num;
}

int abti_eventual_wait_any(int num, ABT_eventual *eventuals, uint64_t deadline_ns, int *index)
{
    struct abti_branch few[FEW], *branches = few;
    struct abti_waiter trunk;
    if (num > FEW) {
        branches = malloc((size_t)num * sizeof(*branches));
        if (!branches)
            return ABT_ERR_MEM;
    }
    abti_waiter_init(&trunk, ABT_SYNC_EVENT_TYPE_EVENTUAL, NULL);
    *index = wait_branches(&trunk, branches, num, eventuals, deadline_ns);
    if (branches != few)
        free(branches);
    abti_waiter_finish(&trunk);
    return ABT_SUCCESS;
}

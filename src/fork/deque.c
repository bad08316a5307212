/* SPDX-License-Identifier: BSD-3-Clause */
#include "fork/deque.h"

#include "os/annotate.h"

/* All entries are below it, so that the owner takes its slow paths. */
static uintptr_t above_all(struct abti_deque *deque)
{
    return (uintptr_t)deque + ABTX_DEQUE_BYTES;
}

/*
 * Slots below the limit are public or stolen. No request is lost: the owner stores its limit and then looks at the
 * request, a thief stores the request and then its limit, both with a seq_cst fence between. If the owner's fence comes
 * first the thief's limit comes after the owner's, and stays; otherwise the owner sees the request. relaxed: the fences
 * order them.
 */
static void set_limit(struct abti_deque *deque, uint32_t split)
{
    /* relaxed, all three: as said above */
    abti_store_relaxed(&deque->limit, (uintptr_t)&deque->entries[split]);
    /* seq_cst: pairs with the fence in abti_deque_ask */
    abti_fence_seq_cst();
    if (abti_load_relaxed(&deque->request))
        abti_store_relaxed(&deque->limit, above_all(deque));
}

void abti_deque_ask(struct abti_deque *deque)
{
    /* relaxed: the thread that sets it sets the limit, too; and as said at set_limit */
    if (abti_load_relaxed(&deque->request))
        return;
    abti_store_relaxed(&deque->request, 1);
    /* seq_cst: pairs with the fence in set_limit */
    abti_fence_seq_cst();
    abti_store_relaxed(&deque->limit, above_all(deque));
}

void abti_deque_begin(struct abti_deque *deque, bool is_closed)
{
    deque->split = 0;
    deque->is_closed = is_closed;
    deque->home = NULL;
    abti_store_relaxed(&deque->public_part, 0); /* relaxed, as below: there is nothing to be found behind it */
    abti_store_relaxed(&deque->request, 0);
    set_limit(deque, 0);
}

/* The tasks before `split` become public. relaxed: the owner alone moves the split. */
static void move_split_up(struct abti_deque *deque, uint32_t split)
{
    for (uint32_t i = deque->split; i < split; i++) {
        abti_store_relaxed(abti_task_state(deque->entries[i]), ABTI_TASK_RUNS); /* relaxed: the swap publishes it */
        abti_annotate_release(deque->entries[i]);                               /* abti_fork_run_stolen acquires it */
    }
    uint64_t part = abti_load_relaxed(&deque->public_part); /* relaxed: only the swap decides */
    /* release: pairs with the acquire in abti_deque_steal. A thief sees the entries, the tasks and their arguments. */
    while (!abti_cas_release(&deque->public_part, &part, abti_deque_pack(abti_deque_tail(part), split)))
        ;
    deque->split = split;
    abti_store_relaxed(&deque->request, 0); /* relaxed: one that comes meanwhile is served by this, too */
    set_limit(deque, split);
}

bool abti_deque_publish(struct abti_deque *deque, uint32_t top)
{
    uint32_t split = deque->split;
    if (top <= split || deque->is_closed) {
        if (deque->is_closed)
            abti_store_relaxed(&deque->request, 0); /* relaxed: as in move_split_up */
        /* relaxed: one that comes meanwhile sets the limit anew. A request stays until there is something to give. */
        if (!abti_load_relaxed(&deque->request))
            set_limit(deque, split);
        return false;
    }
    move_split_up(deque, split + (top - split + 1) / 2);
    return true;
}

/* From the split on first come all the tasks and then NULLs: in steps that double until it has passed the top. */
uint32_t abti_deque_top(struct abti_deque *deque)
{
    uint32_t top = deque->split, end = ABTI_DEQUE_ENTRIES, step = 1;
    while (top < end && deque->entries[top]) {
        uint32_t next = top + step;
        if (next >= end || !deque->entries[next]) {
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

bool abti_deque_publish_all(struct abti_deque *deque)
{
    uint32_t top = abti_deque_top(deque);
    if (top == deque->split)
        return false;
    move_split_up(deque, top);
    return true;
}

bool abti_deque_take_back(struct abti_deque *deque, uint32_t index)
{
    abti_assert(index + 1 == deque->split);
    uint64_t part = abti_load_relaxed(&deque->public_part); /* relaxed: only the swap decides */
    while (abti_deque_tail(part) <= index) {
        uint32_t tail = abti_deque_tail(part), split = tail + (index - tail + 1) / 2;
        /* relaxed: earlier stolen tasks are not read, and the tasks that come back are the owner's own */
        if (abti_cas_relaxed(&deque->public_part, &part, abti_deque_pack(tail, split))) {
            deque->split = split;
            set_limit(deque, split);
            return true;
        }
    }
    return false;
}

/* All tasks before it were stolen, too, since thieves take the oldest. relaxed: nobody steals from what is not public.
 */
void abti_deque_forget(struct abti_deque *deque, uint32_t index)
{
    abti_store_relaxed(&deque->public_part, abti_deque_pack(index, index));
    deque->split = index;
    set_limit(deque, index);
}

struct abtx_task *abti_deque_steal(struct abti_deque *deque)
{
    uint64_t part = abti_load_relaxed(&deque->public_part); /* relaxed: only the swap decides */
    while (abti_deque_tail(part) < abti_deque_split(part)) {
        uint32_t tail = abti_deque_tail(part), split = abti_deque_split(part);
        /* acquire: pairs with the release in move_split_up */
        if (abti_cas_acquire(&deque->public_part, &part, abti_deque_pack(tail + 1, split)))
            return deque->entries[tail];
    }
    return NULL;
}

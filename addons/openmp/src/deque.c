/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deques of tasks. The owner's part needs no atomic access, since nobody else reads it: not its slots, nor `top`. What
 * moves `split` holds the lock, and so has who reads a public slot, so that the lock orders what a task is with who
 * takes it. Thieves take the oldest tasks, which are the largest in most programs; they look at num_public before.
 *
 * The owner may be away for long, in a task or in the program, so that each time before that as many tasks are public
 * as there are other members, and half of them at least if it runs one of them.
 */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024, MOST_SLOTS = 1 << 24, ENOUGH = 512 };

bool abtomp_deque_init(struct abtomp_deque *deque)
{
    deque->slots = malloc(FIRST_SLOTS * sizeof(deque->slots[0]));
    deque->mask = FIRST_SLOTS - 1;
    return deque->slots != NULL;
}

bool abtomp_deque_grow(struct abtomp_deque *deque)
{
    bool has_room = true;
    abtomp_mutex_lock(&deque->lock);
    deque->floor = deque->head;
    uint32_t num = deque->mask + 1;
    if (deque->top - deque->head >= num) {
        struct abtomp_task **slots = num < MOST_SLOTS ? malloc(2 * num * sizeof(slots[0])) : NULL;
        has_room = slots != NULL;
        if (has_room) {
            for (uint32_t i = deque->head; i != deque->top; i++)
                slots[i & (2 * num - 1)] = deque->slots[i & deque->mask];
            free(deque->slots);
            deque->slots = slots;
            deque->mask = 2 * num - 1;
        }
    }
    abtomp_mutex_unlock(&deque->lock);
    return has_room;
}

bool abtomp_deque_is_full(struct abtomp_deque *deque)
{
    if (deque->top - deque->floor < ENOUGH)
        return false;
    abtomp_mutex_lock(&deque->lock);
    deque->floor = deque->head;
    abtomp_mutex_unlock(&deque->lock);
    return deque->top - deque->floor >= ENOUGH;
}

/* relaxed: a hint, see abtomp_deque_num_public. The lock is held */
static void set_num_public(struct abtomp_deque *deque)
{
    atomic_store_explicit(&deque->num_public, deque->split - deque->head, memory_order_relaxed);
}

void abtomp_deque_publish(struct abtomp_deque *deque, uint32_t others)
{
    abtomp_mutex_lock(&deque->lock);
    uint32_t own = deque->top - deque->split, num = (own + 1) / 2, public = deque->split - deque->head;
    if (public + num < others)
        num = others - public < own ? others - public : own;
    deque->split += num;
    set_num_public(deque);
    abtomp_mutex_unlock(&deque->lock);
}

/* The owner has no task of its own: it takes the newest public one. */
struct abtomp_task *abtomp_deque_pop_public(struct abtomp_deque *deque, uint32_t base)
{
    struct abtomp_task *task = NULL;
    if (abtomp_deque_num_public(deque) == 0)
        return NULL; /* only the owner makes it larger */
    abtomp_mutex_lock(&deque->lock);
    if (deque->split != deque->head && (int32_t)(deque->split - base) > 0) {
        task = deque->slots[--deque->split & deque->mask];
        deque->top = deque->split;
        set_num_public(deque);
    }
    deque->floor = deque->head;
    abtomp_mutex_unlock(&deque->lock);
    return task;
}

uint32_t abtomp_deque_steal(struct abtomp_deque *deque, struct abtomp_task **tasks, uint32_t most,
                            bool (*may)(const struct abtomp_task *task, const void *arg), const void *arg)
{
    uint32_t num = 0;
    if (abtomp_deque_num_public(deque) == 0)
        return 0;
    abtomp_mutex_lock(&deque->lock);
    uint32_t half = (deque->split - deque->head + 1) / 2;
    while (num < most && num < half && may(deque->slots[deque->head & deque->mask], arg))
        tasks[num++] = deque->slots[deque->head++ & deque->mask];
    set_num_public(deque);
    abtomp_mutex_unlock(&deque->lock);
    return num;
}

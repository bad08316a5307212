/* SPDX-License-Identifier: BSD-3-Clause */
/* Where waiters leave a note of what is to be done for them, and servants find it. A note may be in the waiter's frame.
 */
#ifndef TEST_STRESS_DESK_H
#define TEST_STRESS_DESK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* The first member of what is to be done. */
struct note {
    struct note *next;
};

static struct {
    pthread_mutex_t lock; /* nobody switches while holding it */
    struct note *first;
} desk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline void desk_place(struct note *note)
{
    pthread_mutex_lock(&desk.lock);
    note->next = desk.first;
    desk.first = note;
    pthread_mutex_unlock(&desk.lock);
}

/* NULL: there is none. */
static inline void *desk_take(void)
{
    pthread_mutex_lock(&desk.lock);
    struct note *note = desk.first;
    if (note)
        desk.first = note->next;
    pthread_mutex_unlock(&desk.lock);
    return note;
}

#endif

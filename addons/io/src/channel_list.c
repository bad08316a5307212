/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel_list.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    struct channel_place *all;
    uint64_t enters; /* of channels that have ended */
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

void abtioi_channel_list_add(struct channel_place *place)
{
    pthread_mutex_lock(&list.lock);
    abtioi_assert(place->channel && place->in_flight && place->enters);
    abtioi_assert(!list.all || !list.all->previous);
    place->previous = NULL;
    place->next = list.all;
    if (list.all)
        list.all->previous = place;
    list.all = place;
    pthread_mutex_unlock(&list.lock);
}

void abtioi_channel_list_remove(struct channel_place *place)
{
    pthread_mutex_lock(&list.lock);
    abtioi_assert(!place->next || place->next->previous == place);
    abtioi_assert(!place->previous || place->previous->next == place);
    if (place->next)
        place->next->previous = place->previous;
    if (place->previous)
        place->previous->next = place->next;
    else
        list.all = place->next;
    /* relaxed: this thread has written it */
    list.enters += atomic_load_explicit(place->enters, memory_order_relaxed);
    pthread_mutex_unlock(&list.lock);
}

struct channel_counts abtioi_channel_list_count(void)
{
    pthread_mutex_lock(&list.lock);
    struct channel_counts counts = {.enters = list.enters};
    for (const struct channel_place *place = list.all; place; place = place->next) {
        counts.channels++;
        /* relaxed: they are of some moment */
        counts.enters += atomic_load_explicit(place->enters, memory_order_relaxed);
        counts.in_flight += atomic_load_explicit(place->in_flight, memory_order_relaxed);
    }
    pthread_mutex_unlock(&list.lock);
    return counts;
}

bool abtioi_channel_list_ask(bool (*ask)(struct channel *channel))
{
    bool any = false;

    pthread_mutex_lock(&list.lock);
    for (const struct channel_place *place = list.all; place; place = place->next)
        any |= ask(place->channel);
    pthread_mutex_unlock(&list.lock);
    return any;
}

void abtioi_channel_list_before_fork(void)
{
    pthread_mutex_lock(&list.lock);
}

void abtioi_channel_list_after_fork(void)
{
    pthread_mutex_unlock(&list.lock);
}

void abtioi_channel_list_forget(void (*forget)(struct channel *channel))
{
    abtioi_assert(abtioi_is_held(&list.lock));
    for (const struct channel_place *place = list.all; place; place = place->next)
        forget(place->channel);
    list.all = NULL;
    list.enters = 0;
    pthread_mutex_init(&list.lock, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the system's headers are older than Linux 6.1, or not Linux's: there are no channels, and the helpers do all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "multishot/buffers.h"
#include "channel.h"

int abtioi_channels_begin(unsigned entries, char *reason, size_t size)
{
    (void)entries;
    snprintf(reason, size, "the library was built with headers older than those of Linux 6.1");
    return -ENOSYS;
}

void abtioi_channels_end(void)
{
}

struct channel_counts abtioi_channels_count(void)
{
    return (struct channel_counts){0};
}

void abtioi_channels_before_fork(void)
{
}

void abtioi_channels_after_fork(void)
{
}

void abtioi_channels_forget(void)
{
}

struct channel *abtioi_channel_for(enum code code)
{
    (void)code;
    return NULL;
}

bool abtioi_channel_is_open(const struct channel *channel)
{
    (void)channel;
    return false;
}

void abtioi_channel_lock(struct channel *channel)
{
    (void)channel;
}

void abtioi_channel_unlock(struct channel *channel)
{
    (void)channel;
}

/* Nobody has a channel to call these with. */
void abtioi_channel_start(abtio_op *op)
{
    (void)op;
    abort();
}

void abtioi_channel_start_locked(abtio_op *op)
{
    (void)op;
    abort();
}

void abtioi_channel_start_call(struct channel *channel, abtio_op *op)
{
    (void)channel;
    (void)op;
    abort();
}

bool abtioi_channel_add_set(struct channel *channel, struct buffer_set *set)
{
    (void)channel;
    (void)set;
    return false;
}

void abtioi_channel_drop_set(struct channel *channel, struct buffer_set *set)
{
    (void)channel;
    (void)set;
    abort();
}

void abtioi_group_add(struct buffer_set *set, unsigned place)
{
    (void)set;
    (void)place;
    abort();
}

void abtioi_channel_ask(struct channel *channel, abtio_op *request)
{
    (void)channel;
    (void)request;
    abort();
}

void abtioi_channel_poll(void)
{
}

int abtioi_channel_ask_end(abtio_op *op)
{
    int none = 0;
    /* relaxed: the helpers' lock hands it over, or the multishot's; the phase does not change */
    atomic_compare_exchange_strong_explicit(&op->ended, &none, -ECANCELED, memory_order_relaxed, memory_order_relaxed);
    return atomic_load_explicit(&op->phase, memory_order_relaxed); /* relaxed: as above */
}

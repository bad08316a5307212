/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of all channels, for functions that count them. */
#ifndef ABTIO_CHANNEL_LIST_H
#define ABTIO_CHANNEL_LIST_H

#include "channel.h"

/* A channel's place in it. */
struct channel_place {
    struct channel_place *next, *previous; /* under the list's lock */
    struct channel *channel;
    /* Others only read these counters, of some moment. */
    const _Atomic(uint64_t) *in_flight, *enters;
};

void abtioi_channel_list_add(struct channel_place *place);

/* What it has counted stays. By the thread that counts. */
void abtioi_channel_list_remove(struct channel_place *place);

/* All but single_issuer. */
struct channel_counts abtioi_channel_list_count(void);

/* Whether one of them says yes; all are asked. Meanwhile none comes or goes. */
bool abtioi_channel_list_ask(bool (*ask)(struct channel *channel));

/* Around fork(). In the child it is empty; the channels that were in it are informed one by one. */
void abtioi_channel_list_before_fork(void);
void abtioi_channel_list_after_fork(void);
void abtioi_channel_list_forget(void (*forget)(struct channel *channel));

#endif

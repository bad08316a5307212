/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the system's headers are older than Linux 6.1, or not Linux's: there are no lanes, and the helpers do all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "multishot/buffers.h"
#include "lane.h"

int abtioi_lanes_begin(unsigned entries, char *reason, size_t size)
{
    (void)entries;
    snprintf(reason, size, "the library was built with headers older than those of Linux 6.1");
    return -ENOSYS;
}

void abtioi_lanes_end(void)
{
}

struct lane_counts abtioi_lanes_count(void)
{
    return (struct lane_counts){0};
}

void abtioi_lanes_before_fork(void)
{
}

void abtioi_lanes_after_fork(void)
{
}

void abtioi_lanes_forget(void)
{
}

struct lane *abtioi_lane_for(enum code code)
{
    (void)code;
    return NULL;
}

bool abtioi_lane_is_open(const struct lane *lane)
{
    (void)lane;
    return false;
}

void abtioi_lane_lock(struct lane *lane)
{
    (void)lane;
}

void abtioi_lane_unlock(struct lane *lane)
{
    (void)lane;
}

/* Nobody has a lane to call these with. */
void abtioi_lane_start(abtio_op *op)
{
    (void)op;
    abort();
}

void abtioi_lane_start_locked(abtio_op *op)
{
    (void)op;
    abort();
}

void abtioi_lane_start_call(struct lane *lane, abtio_op *op)
{
    (void)lane;
    (void)op;
    abort();
}

bool abtioi_lane_add_set(struct lane *lane, struct buffer_set *set)
{
    (void)lane;
    (void)set;
    return false;
}

void abtioi_lane_drop_set(struct lane *lane, struct buffer_set *set)
{
    (void)lane;
    (void)set;
    abort();
}

void abtioi_group_add(struct buffer_set *set, unsigned place)
{
    (void)set;
    (void)place;
    abort();
}

void abtioi_lane_ask(struct lane *lane, abtio_op *request)
{
    (void)lane;
    (void)request;
    abort();
}

void abtioi_lane_look(void)
{
}

int abtioi_lane_ask_end(abtio_op *op)
{
    int none = 0;
    /* relaxed: the helpers' lock hands it over, or the multishot's; the phase does not change */
    atomic_compare_exchange_strong_explicit(&op->ended, &none, -ECANCELED, memory_order_relaxed, memory_order_relaxed);
    return atomic_load_explicit(&op->phase, memory_order_relaxed); /* relaxed: as above */
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of all lanes, for those who count them. */
#ifndef ABTIO_LANE_LIST_H
#define ABTIO_LANE_LIST_H

#include "lane.h"

/* A lane's place in it. */
struct lane_place {
    struct lane_place *next, *previous; /* under the list's lock */
    struct lane *lane;
    /* Others only read these counters, of some moment. */
    const _Atomic(uint64_t) *in_flight, *enters;
};

void abtioi_lane_list_add(struct lane_place *place);

/* What it has counted stays. By the thread that counts. */
void abtioi_lane_list_remove(struct lane_place *place);

/* All but single_issuer. */
struct lane_counts abtioi_lane_list_count(void);

/* Whether one of them says yes; all are asked. Meanwhile none comes or goes. */
bool abtioi_lane_list_ask(bool (*ask)(struct lane *lane));

/* Around fork(). In the child it is empty; the lanes that were in it are informed one by one. */
void abtioi_lane_list_before_fork(void);
void abtioi_lane_list_after_fork(void);
void abtioi_lane_list_forget(void (*forget)(struct lane *lane));

#endif

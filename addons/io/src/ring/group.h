/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of buffers as groups of provided buffers of a ring. All but what is said to be for others by the ring's thread.
 */
#ifndef ABTIO_GROUP_H
#define ABTIO_GROUP_H

#include "multishot/buffers.h"
#include "ring/ring.h"

/* Whether one receive can go on after each result (Linux 6.0). Written before there are channels. */
extern bool abtioi_group_goes_on;

/* Finds that out, by a ring that is made for it. */
void abtioi_group_probe(struct ring *ring);

/* Makes a group with no buffers in it. False: the kernel does not. */
bool abtioi_group_make(struct ring *ring, struct buffer_set *set);

/* Nothing receives into it any more. */
void abtioi_group_end(struct ring *ring, struct buffer_set *set);

#endif

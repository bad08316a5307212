/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a lane remembers of sockets: whether the last receive has left nothing. Then the kernel need not try the next
 * one without success before it waits. Only a hint, since a descriptor may be another socket's by now, and somebody
 * else may receive from it: the kernel looks whether there is something in any case.
 */
#ifndef ABTIO_DRAINED_H
#define ABTIO_DRAINED_H

#include <stdbool.h>
#include <stdint.h>
#include "debug.h"

/* Of larger descriptors nothing is remembered. */
enum { DRAINED_MOST = 4096 };

struct drained {
    uint64_t words[DRAINED_MOST / 64];
};

static inline bool drained_knows(const struct drained *drained, int fd)
{
    return (unsigned)fd < DRAINED_MOST && drained->words[fd / 64] >> fd % 64 & 1;
}

static inline void drained_set(struct drained *drained, int fd, bool is)
{
    uint64_t bit = UINT64_C(1) << ((unsigned)fd % 64);

    abtioi_assert(fd >= 0);
    if ((unsigned)fd >= DRAINED_MOST)
        return;
    drained->words[fd / 64] = is ? drained->words[fd / 64] | bit : drained->words[fd / 64] & ~bit;
}

#endif

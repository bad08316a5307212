/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers for tests, each sequence by a seed. */
#ifndef TEST_RNG_H
#define TEST_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t rng_next(struct rng *rng)
{
    return mix(rng->state++);
}

/* 0 to n - 1. */
static inline unsigned below(struct rng *rng, unsigned n)
{
    return (unsigned)((rng_next(rng) >> 32) * n >> 32);
}

static inline bool one_in(struct rng *rng, unsigned n)
{
    return below(rng, n) == 0;
}

#endif

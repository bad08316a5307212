/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that members divide among them. Each has a range to itself, in a line of its own, from which it takes the
 * next ones; when that is empty it takes half of what another one has left. So no line moves as long as all have some.
 */
#ifndef ABTOMP_RANGE_H
#define ABTOMP_RANGE_H

#include "omp.h"

/* What is left of a range: its first number, and above 32 bits its end. */
struct abtomp_range {
    ABTOMP_LINE _Atomic(uint64_t) left;
};

/* Divides 0 to count - 1 among `num` ranges, which nobody uses yet. */
void abtomp_ranges_divide(struct abtomp_range *ranges, uint32_t num, uint32_t count);

/* The owner of an empty range gets half of another one, of `num` ranges. False: all are empty. */
bool abtomp_range_steal(struct abtomp_range *ranges, uint32_t num, uint32_t own);

/* The owner takes a fourth of what is left, `most` at most, and one at least. Their number; 0: it is empty. */
static inline uint32_t abtomp_range_take(struct abtomp_range *range, uint32_t most, uint32_t *first)
{
    enum { SHARES = 4 };
    /* relaxed, all: only the division depends on it, and a value that has come back is as good */
    uint64_t left = atomic_load_explicit(&range->left, memory_order_relaxed);
    while ((uint32_t)left < left >> 32) {
        uint32_t num = ((uint32_t)(left >> 32) - (uint32_t)left) / SHARES;
        num = num < 1 ? 1 : num < most ? num : most;
        *first = (uint32_t)left;
        if (atomic_compare_exchange_weak_explicit(&range->left, &left, left + num, memory_order_relaxed,
                                                  memory_order_relaxed))
            return num;
    }
    return 0;
}

#endif

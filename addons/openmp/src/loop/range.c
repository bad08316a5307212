/* SPDX-License-Identifier: BSD-3-Clause */
/* How ranges begin, and what moves between them. */
#include "loop/range.h"

void abtomp_ranges_divide(struct abtomp_range *ranges, uint32_t num, uint32_t count)
{
    uint64_t first = 0, each = count / num, more = count % num;
    for (uint32_t i = 0; i < num; i++) {
        uint64_t end = first + each + (i < more);
        /* relaxed: what makes the ranges known publishes it */
        atomic_store_explicit(&ranges[i].left, first | end << 32, memory_order_relaxed);
        first = end;
    }
}

bool abtomp_range_steal(struct abtomp_range *ranges, uint32_t num, uint32_t own)
{
    for (uint32_t i = 1; i < num; i++) {
        struct abtomp_range *other = &ranges[own + i < num ? own + i : own + i - num];
        /* relaxed, all: as in abtomp_range_take */
        uint64_t left = atomic_load_explicit(&other->left, memory_order_relaxed);
        for (;;) {
            uint64_t first = (uint32_t)left, end = left >> 32;
            if (first >= end)
                break;
            uint64_t half = end - (end - first + 1) / 2;
            if (!atomic_compare_exchange_weak_explicit(&other->left, &left, first | half << 32, memory_order_relaxed,
                                                       memory_order_relaxed))
                continue;
            atomic_store_explicit(&ranges[own].left, half | end << 32, memory_order_relaxed);
            return true;
        }
    }
    return false;
}

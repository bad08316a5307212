/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/ring.h"

#include <stdlib.h>
#include "os/annotate.h"

enum { FIRST_CAPACITY = 256 };

bool abti_ring_init(struct abti_ring *ring)
{
    *ring = (struct abti_ring){.units = malloc(FIRST_CAPACITY * sizeof(*ring->units)), .mask = FIRST_CAPACITY - 1};
    return ring->units != NULL;
}

void abti_ring_fini(struct abti_ring *ring)
{
    abti_annotate_begin_private();
    free(ring->units);
    abti_annotate_end_private();
}

bool abti_ring_grow(struct abti_ring *ring)
{
    abti_assert(ring->units);
    size_t capacity = ring->mask + 1, size = abti_ring_size(ring);
    abti_annotate_begin_private();
    abti_unit **units = malloc(capacity * 2 * sizeof(*units));
    for (size_t i = 0; units && i < size; i++)
        units[i] = abti_ring_at(ring, i);
    if (units)
        free(ring->units);
    abti_annotate_end_private();
    if (!units)
        return false;
    ring->units = units;
    ring->mask = capacity * 2 - 1;
    ring->head = 0;
    return true;
}

bool abti_ring_remove(struct abti_ring *ring, abti_unit *unit)
{
    size_t size = abti_ring_size(ring), i = 0;
    while (i < size && abti_ring_at(ring, i) != unit)
        i++;
    if (i == size)
        return false;
    for (; i + 1 < size; i++)
        ring->units[(ring->head + i) & ring->mask] = abti_ring_at(ring, i + 1);
    abti_store_relaxed(&ring->size, size - 1); /* relaxed: see pool/ring.h */
    return true;
}

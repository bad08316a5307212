/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A double-ended queue of units: a ring of pointers, which doubles when it is full. It is guarded by what guards its
 * pool. `size` is atomic only so that others may read it without the lock. relaxed, everywhere below: the guard orders
 * everything.
 */
#ifndef ABTI_POOL_RING_H
#define ABTI_POOL_RING_H

#include "base/assert.h"
#include "base/atomic.h"
#include "rt/types.h"

struct abti_ring {
    abti_unit **units;
    size_t mask; /* capacity - 1, a power of two less one */
    size_t head; /* index of the head modulo capacity */
    _Atomic(size_t) size;
};

/*
 * Allocates memory for the first units; false when there is none. A ring that consists of zeros has no memory and needs
 * none.
 */
bool abti_ring_init(struct abti_ring *ring) ABTI_MUST_CHECK;
void abti_ring_fini(struct abti_ring *ring);

/* Makes room for more; false when there is no memory, and then nothing has changed. */
bool abti_ring_grow(struct abti_ring *ring) ABTI_MUST_CHECK;

/* Takes `unit` out wherever it is; false when it is not there. The time is linear. */
bool abti_ring_remove(struct abti_ring *ring, abti_unit *unit);

ABTI_INLINE size_t abti_ring_size(struct abti_ring *ring)
{
    return abti_load_relaxed(&ring->size);
}

ABTI_INLINE bool abti_ring_is_full(struct abti_ring *ring)
{
    return abti_ring_size(ring) > ring->mask;
}

/* Returns the i-th unit, counted from the head. */
ABTI_INLINE abti_unit *abti_ring_at(struct abti_ring *ring, size_t i)
{
    abti_assert(i < abti_ring_size(ring));
    return ring->units[(ring->head + i) & ring->mask];
}

/* Pushes to either end of a ring that is not full. */
ABTI_INLINE void abti_ring_push(struct abti_ring *ring, abti_unit *unit, bool to_head)
{
    abti_assert(unit && ring->units && !abti_ring_is_full(ring));
    size_t size = abti_ring_size(ring);
    size_t at = to_head ? --ring->head : ring->head + size;
    ring->units[at & ring->mask] = unit;
    abti_store_relaxed(&ring->size, size + 1);
}

/* Pops from either end of a ring that is not empty. */
ABTI_INLINE abti_unit *abti_ring_pop(struct abti_ring *ring, bool from_tail)
{
    abti_assert(abti_ring_size(ring) > 0);
    size_t size = abti_ring_size(ring) - 1;
    size_t at = from_tail ? ring->head + size : ring->head++;
    abti_store_relaxed(&ring->size, size);
    return ring->units[at & ring->mask];
}

#endif

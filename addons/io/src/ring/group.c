/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring/group.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool abtioi_group_goes_on;

/* A kernel that does not know the flag says so before it looks for the descriptor, which is none. */
void abtioi_group_probe(struct ring *ring)
{
    struct io_uring_sqe *sqe = ring_next(ring);

    memset(sqe, 0, sizeof(*sqe));
    sqe->opcode = IORING_OP_RECV;
    sqe->fd = -1;
    sqe->flags = IOSQE_BUFFER_SELECT;
    sqe->ioprio = IORING_RECV_MULTISHOT;
    abtioi_ring_enter(ring, 1, -1);
    const struct io_uring_cqe *cqe = ring_first(ring);
    abtioi_group_goes_on = cqe && cqe->res == -EBADF;
}

bool abtioi_group_make(struct ring *ring, struct buffer_set *set)
{
    struct io_uring_buf_reg group = {
        .ring_addr = (uintptr_t)set->memory, .ring_entries = set->pool->entries, .bgid = (uint16_t)set->pool->id};

    abtioi_assert(set->memory && !set->channel && !set->lost && abtioi_is_held(&set->pool->lock));
    abtioi_assert(set->pool->id <= UINT16_MAX && (set->pool->entries & (set->pool->entries - 1)) == 0);
    memset(set->memory, 0, sizeof(struct io_uring_buf)); /* where the tail is */
    set->tail = 0;
    if (syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_PBUF_RING, &group, 1) < 0)
        return false;
    set->later = ring->sets;
    ring->sets = set;
    return true;
}

void abtioi_group_end(struct ring *ring, struct buffer_set *set)
{
    struct io_uring_buf_reg group = {.bgid = (uint16_t)set->pool->id};
    struct buffer_set **link = &ring->sets;

    abtioi_assert(abtioi_is_held(&set->pool->lock));
    while (*link != set) {
        abtioi_assert(*link);
        link = &(*link)->later;
    }
    *link = set->later;
    syscall(SYS_io_uring_register, ring->fd, IORING_UNREGISTER_PBUF_RING, &group, 1);
}

void abtioi_group_add(struct buffer_set *set, unsigned place)
{
    struct io_uring_buf_ring *ring = (struct io_uring_buf_ring *)(void *)set->memory;
    struct io_uring_buf *entry = &ring->bufs[set->tail & (set->pool->entries - 1)];

    abtioi_assert(set->channel && place < set->pool->num && abtioi_is_held(&set->pool->lock));
    entry->addr = (uintptr_t)buffer_data(buffer_at(set, place));
    entry->len = (uint32_t)set->pool->size;
    entry->bid = (uint16_t)place;
    set->tail++;
    /* release: pairs with the kernel's acquire of the tail; the entry is written */
    atomic_store_explicit((_Atomic(uint16_t) *)&ring->tail, set->tail, memory_order_release);
}

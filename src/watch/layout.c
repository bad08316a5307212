/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/layout.h"

#include "run/sched.h"
#include "rt/rt.h"
#include "sync/barrier.h"
#include "sync/cond.h"
#include "sync/future.h"
#include "sync/mutex.h"
#include "sync/rwlock.h"

#define FIELD(structure, type, member)                                                                                 \
    {                                                                                                                  \
        structure "." #member, offsetof(type, member), sizeof(((type *)0)->member)                                     \
    }
#define CONSTANT(value)                                                                                                \
    {                                                                                                                  \
#value, value, 0                                                                                               \
    }

#define RT(member) FIELD("rt", struct abti_rt, member)
#define SLAB(member) FIELD("slab", struct abti_slab, member)
#define ARENA(member) FIELD("arena", struct abti_arena, member)
#define EXTENT(member) FIELD("extent", struct abti_extent, member)
#define UNIT(member) FIELD("unit", abti_unit, member)
#define COLD(member) FIELD("cold", struct abti_unit_cold, member)
#define STACK(member) FIELD("stack", struct abti_stack, member)
#define ES(member) FIELD("es", abti_es, member)
#define SCHED(member) FIELD("sched", abti_sched, member)
#define POOL(member) FIELD("pool", abti_pool, member)
#define QUEUE(member) FIELD("queue", struct abti_queue, member)
#define RING(member) FIELD("ring", struct abti_ring, member)
#define WAITER(member) FIELD("waiter", struct abti_waiter, member)
#define MUTEX(member) FIELD("mutex", struct ABT_mutex_opaque, member)
#define COND(member) FIELD("cond", struct ABT_cond_opaque, member)
#define RWLOCK(member) FIELD("rwlock", struct ABT_rwlock_opaque, member)
#define BARRIER(member) FIELD("barrier", struct ABT_barrier_opaque, member)
#define FUTURE(member) FIELD("future", struct ABT_future_opaque, member)

static const struct abti_layout_entry layout_entries[] = {
    RT(up),
    RT(unit_slab),
    RT(xstreams),
    RT(pools),
    RT(by_index),
    RT(config.watch_waits),
    /* Where descriptors are. */
    SLAB(spec.arena.cell),
    SLAB(spec.arena.block),
    SLAB(spec.arena.span),
    SLAB(cells),
    ARENA(extents),
    ARENA(num_extents),
    EXTENT(chunk.base),
    EXTENT(num_cells),
    EXTENT(free[0]),
    /* Units and their stacks. */
    UNIT(next),
    UNIT(func),
    UNIT(arg),
    UNIT(pool),
    UNIT(ctx),
    UNIT(stack),
    UNIT(join),
    UNIT(flags),
    UNIT(cold),
    UNIT(es),
    UNIT(state),
    COLD(id),
    STACK(base),
    STACK(end),
    STACK(blocked_ns),
    /* Streams and schedulers. */
    ES(cur),
    ES(state),
    ES(main_sched),
    ES(main_unit),
    ES(rank),
    ES(next),
    ES(thread),
    ES(native),
    SCHED(num_pools),
    SCHED(pools),
    /* Pools. */
    POOL(queue),
    POOL(ring),
    POOL(inbox),
    POOL(blocked.own_entered),
    POOL(blocked.own_left),
    POOL(blocked.remain),
    POOL(blocked.granted),
    POOL(blocked.shared_entered),
    POOL(blocked.shared_left),
    POOL(access),
    POOL(kind),
    POOL(form),
    POOL(id),
    POOL(next),
    QUEUE(head),
    QUEUE(last),
    QUEUE(size),
    RING(units),
    RING(mask),
    RING(head),
    RING(size),
    /* What units wait for. */
    WAITER(next),
    WAITER(unit),
    WAITER(ult),
    WAITER(object),
    WAITER(reason),
    WAITER(claim),
    WAITER(deadline_ns),
    MUTEX(word),
    MUTEX(owner_room),
    COND(waiters),
    COND(mutex),
    RWLOCK(readers),
    RWLOCK(writer),
    BARRIER(num),
    BARRIER(arrived),
    BARRIER(num_local),
    BARRIER(room),
    BARRIER(local_pool),
    FUTURE(num),
    FUTURE(filled),
    /* Constants. */
    CONSTANT(ABTI_UNIT_COLD_OFFSET),
    CONSTANT(ABTI_UNIT_TASKLET),
    CONSTANT(ABTI_UNIT_NAMED),
    CONSTANT(ABTI_UNIT_PRIMARY),
    CONSTANT(ABTI_UNIT_MAIN_SCHED),
    CONSTANT(ABTI_UNIT_SCHED),
    CONSTANT(ABTI_JOIN_DONE),
    CONSTANT(ABTI_JOIN_EXTERNAL),
    CONSTANT(ABTI_JOIN_IN_PLACE),
    CONSTANT(ABTI_JOIN_TAGS),
    CONSTANT(ABTI_COLD_READY),
    CONSTANT(ABTI_POOL_USER),
    CONSTANT(ABTI_MUTEX_RECURSIVE),
    CONSTANT(ABTI_MUTEX_LOCKED),
    CONSTANT(ABTI_CLAIM_NONE),
};

const struct abti_debug_layout ABTI_debug_layout = {
    .magic = "libabt's layout",
    .version = ABTI_LAYOUT_VERSION,
    .num_entries = ABTI_ARRAY_LEN(layout_entries),
    .entries = layout_entries,
    .rt = &abti_rt,
};

/* For the build as one file. */
#undef FIELD

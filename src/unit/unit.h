/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work units: ULTs and tasklets, and the ULTs in which schedulers run. doc/lifecycle.md draws the states.
 *
 * A descriptor is two cache lines that are apart: the hot line, which is the handle, holds what create, dispatch and
 * join touch; the cold line, at a fixed distance in the same block, is initialised when it is first needed. A created
 * unit that has not run costs its hot line.
 */
#ifndef ABTI_UNIT_UNIT_H
#define ABTI_UNIT_UNIT_H

#include <abt.h>
#include <stdbool.h>
#include <stddef.h>
#include "arch/cpu.h"
#include "arch/ctx.h"
#include "base/assert.h"
#include "rt/self.h"

struct abti_ktable;

/*
 * What a unit is. This is written at creation. The last three are beside the requests, which the quick paths test
 * together with them: some processors have an instruction for a mask only if its bits are in one row.
 */
enum {
    ABTI_UNIT_NAMED = 1 << 0,       /* the user frees it; the others free themselves when they end */
    ABTI_UNIT_PRIMARY = 1 << 1,     /* what a native thread became that was there before, see stream/entered.h */
    ABTI_UNIT_SCHED = 1 << 2,       /* runs a scheduler stacked in a pool */
    ABTI_UNIT_PINNED = 1 << 3,      /* not migratable; once there is a cold line, ABTI_COLD_PINNED says so */
    ABTI_UNIT_ENTERED = 1 << 4,     /* beside PRIMARY: not that of ABT_init */
    ABTI_UNIT_OWN_STACK = 1 << 13,  /* has a stack from creation to free: one of another size than the default, or the
                                       user's */
    ABTI_UNIT_MAIN_SCHED = 1 << 14, /* runs an ES's main scheduler; waits natively, as its ES has nothing else to do */
    ABTI_UNIT_TASKLET = 1 << 15,
};

/* Requests to a unit. They are served when it is next taken for running or yields. */
enum {
    ABTI_REQ_CANCEL = 1,
    ABTI_REQ_MIGRATE = 2,
    ABTI_REQ_FREE = 4,  /* a unit that it waited for is left to it, see pool/leftover.h. Served only when taken for
                           running */
    ABTI_REQ_OFF = 8,   /* no request: the ULT puts cancels off, see run/cancel.h. It is here so that the quick paths,
                           which leave requests to the general ones, need not look at it */
    ABTI_REQ_LATER = 16 /* a cancel that was put off and has ended a wait */
};

/*
 * The join word. It is written by the joiner that registers (0 -> joiner, by compare-and-swap) and by the stream that
 * ends the unit (anything -> DONE). DONE is the last store to a named unit: a thread that sees it may free the unit.
 *
 *   0                  the unit runs or is to run, and nobody waits
 *   DONE               terminated
 *   joiner | tags      one joiner sleeps: a ULT, or with EXTERNAL a struct abti_sleeper of a native thread
 */
enum {
    ABTI_JOIN_DONE = 1,
    ABTI_JOIN_EXTERNAL = 2,
    ABTI_JOIN_FREE = 4,     /* the joiner is in ABT_thread_free: the ending unit frees itself on its behalf, unless
                               pool/leftover.h says otherwise */
    ABTI_JOIN_IN_PLACE = 8, /* the unit runs on the rest of the joiner's stack */
    ABTI_JOIN_TAGS = 15,
};

struct ABT_thread_opaque {
    union {
        abti_unit *next;       /* while a list holds it, a pool's queue or a free list: the link, see pool/queue.h */
        const void *waits_for; /* while it is blocked: what for, see abti_unit_wait_for */
        ABT_thread *handle;    /* while it is blocked in ABT_thread_free: what is to be nulled, see
                                  abti_unit_wait_for_join */
        ABT_pool_context queues_as; /* while it leaves its stack to be pushed: the context of that push */
    };
    void (*func)(void *); /* NULL: the descriptor is free, or the unit is one of a kind, such as a main unit */
    void *arg;
    abti_pool *pool; /* the associated pool. It is written by the creator and by the stream that runs or has
                        popped the unit. Others ask abti_unit_last_pool */
    union {
        abti_ctx ctx;       /* where the unit goes on, if it has started and does not run. Uninitialised before it
                               starts */
        abti_unit *left_to; /* in pool/leftover, of a terminated unit: the joiner that is to free it */
    };
    struct abti_stack *stack; /* its stack, if it has started or has OWN_STACK; else uninitialised. In place: the
                                 joiner's */
    _Atomic(uintptr_t) join;  /* see above */
    union {
        /*
         * flags      what the unit is
         * requests   set by anybody, cleared by the stream that serves them
         * cold       state of the cold line, see ABTI_COLD_NONE
         * es         index of the ES that ran it last; ABTI_ES_NONE: it has not started
         * state      enum ABT_thread_state but TERMINATED, which is the join word's; and a mark
         * held       the unit is not to be cancelled before it has run again, since others know what is on its stack.
         *            The unit stores it; it is cleared when the unit runs
         */
        struct {
            ABTI_LOW_FIRST_6(uint16_t flags, _Atomic(uint8_t) requests, _Atomic(uint8_t) cold, _Atomic(uint16_t) es,
                             _Atomic(uint8_t) state, _Atomic(uint8_t) held)
        };
        /*
         * The same in larger pieces, for one load or store: what the unit is (flags, requests, cold), where it runs
         * (es, state, held), and all of it.
         */
        struct {
            ABTI_LOW_FIRST_2(_Atomic(uint32_t) what, _Atomic(uint32_t) running)
        };
        _Atomic(uint64_t) meta;
    };
};

/*
 * The cold line is raw memory until it is first needed, then BUSY while one thread clears it, then READY. PINNED beside
 * READY says that the unit must not migrate. A unit that is created so needs no cold line for that, but has
 * ABTI_UNIT_PINNED in its flags.
 *
 * HANDLE, beside any of these, says that a user-defined pool has the unit itself for its handle, which needs no line
 * either. It is set while nobody else knows the unit, and cleared when the unit is freed. Else it changes only in a
 * line that is ready, so that it keeps still while a thread makes one.
 */
enum { ABTI_COLD_NONE = 0, ABTI_COLD_BUSY = 1, ABTI_COLD_READY = 2, ABTI_COLD_PINNED = 4, ABTI_COLD_HANDLE = 8 };

#define ABTI_WHAT_REQUESTS 0xff0000u
#define ABTI_WHAT_COLD 0xff000000u

_Static_assert(sizeof(abti_unit) == 64, "one cache line");
_Static_assert(offsetof(abti_unit, meta) == offsetof(abti_unit, join) + 8 && offsetof(abti_unit, join) % 16 == 0,
               "join and meta are written as one");

/* This is not the index of any ES, and it is zero, so that a new unit's meta word is its flags. */
#define ABTI_ES_NONE 0u
_Static_assert(ABT_THREAD_STATE_READY == 0, "so is its state");

/* The running word of a unit that runs on the ES with this index, and the part of it that is the index. */
#define ABTI_RUNNING_ON(index) ((uint32_t)(index) | (uint32_t)ABT_THREAD_STATE_RUNNING << 16)
#define ABTI_RUNNING_ES 0xffffu

/*
 * The state of a unit is in the low bits of its byte. The watch (watch/waits.h) may leave a mark above it, which
 * goes with the next store of a state: it says that the unit has not changed since. So a state that others may have
 * marked is never compared as a whole; BLOCKED has a bit of its own.
 */
enum { ABTI_STATE_BITS = 2, ABTI_STATE_MASK = (1 << ABTI_STATE_BITS) - 1 };

/*
 * The bit is above the marks, beside BLOCKED, while the unit waits for its user to resume it. One that waits for
 * anything else may be woken by nothing else, since others point to what is on its stack.
 */
enum { ABTI_STATE_SUSPENDED = 0x80, ABTI_STATE_BLOCKED_BY_USER = ABT_THREAD_STATE_BLOCKED | ABTI_STATE_SUSPENDED };
_Static_assert(!(ABT_THREAD_STATE_BLOCKED & (ABT_THREAD_STATE_READY | ABT_THREAD_STATE_RUNNING)), "a bit of its own");

/* What few units have. It is valid once the unit's `cold` says READY. Every field is zero at first. */
struct abti_unit_cold {
    _Atomic(struct abti_ktable *) keys; /* work-unit specific data, made when the first value is set */
    _Atomic(uint64_t) id;               /* id + 1, given at the first query */
    union {
        _Atomic(abti_pool *) migrate_to; /* target of the pending migration request */
        ABT_thread *handle;              /* in pool/leftover, of a terminated unit: the joiner's handle, which is to
                                            be nulled */
    };
    union {
        struct abti_migrated *migrated; /* is called after a migration; NULL: nothing is. It belongs to the unit */
        abti_sched *sched;              /* MAIN_SCHED, SCHED, which never migrate: the scheduler that it runs */
    };
    _Atomic(ABT_unit) unit;  /* the handle that a user-defined pool made; NULL: it has none, or HANDLE says it. It is
                                written like `pool` */
    abti_unit *unitmap_next; /* guarded by the bucket of unit/unitmap */
};

_Static_assert(sizeof(struct abti_unit_cold) <= 64, "one cache line");

/* A user-defined function, which few of those units have. */
struct abti_migrated {
    void (*func)(ABT_thread, void *);
    void *arg;
};

enum { ABTI_UNIT_BLOCK = 256 * 1024, ABTI_UNIT_COLD_OFFSET = ABTI_UNIT_BLOCK / 2 };

/*
 * Describes the slab of units, in chunks of at least `chunk` bytes. `kept`, at least 2, is how many free ones a stream
 * may have at hand.
 */
void abti_unit_slab_spec(struct abti_slab_spec *spec, size_t chunk, unsigned kept);

/* Makes the cold line ready, unless another thread does so just now, and returns it. */
struct abti_unit_cold *abti_unit_cold_make(abti_unit *unit);

/* Returns the cold line of a unit whose line is ready, as the caller knows. */
ABTI_INLINE struct abti_unit_cold *abti_unit_cold_known(abti_unit *unit)
{
    abti_assert(abti_load_relaxed(&unit->cold) & ABTI_COLD_READY);
    return (struct abti_unit_cold *)((char *)unit + ABTI_UNIT_COLD_OFFSET);
}

/* Returns the cold line if it is ready, or NULL: it was never needed, or another thread is just making it ready. */
ABTI_INLINE struct abti_unit_cold *abti_unit_cold_racy(abti_unit *unit)
{
    /* acquire: pairs with the release in abti_unit_cold_make */
    if (abti_load_acquire(&unit->cold) & ABTI_COLD_READY)
        return abti_unit_cold_known(unit);
    return NULL;
}

/* Returns the cold line, and makes it ready first if need be. Any thread may call this. It never fails. */
ABTI_INLINE struct abti_unit_cold *abti_unit_cold_get(abti_unit *unit)
{
    struct abti_unit_cold *cold = abti_unit_cold_racy(unit);
    return ABTI_LIKELY(cold != NULL) ? cold : abti_unit_cold_make(unit);
}

/* Returns the cold line if it was ever needed, or NULL. */
ABTI_INLINE struct abti_unit_cold *abti_unit_cold_peek(abti_unit *unit)
{
    /* acquire: pairs with the release in abti_unit_cold_make */
    if (ABTI_LIKELY(!(abti_load_acquire(&unit->cold) & (ABTI_COLD_BUSY | ABTI_COLD_READY))))
        return NULL;
    struct abti_unit_cold *cold = abti_unit_cold_racy(unit);
    return ABTI_LIKELY(cold != NULL) ? cold : abti_unit_cold_make(unit);
}

/*
 * Whether a user-defined pool has the unit itself for its handle. Any thread may call this, but only one that runs, has
 * popped or frees the unit does not get a stale answer. relaxed: what brought the unit to that thread orders it.
 */
ABTI_INLINE bool abti_unit_is_handle(abti_unit *unit)
{
    return (abti_load_relaxed(&unit->cold) & ABTI_COLD_HANDLE) != 0;
}

/* Says whether the unit must not migrate. Any thread may call this. */
void abti_unit_set_pinned(abti_unit *unit, bool pinned);

ABTI_INLINE bool abti_unit_is_pinned(abti_unit *unit)
{
    /* relaxed: the user orders the calls that set it and those that ask */
    uint8_t cold = abti_load_relaxed(&unit->cold);
    return cold & ABTI_COLD_READY ? cold & ABTI_COLD_PINNED : unit->flags & ABTI_UNIT_PINNED;
}

/*
 * Sets the function to be called after a migration of a unit that is not a scheduler's. Returns ABT_ERR_MEM or
 * ABT_SUCCESS.
 */
int abti_unit_set_migrated(abti_unit *unit, void (*func)(ABT_thread, void *), void *arg) ABTI_MUST_CHECK;

/* Forgets that function. */
void abti_unit_forget_migrated(abti_unit *unit);

/* Returns that function and its argument; both are NULL if there is none. */
struct abti_migrated abti_unit_migrated(abti_unit *unit);

/* acquire: pairs with the release in abti_after_suspend and in abti_hand_over. A mark keeps to that order. */
ABTI_INLINE bool abti_unit_is_blocked(abti_unit *unit)
{
    return (abti_load_acquire(&unit->state) & ABT_THREAD_STATE_BLOCKED) != 0;
}

/*
 * Whether it has suspended itself, and its user may resume it. acquire: pairs with the release in after_self_suspend
 * (run/block.c) and in abti_hand_over
 */
ABTI_INLINE bool abti_unit_is_suspended(abti_unit *unit)
{
    return (abti_load_acquire(&unit->state) & ABTI_STATE_SUSPENDED) != 0;
}

ABTI_INLINE bool abti_unit_is_done(abti_unit *unit)
{
    /*
     * acquire: pairs with the releases of DONE in publish_end, abti_end_ult, publish_end_observed,
     * abti_publish_end_to_joiner, abti_try_publish_end, abti_try_end_tasklet and abti_leftover_leave. A thread that
     * sees the unit terminated sees its effects.
     */
    return abti_load_acquire(&unit->join) == ABTI_JOIN_DONE;
}

/*
 * Whether the unit is to end before it runs on. A held unit first sees to what it has left behind, and so does one that
 * puts cancels off. relaxed: the stream that runs or has popped the unit asks, and a request takes effect at the next
 * look.
 */
ABTI_INLINE bool abti_unit_is_cancelled(abti_unit *unit)
{
    unsigned requests = abti_load_relaxed(&unit->requests);
    return (requests & (ABTI_REQ_CANCEL | ABTI_REQ_OFF)) == ABTI_REQ_CANCEL && !abti_load_relaxed(&unit->held);
}

/* Whether it is to go to another pool before it runs on. relaxed: as above */
ABTI_INLINE bool abti_unit_is_to_migrate(abti_unit *unit)
{
    return abti_load_relaxed(&unit->requests) & ABTI_REQ_MIGRATE;
}

/*
 * Whether the unit runs in place. The stream that runs or has popped the unit asks. relaxed: the registration came
 * before the unit started, and what brought the unit here orders it.
 */
ABTI_INLINE bool abti_unit_runs_in_place(abti_unit *unit)
{
    return (abti_load_relaxed(&unit->join) & ABTI_JOIN_IN_PLACE) != 0;
}

/* Whether it is that of the caller of ABT_init. */
ABTI_INLINE bool abti_unit_is_primary(const abti_unit *unit)
{
    return (unit->flags & (ABTI_UNIT_PRIMARY | ABTI_UNIT_ENTERED)) == ABTI_UNIT_PRIMARY;
}

ABTI_INLINE bool abti_unit_is_tasklet(const abti_unit *unit)
{
    return (unit->flags & ABTI_UNIT_TASKLET) != 0;
}

/*
 * Returns the unit's pool to a thread that neither runs nor has popped the unit, which may be on its way to another
 * pool. relaxed: pairs with abti_unit_set_pool, and orders nothing.
 */
ABTI_INLINE abti_pool *abti_unit_last_pool(abti_unit *unit)
{
    return abti_plain_load_relaxed(&unit->pool);
}

/* Sets the unit's pool. relaxed: the caller runs or has popped the unit, and its push publishes the store. */
ABTI_INLINE void abti_unit_set_pool(abti_unit *unit, abti_pool *pool)
{
    abti_plain_store_relaxed(&unit->pool, pool);
}

/*
 * Sets the unit's stack. release: pairs with the acquire in stack_of (unit/unit.c), so that a thread which asks for the
 * stack of a unit that starts elsewhere sees the stack as it was made.
 */
ABTI_INLINE void abti_unit_set_stack(abti_unit *unit, struct abti_stack *stack)
{
    abti_plain_store_release(&unit->stack, stack);
}

/*
 * Whether the unit has started. The stream that runs or has popped the unit asks. relaxed: no other stream starts it.
 * This loads only these two bytes, since the state beside them may have been stored just before, and a load of both
 * would wait for that.
 */
ABTI_INLINE bool abti_unit_has_started(abti_unit *unit)
{
    return abti_load_relaxed(&unit->es) != 0;
}

/*
 * Whether the unit is fresh: it has not started, and there is nothing special about it, not even a request, so that it
 * may start on any default stack, or in place. relaxed: a request takes effect at the next poll, whenever it becomes
 * visible. Four bytes are loaded here, since creation has stored them together; two of them would come a little later.
 */
ABTI_INLINE bool abti_unit_is_fresh_default(abti_unit *unit)
{
    return !(abti_load_relaxed(&unit->running) & ABTI_RUNNING_ES) &&
           !(abti_load_relaxed(&unit->what) &
             (ABTI_UNIT_TASKLET | ABTI_UNIT_OWN_STACK | ABTI_UNIT_MAIN_SCHED | ABTI_WHAT_REQUESTS));
}

/*
 * Whether the unit is a tasklet without requests, which may be run at once.
 * relaxed: a request takes effect at the next poll, whenever it becomes visible.
 */
ABTI_INLINE bool abti_unit_is_fresh_tasklet(abti_unit *unit)
{
    return (abti_load_relaxed(&unit->what) & (ABTI_UNIT_TASKLET | ABTI_WHAT_REQUESTS)) == ABTI_UNIT_TASKLET;
}

/*
 * The unit is being taken out of a pool, and another stream has written its line last, most likely. A load would fetch
 * the line to be read, and the first store fetch it again. relaxed: it is READY, as every unit in a pool.
 */
ABTI_INLINE void abti_unit_fetch(abti_unit *unit)
{
    abti_cpu_fetch_to_write(unit);
    abti_store_relaxed(&unit->state, ABT_THREAD_STATE_READY);
}

/* Allocates a descriptor for a thread that is no ES. Returns NULL when there is no memory. */
abti_unit *abti_unit_alloc_external(void) ABTI_MUST_CHECK;
void abti_unit_release_external(abti_unit *unit);

/* Makes a new unit of a descriptor. Nobody else knows it yet. */
ABTI_INLINE void abti_unit_init(abti_unit *unit, void (*func)(void *), void *arg, abti_pool *pool, unsigned flags)
{
    abti_assert(unit && ((uintptr_t)unit & ABTI_JOIN_TAGS) == 0);
    unit->func = func;
    unit->arg = arg;
    unit->pool = pool;
    /*
     * The number of stores bounds the speed of a creation: there is one for join and meta, and none for context and
     * stack, since meta says that the unit has not started. It is not atomic, since nobody knows the unit yet.
     */
    typedef uint64_t pair __attribute__((vector_size(16), may_alias));
    *(pair *)&unit->join = (pair){0, flags};
}

/* Makes a terminated unit as good as new; what hangs on it stays. relaxed: the push that follows publishes it. */
ABTI_INLINE void abti_unit_renew(abti_unit *unit, void (*func)(void *), void *arg)
{
    abti_assert(abti_unit_is_done(unit));
    unit->func = func;
    unit->arg = arg;
    abti_store_relaxed(&unit->requests, 0);
    abti_store_relaxed(&unit->running, 0); /* it is READY, and on no ES: it has not started */
    /* release: pairs with the acquire in default_stack_end (unit/unit.c): the stack is not that of the last life */
    abti_store_release(&unit->join, 0);
}

/* Returns the unit's number, which it gets when it is first asked for. Any thread may call this. */
uint64_t abti_unit_id(abti_unit *unit);

/* Returns the ES that runs the unit or ran it last. ABT_XSTREAM_NULL: there was none, or it is no more. */
abti_es *abti_unit_last_es(abti_unit *unit);
ABT_thread_state abti_unit_state(abti_unit *unit);

/*
 * Returns the address past the highest byte that the unit may use of its stack. A unit that runs in place has what is
 * below its joiner's frames. NULL: the unit has no stack, has not started, or has ended on a stack that it had to give
 * back. The size is what it was promised.
 *
 * Any thread that has the handle may ask. If the unit runs, starts or ends elsewhere meanwhile, the answer tells how it
 * was at some time during the call.
 */
char *abti_unit_stack_end(abti_unit *unit);
size_t abti_unit_stack_size(abti_unit *unit);

/*
 * The unit is about to block, and this says what for, to the registry (watch/registry.h) alone: a struct abti_waiter of
 * its own, the joined unit, the address of the handle that is to be nulled, a barrier, or NULL. relaxed: the registry
 * checks what it finds there.
 */
#define ABTI_WAITS_SINCE ((const void *)1) /* as NULL, but when it has blocked is known */

ABTI_INLINE void abti_unit_wait_for(abti_unit *unit, const void *what)
{
    abti_plain_store_relaxed(&unit->waits_for, what);
}

/* What it is. relaxed: the caller is the unit, or checks what it finds there. */
ABTI_INLINE const void *abti_unit_waits_for(const abti_unit *unit)
{
    return abti_plain_load_relaxed(&unit->waits_for);
}

/*
 * The unit is about to block until `joined` ends. One that frees it says so by the user's handle: the thread that frees
 * `joined` on its behalf, by abti_unit_join_handle, nulls that.
 */
ABTI_INLINE void abti_unit_wait_for_join(abti_unit *unit, const abti_unit *joined, ABT_thread *handle)
{
    abti_unit_wait_for(unit, handle ? (const void *)handle : joined);
}

/* The handle that a blocked joiner has given ABT_thread_free. It has registered, which orders its store. */
ABTI_INLINE ABT_thread *abti_unit_join_handle(const abti_unit *joiner)
{
    abti_assert(joiner->handle);
    return joiner->handle;
}

/*
 * For the registry, which goes over all descriptors: cells that were never used are zero, those that have been given
 * back read as zero, and free ones have no function, nor do the units of main schedulers and the primary ULT. relaxed:
 * the registry may take a unit that is freed meanwhile for one that is still there.
 */
ABTI_INLINE void abti_unit_mark_free(abti_unit *unit)
{
    abti_plain_store_relaxed(&unit->func, NULL);
}

/* Allocates a descriptor. `es` is the caller's ES, or NULL. Returns NULL when there is no memory. */
ABTI_INLINE abti_unit *abti_unit_alloc(abti_es *es)
{
    if (ABTI_LIKELY(es != NULL))
        return abti_cache_get(&es->units);
    return abti_unit_alloc_external();
}

/* Frees a descriptor. The cache is not full. */
ABTI_INLINE void abti_unit_release_quick(abti_es *es, abti_unit *unit)
{
    abti_unit_mark_free(unit);
    abti_cache_push(&es->units, unit);
}

/* Frees a descriptor. */
ABTI_INLINE void abti_unit_release(abti_es *es, abti_unit *unit)
{
    abti_unit_mark_free(unit);
    if (ABTI_LIKELY(es != NULL))
        abti_cache_put(&es->units, unit);
    else
        abti_unit_release_external(unit);
}

#endif

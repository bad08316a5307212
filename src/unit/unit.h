/*
 * Work units: ULTs and tasklets, and the ULTs in which schedulers run. doc/lifecycle.md draws the states.
 *
 * A descriptor is two cache lines that lie apart: the hot line, which is the handle, holds what create, dispatch and
 * join touch; the cold line, at a fixed distance in the same block, is initialised when it is first needed. A created
 * unit that has not run costs its hot line.
 */
#ifndef ABTI_UNIT_UNIT_H
#define ABTI_UNIT_UNIT_H

#include <abt.h>
#include <stdbool.h>
#include <stddef.h>
#include "arch/ctx.h"
#include "arch/cpu.h"
#include "base/assert.h"
#include "rt/self.h"

struct abti_ktable;

/* What a unit is; written at creation. */
enum {
    ABTI_UNIT_TASKLET = 1 << 0,
    ABTI_UNIT_NAMED = 1 << 1, /* the user frees it; the others free themselves when they end */
    ABTI_UNIT_PRIMARY = 1 << 2,
    ABTI_UNIT_MAIN_SCHED = 1 << 3, /* runs an ES's main scheduler; waits natively, as its ES has nothing else to do */
    ABTI_UNIT_SCHED = 1 << 4,      /* runs a scheduler stacked in a pool */
    ABTI_UNIT_OWN_STACK = 1 << 5,  /* has a stack from creation to free: other than default size, or the user's */
    ABTI_UNIT_PINNED = 1 << 6,     /* not migratable, as long as there is no cold line to say so */
};

/* Requests to a unit, honoured when it is next taken for running or yields. */
enum {
    ABTI_REQ_CANCEL = 1,
    ABTI_REQ_MIGRATE = 2,
    ABTI_REQ_FREE = 4, /* a unit that it waited for is left to it, see run/leftover.h: only when taken for running */
};

/*
 * The join word. Written by the joiner that registers (0 -> joiner, by compare-and-swap) and by the stream that ends
 * the unit (anything -> DONE). DONE is the last store to a named unit: whoever sees it may free the unit.
 *
 *   0                  running or to run, nobody waits
 *   DONE               terminated
 *   joiner | tags      one joiner sleeps: a ULT, or with EXTERNAL a struct abti_sleeper of a native thread
 */
enum {
    ABTI_JOIN_DONE = 1,
    ABTI_JOIN_EXTERNAL = 2,
    ABTI_JOIN_FREE = 4,     /* the joiner is in ABT_thread_free: the ending unit frees itself on its behalf, unless
                               run/leftover.h says otherwise */
    ABTI_JOIN_IN_PLACE = 8, /* the unit runs on the rest of the joiner's stack */
    ABTI_JOIN_TAGS = 15,
};

struct ABT_thread_opaque {
    abti_unit *next; /* link of the list that holds it: a pool, a free list, a wait queue */
    void (*func)(void *);
    void *arg;
    abti_pool *pool;          /* associated pool. Written by its creator, by whoever runs or has popped it; others
                                 ask abti_unit_last_pool */
    abti_ctx ctx;             /* started and not running: where it goes on. Of any content before it starts */
    struct abti_stack *stack; /* started or OWN_STACK; else of any content. In place: the joiner's */
    _Atomic(uintptr_t) join;  /* see above */
    union {
        struct {
            uint16_t flags;
            _Atomic(uint8_t) requests; /* set by anybody, cleared by the stream that serves them */
            _Atomic(uint8_t) cold;     /* of the cold line, see ABTI_COLD_NONE */
            _Atomic(uint16_t) es;      /* index of the ES that ran it last; ABTI_ES_NONE: it has not started */
            _Atomic(uint8_t) state;    /* enum ABT_thread_state but TERMINATED, which is the join word's */
            _Atomic(uint8_t) held;     /* not to be cancelled before it has run again: others know what is on its
                                          stack. Stored by the unit, cleared when it runs */
        };
        /* The same in larger pieces, for one load or store (little endians): what it is, where it runs, all of it. */
        struct {
            _Atomic(uint32_t) what;    /* flags, requests, cold */
            _Atomic(uint32_t) running; /* es, state */
        };
        _Atomic(uint64_t) meta;
    };
};

/*
 * The cold line is raw memory until the first need, then BUSY while one thread clears it, then READY. PINNED, not
 * migratable, is told beside READY; a unit that is created so needs no cold line for that, but has it in its flags.
 */
enum { ABTI_COLD_NONE = 0, ABTI_COLD_BUSY = 1, ABTI_COLD_READY = 2, ABTI_COLD_PINNED = 4 };

#define ABTI_WHAT_REQUESTS 0xff0000u
#define ABTI_WHAT_COLD 0xff000000u

_Static_assert(sizeof(abti_unit) == 64, "one cache line");
_Static_assert(offsetof(abti_unit, meta) == offsetof(abti_unit, join) + 8 && offsetof(abti_unit, join) % 16 == 0,
               "join and meta are written as one");

/* Not the index of any ES, and zero, so that a new unit's meta word is its flags. */
#define ABTI_ES_NONE 0u
_Static_assert(ABT_THREAD_STATE_READY == 0, "so is its state");

/* The running word of a unit that runs on the ES with this index, and the part of it that says which. */
#define ABTI_RUNNING_ON(index) ((uint32_t)(index) | (uint32_t)ABT_THREAD_STATE_RUNNING << 16)
#define ABTI_RUNNING_ES 0xffffu

/* What few units have. Valid once hot->cold says so; every field is zero before. */
struct abti_unit_cold {
    _Atomic(struct abti_ktable *) keys; /* work-unit specific data; created on first set */
    _Atomic(uint64_t) id;               /* id + 1, given at the first query */
    union {
        _Atomic(abti_pool *) migrate_to; /* target of the pending migration request */
        ABT_thread *handle;              /* terminated, in run/leftover: of the joiner, to be nulled */
    };
    union {
        struct abti_migrated *migrated; /* called after a migration; NULL: nothing is. The unit's */
        abti_sched *sched;              /* MAIN_SCHED, SCHED, which never migrate: what it runs */
    };
    _Atomic(ABT_unit) unit;  /* the handle that its user-defined pool made; NULL: it has none. Written like `pool` */
    abti_unit *unitmap_next; /* guarded by the bucket of unit/unitmap */
    _Atomic(void *) slots[ABTX_NUM_SLOTS]; /* of the runtimes above, see pool/slot.h */
};

_Static_assert(sizeof(struct abti_unit_cold) <= 64, "one cache line");

/* What few of those have: a function of the user's. */
struct abti_migrated {
    void (*func)(ABT_thread, void *);
    void *arg;
};

enum { ABTI_UNIT_BLOCK = 256 * 1024, ABTI_UNIT_COLD_OFFSET = ABTI_UNIT_BLOCK / 2 };

/* In chunks of at least so many bytes; `kept`, at least 2: how many free ones a stream may have at hand. */
void abti_unit_slab_spec(struct abti_slab_spec *spec, size_t chunk, unsigned kept);

/* The cold line, made ready; any thread. Never fails. */
struct abti_unit_cold *abti_unit_cold_get(abti_unit *unit);

/* The cold line if it is ready, or NULL: it was never needed, or somebody is just making it ready. */
ABTI_INLINE struct abti_unit_cold *abti_unit_cold_glance(abti_unit *unit)
{
    /* acquire: pairs with the release in abti_unit_cold_get */
    if (abti_load_acquire(&unit->cold) & ABTI_COLD_READY)
        return (struct abti_unit_cold *)((char *)unit + ABTI_UNIT_COLD_OFFSET);
    return NULL;
}

/* The cold line if it was ever needed, or NULL. */
ABTI_INLINE struct abti_unit_cold *abti_unit_cold_peek(abti_unit *unit)
{
    /* acquire: pairs with the release in abti_unit_cold_get */
    if (ABTI_LIKELY(abti_load_acquire(&unit->cold) == 0))
        return NULL;
    return abti_unit_cold_get(unit);
}

/* The unit must not migrate, or may. Any thread. */
void abti_unit_set_pinned(abti_unit *unit, bool pinned);

ABTI_INLINE bool abti_unit_is_pinned(abti_unit *unit)
{
    /* relaxed: who tells so and who asks are the user's to order */
    uint8_t cold = abti_load_relaxed(&unit->cold);
    return cold & ABTI_COLD_READY ? cold & ABTI_COLD_PINNED : unit->flags & ABTI_UNIT_PINNED;
}

/* The function to be called after a migration of a unit that is no scheduler's. ABT_ERR_MEM, or ABT_SUCCESS. */
int abti_unit_set_migrated(abti_unit *unit, void (*func)(ABT_thread, void *), void *arg) ABTI_MUST_CHECK;

/* Nothing is called any more. */
void abti_unit_forget_migrated(abti_unit *unit);

/* That function and its argument; both are NULL if there is none. */
struct abti_migrated abti_unit_migrated(abti_unit *unit);

ABTI_INLINE bool abti_unit_is_done(abti_unit *unit)
{
    /* acquire: pairs with the store of DONE, so that the unit's effects are visible to who sees it terminated */
    return abti_load_acquire(&unit->join) == ABTI_JOIN_DONE;
}

/* The unit is to end before it runs on. Held ones see to what they have left behind first. */
ABTI_INLINE bool abti_unit_is_cancelled(abti_unit *unit)
{
    return (abti_load_relaxed(&unit->requests) & ABTI_REQ_CANCEL) && !abti_load_relaxed(&unit->held);
}

/* For the stream that runs or has popped the unit. relaxed: who has put that into the word has started the unit, too */
ABTI_INLINE bool abti_unit_runs_in_place(abti_unit *unit)
{
    return (abti_load_relaxed(&unit->join) & ABTI_JOIN_IN_PLACE) != 0;
}

ABTI_INLINE bool abti_unit_is_tasklet(const abti_unit *unit)
{
    return (unit->flags & ABTI_UNIT_TASKLET) != 0;
}

/* For who neither runs nor has popped the unit: it may be on its way to another pool. */
ABTI_INLINE abti_pool *abti_unit_last_pool(abti_unit *unit)
{
    return abti_plain_load_relaxed(&unit->pool); /* pairs with abti_unit_set_pool, orders nothing */
}

ABTI_INLINE void abti_unit_set_pool(abti_unit *unit, abti_pool *pool)
{
    abti_plain_store_relaxed(&unit->pool, pool);
}

/* release: who asks for the stack of a unit that starts elsewhere, see abti_unit_stack_end, sees it as it was made. */
ABTI_INLINE void abti_unit_set_stack(abti_unit *unit, struct abti_stack *stack)
{
    abti_plain_store_release(&unit->stack, stack);
}

/*
 * For who runs or has popped it. relaxed: nobody else starts it. No more than these two bytes, as the state beside them
 * may have been stored just before, and a load of both would wait for that.
 */
ABTI_INLINE bool abti_unit_has_started(abti_unit *unit)
{
    return abti_cpu_is_set_2(&unit->es);
}

/*
 * A unit that may start on any default stack, or in place: it has not started, and there is nothing special about it,
 * not even a request (relaxed: one takes effect at the next look, whenever it becomes visible). Four bytes here, as
 * creation has stored them together: two of them are had a little later.
 */
ABTI_INLINE bool abti_unit_is_fresh_default(abti_unit *unit)
{
    return !abti_cpu_has_any(&unit->running, ABTI_RUNNING_ES) &&
           !abti_cpu_has_any(&unit->what, ABTI_UNIT_TASKLET | ABTI_UNIT_OWN_STACK | ABTI_WHAT_REQUESTS);
}

/* A tasklet that nothing is asked of. With tools it runs as any other child does. */
ABTI_INLINE bool abti_unit_is_fresh_tasklet(abti_unit *unit)
{
    return !ABTI_BUILD_TOOL &&
           (abti_load_relaxed(&unit->what) & (ABTI_UNIT_TASKLET | ABTI_WHAT_REQUESTS)) == ABTI_UNIT_TASKLET;
}

/* Descriptors for threads that are no ES. NULL when there is no memory. */
abti_unit *abti_unit_alloc_external(void) ABTI_MUST_CHECK;
void abti_unit_release_external(abti_unit *unit);

ABTI_INLINE void abti_unit_init(abti_unit *unit, void (*func)(void *), void *arg, abti_pool *pool, unsigned flags)
{
    abti_assert(unit && ((uintptr_t)unit & ABTI_JOIN_TAGS) == 0);
    unit->func = func;
    unit->arg = arg;
    unit->pool = pool;
    /*
     * Stores are what bounds a create: one for join and meta, and none for context and stack, as meta says that it has
     * not started. Not atomic, as nobody knows the unit yet.
     */
    typedef uint64_t pair __attribute__((vector_size(16), may_alias));
    *(pair *)&unit->join = (pair){0, flags};
}

/* A terminated unit is as good as new, with what hangs on it. relaxed: the push that follows publishes it. */
ABTI_INLINE void abti_unit_renew(abti_unit *unit, void (*func)(void *), void *arg)
{
    abti_assert(abti_unit_is_done(unit));
    unit->func = func;
    unit->arg = arg;
    abti_store_relaxed(&unit->requests, 0);
    abti_store_relaxed(&unit->running, 0); /* READY, on no ES: it has not started */
    abti_store_release(&unit->join, 0);    /* pairs with abti_unit_stack_end: the stack is the last life's no more */
}

uint64_t abti_unit_id(abti_unit *unit);

/* The ES that runs it or ran it last; ABT_XSTREAM_NULL: none, or it is no more. */
abti_es *abti_unit_last_es(abti_unit *unit);
ABT_thread_state abti_unit_state(abti_unit *unit);

/*
 * Past the highest address of what the unit may use of its stack: one that runs in place has what lies below its
 * joiner's frames. NULL: it has none, has not started, or has ended on a stack that it had to give back. The size is
 * what it was promised.
 *
 * Anybody may ask who has the handle. Of a unit that runs, starts or ends elsewhere meanwhile the answer tells how it
 * was at some time during the call.
 */
char *abti_unit_stack_end(abti_unit *unit);
size_t abti_unit_stack_size(abti_unit *unit);

/* Descriptors. es: the caller's, NULL: none. */
ABTI_INLINE abti_unit *abti_unit_alloc(abti_es *es)
{
    if (ABTI_LIKELY(es != NULL))
        return abti_cache_get(&es->units);
    return abti_unit_alloc_external();
}

ABTI_INLINE void abti_unit_release(abti_es *es, abti_unit *unit)
{
    if (ABTI_LIKELY(es != NULL))
        abti_cache_put(&es->units, unit);
    else
        abti_unit_release_external(unit);
}

#endif

/* Execution streams. */
#ifndef ABTI_STREAM_XSTREAM_H
#define ABTI_STREAM_XSTREAM_H

#include <pthread.h>
#include <setjmp.h>
#include "base/build.h"
#include "stream/idle.h"
#include "unit/ownstack.h"
#include "sync/waiter.h"
#include "run/sched.h"

/* Requests to an ES, delivered to the scheduler that checks events. */
enum {
    ABTI_ES_REQ_JOIN = 1,
    ABTI_ES_REQ_CANCEL = 2,
    ABTI_ES_REQ_HALT = 4,
    ABTI_ES_REQ_LOOK = 8,    /* not to sleep before it has looked at everything again */
    ABTI_ES_REQ_POLL = 16,   /* not a request: there are pollers to be called */
    ABTI_ES_REQ_STACKS = 32, /* its free stacks are wanted by others */
};

/* What the native thread of an ES is told to do once its main scheduler has ended. */
enum { ABTI_ES_RUN = 0, ABTI_ES_STOPPED = 1, ABTI_ES_EXIT = 2 };

struct ABT_xstream_opaque {
    /* Private to the ES's native thread. */
    abti_unit *cur;      /* unit that runs now */
    abti_unit *parent;   /* ULT that runs `cur` as its child and goes on when nobody else is picked; NULL: none */
    abti_pool *fast;     /* dsched's first pool if that is a private FIFO; else abti_no_pool, which is always empty
                            and nobody's, so that the quick paths need not ask twice */
    abti_sched *dsched;  /* scheduler that `cur`, a ULT then, may ask for the next unit itself; NULL: control
                            goes to the parent */
    abti_unit *handoff;  /* picked by a child, for the parent to run */
    int32_t budget;      /* units until the scheduler looks at events */
    bool woken;          /* was woken from its sleep and has run nothing since, see abti_sched_pass_wake */
    bool sleepy;         /* sleeps at once when it is idle next: somebody here waits for what takes long */
    uint64_t offered_ns; /* when it last offered a unit to a sleeping stream */
    uint16_t index;      /* in rt.by_index. Constant */
    uint32_t running;    /* ABTI_RUNNING_ON(index) */
    struct abti_bias_user *bias; /* in which pool's lock the native thread is by the bias. Constant */
    struct abti_cache units;
    struct abti_cache stacks;
    struct abti_ownstacks ownstacks; /* of other than the default size */
    struct abti_stack native;        /* describes the native thread's own stack */
    void *fault_stack;               /* signal handlers' stack on the native thread; NULL: no stacks are guarded */
    jmp_buf *main_exit;              /* where the main scheduler's ULT ends, see abti_xsloop_exit */
    struct abti_timers *timers;      /* of the ULTs that wait here with a deadline; has a lock of its own. Constant */

    /* Shared. */
    _Atomic(uint32_t) requests;
    struct abti_sleeper sleeper; /* the native thread's place to sleep when its schedulers have nothing to do */
    _Atomic(uint32_t) control;   /* futex word: ABTI_ES_RUN ... */
    _Atomic(int) state;          /* enum ABT_xstream_state */
    _Atomic(abti_sched *) main_sched;
    abti_unit *main_unit; /* ULT of the main scheduler. Constant */
    bool is_primary;      /* constant */

    struct abti_spin replace_lock;
    abti_sched *replacement;   /* replace_lock: scheduler to install, NULL: none */
    abti_unit *replace_waiter; /* replace_lock: ULT that asked for it */

    int rank;         /* rt.lock */
    abti_es *next;    /* rt.lock */
    uint32_t halted;  /* rt.lock: the round of stream/halt in which it has halted last */
    pthread_t thread; /* creator; valid for secondary ESs */

    struct abti_idle idle;
    uint64_t asked_ns;             /* private: when it last asked others for their free stacks */
    struct abti_stack *dead_stack; /* private, for the tools: has just been left for good by who goes to another */
    uint32_t unwatched;            /* private: ULTs that have started here since one was watched, see run/stackuse.h */
    struct abti_cache *ktables;    /* private: blocks of unit/key.c; NULL: none was needed yet */
    /* Private to the ES's native thread, kept for rt/tool.h only. */
    int depth;   /* of `cur`: how many schedulers run one another down to it */
    bool untold; /* the events of the moment are told as if there were no ES */
};

/* The ES that the calling native thread is; NULL for external threads. A ULT may come back from any switch on another
 * ES: read it anew after each. (On x86-64 the access is one segment-relative load, nothing of it can be kept.) */
extern _Thread_local abti_es *abti_es_self __attribute__((tls_model("initial-exec")));

extern abti_pool abti_no_pool;

/* Who may be asked for the next unit from now on. With tools nobody, so that all units run on the general paths. */
ABTI_INLINE void abti_es_set_dsched(abti_es *es, abti_sched *dsched)
{
    if (ABTI_BUILD_TOOL)
        dsched = NULL;
    es->dsched = dsched;
    es->fast = dsched && dsched->fast ? dsched->fast : &abti_no_pool;
}

/*
 * The lock of a pool, which is biased to an ES that comes alone for long. Nobody takes a second one meanwhile; who
 * calls the user's functions under it takes it by abti_pool_lock_long, and they may. `es` is the caller's, NULL: none.
 */
ABTI_INLINE void abti_pool_lock(abti_es *es, abti_pool *pool)
{
    abti_bias_lock(&pool->lock, es ? es->bias : NULL);
}

ABTI_INLINE void abti_pool_lock_long(abti_es *es, abti_pool *pool)
{
    abti_bias_lock_long(&pool->lock, es ? es->bias : NULL);
}

ABTI_INLINE void abti_pool_unlock(abti_es *es, abti_pool *pool)
{
    abti_bias_unlock(&pool->lock, es ? es->bias : NULL);
}

/* An ES that takes a unit, or leaves its scheduler, passes on the wake that it was woken by, if it was. */
ABTI_INLINE void abti_es_pass_wake(abti_es *es, abti_sched *sched)
{
    if (ABTI_UNLIKELY(es->woken)) {
        es->woken = false;
        abti_sched_pass_wake(sched);
    }
}

/* A new unit is pushed to a shared built-in pool, on an ES. ABT_SUCCESS, for the caller to return. */
ABTI_INLINE int abti_pool_push_new(abti_es *es, abti_pool *pool, abti_unit *unit)
{
    if (ABTI_UNLIKELY(!abti_bias_enter(&pool->lock, es->bias)))
        return abti_pool_push_new_slow(pool, unit);
    if (pool->shared_fifo) {
        abti_queue_push(&pool->queue, unit);
    } else if (ABTI_LIKELY(!abti_ring_is_full(&pool->ring) && abti_queue_is_empty(&pool->queue))) {
        abti_ring_push(&pool->ring, unit, true);
    } else {
        abti_bias_leave(es->bias);
        return abti_pool_push_new_slow(pool, unit);
    }
    if (abti_pool_is_awaited(pool))
        return abti_pool_end_push(pool);
    abti_bias_leave(es->bias);
    return ABT_SUCCESS;
}

/* ES with a given main scheduler (already claimed). rank -1: the smallest free one. ABT code. */
int abti_es_create(abti_sched *sched, int rank, abti_es **es) ABTI_MUST_CHECK;
/* The primary ES around the calling native thread and its unit. ABT code. */
int abti_es_create_primary(abti_sched *sched, abti_es **es) ABTI_MUST_CHECK;
void abti_es_destroy_primary(abti_es *es);

void abti_es_join(abti_es *es);
void abti_es_free(abti_es *es);
int abti_es_revive(abti_es *es) ABTI_MUST_CHECK;
/* Sets requests and sees to it that the ES notices. */
void abti_es_request(abti_es *es, unsigned requests);
void abti_es_wake(abti_es *es);
/* There is no memory for stacks: the other ESs are asked for those that they have at hand, once in a while. */
void abti_es_ask_for_stacks(abti_es *es);
/* All ESs but one, or NULL, are asked. */
void abti_es_ask_all_for_stacks(abti_es *but);
/* Delivers the requests to the scheduler that asks. */
void abti_es_check_events(abti_es *es, abti_sched *sched);
/* The scheduler, a main one of a predefined kind, would find nothing to do at a look at events, nor have to stop. */
bool abti_es_has_no_events(abti_es *es, abti_sched *sched);
int abti_es_set_rank(abti_es *es, int rank) ABTI_MUST_CHECK;
/* No ES has the rank now. */
bool abti_es_rank_is_free(int rank);

/* Replaces the main scheduler of a terminated ES, or of the calling ULT's own. ABT code. */
int abti_es_set_main_sched(abti_es *es, abti_sched *sched) ABTI_MUST_CHECK;

/*
 * The native thread of `es` sleeps until a unit is pushed to one of the scheduler's pools, a request, or the deadline.
 * Returns at once when there is something to do. abti_es_park_on: to one of the set's pools.
 */
void abti_es_park(abti_es *es, abti_sched *sched, uint64_t deadline_ns);
void abti_es_park_on(abti_es *es, abti_sched *sched, const struct abti_park_set *set, uint64_t deadline_ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of an execution stream (ES), and the variable that says which one the calling native thread is. */
#ifndef ABTI_RT_SELF_H
#define ABTI_RT_SELF_H

#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include "arch/cpu.h"
#include "os/cxx.h"
#include "lock/bias.h"
#include "mem/stack.h"
#include "rt/types.h"
#include "wait/external.h"
#include "wait/sleeper.h"

/* Requests to an ES. The table in stream/events.c says what serves each, and what it is for. */
enum {
    ABTI_ES_REQ_JOIN = 1,
    ABTI_ES_REQ_CANCEL = 2,
    ABTI_ES_REQ_HALT = 4,
    ABTI_ES_REQ_CHECK = 8,
    ABTI_ES_REQ_POLL = 16,
    ABTI_ES_REQ_STACKS = 32,
    ABTI_ES_REQ_TELL = 64,
    ABTI_ES_REQ_RETURN = 128,
};

/* What the native thread of an ES is to do once its main scheduler has ended. */
enum { ABTI_ES_RUN = 0, ABTI_ES_STOPPED = 1, ABTI_ES_EXIT = 2 };

/* The caches of stacks of an ES, which are private to it and made as they are needed. NULL: it was not needed yet. */
struct abti_ownstacks {
    struct abti_cache *caches[ABTI_STACK_CLASSES];
};

/*
 * What an ES has of its rooms: a structure each, with the file that it belongs to. It is private to the ES's native
 * thread, unless a comment says otherwise.
 */

/* unit/exceptions.c: two words that are 0 while there is nothing in hand. */
struct abti_in_hand {
    void *const *caught; /* of the C++ runtime, or of the loader. Others may write the latter */
    const unsigned *uncaught;
};

/* relaxed: the thread itself writes the runtime's, and a library counts from when the loader's is seen. */
ABTI_INLINE bool abti_is_any_in_hand(const struct abti_in_hand *in_hand)
{
    return ABTI_UNLIKELY(abti_plain_load_relaxed(in_hand->caught) != NULL) || ABTI_UNLIKELY(*in_hand->uncaught != 0);
}

/* unit/exceptions.c: how it finds the C++ exceptions in hand. */
struct abti_es_cxx {
    struct abti_cxx_globals *globals; /* of the native thread. NULL: no C++ runtime is known */
    uint64_t libraries;               /* how many had been loaded when a C++ runtime was looked for last */
    bool counts_libraries;            /* it checks its events whether there are more */
};

/* stream/main.c: the next main scheduler. */
struct abti_es_replace {
    struct abti_spin lock;
    abti_sched *sched; /* lock: scheduler to install, NULL: none */
    abti_unit *waiter; /* lock: ULT that asked for it */
};

/* fork/fork.c: the deque that is kept for the next ULT that forks. */
struct abti_es_deque {
    void *kept;               /* NULL: none */
    void (*put)(void *deque); /* gives it back */
};

/* stream/carrier.c: which native threads are the ES. The last two are read by others. */
struct abti_es_carried {
    struct abti_crew *crew;     /* NULL: no unit has been in a blocking region */
    _Atomic(bool) is_away;      /* another native thread than its own is the ES */
    _Atomic(uint32_t) bindings; /* how often its own native thread was bound to CPUs */
};

/* unit/tool_event.h and run/observe.c: what the tools learn of the ES. */
struct abti_es_tool {
    int depth;                     /* of `cur`: how many schedulers run one another down to it */
    abti_unit *before;             /* has ended, and was `cur` before the one that is `cur` now */
    bool hidden;                   /* the events of the moment are reported as if there were no ES */
    struct abti_stack *dead_stack; /* the stack that has just been left for good, by a switch to another */
};

struct ABT_xstream_opaque {
    /* Private to the ES's native thread. */
    abti_unit *cur;           /* the unit that runs now */
    abti_unit *parent;        /* the ULT that runs `cur` as its child and goes on when no other is picked; NULL: none */
    abti_pool *fast;          /* dsched's first pool if the ES is its host; else abti_no_pool, which is always empty and
                                 belongs to nobody, so that the quick paths need not ask twice */
    abti_sched *dsched;       /* the scheduler that `cur`, a ULT then, may ask for the next unit itself; NULL: control
                                 goes to the parent */
    abti_unit *picked;        /* a unit that a child has picked, for the parent to run */
    struct abti_in_hand slow; /* one is not 0: switches take the slow form, see unit/exceptions.h */
    int32_t budget;           /* how many units may run before the scheduler checks events */
    bool woken;               /* the ES was woken and has run nothing since, see abti_es_pass_wake */
    _Atomic(bool) observed;   /* it reports events, see run/observe.h. Others read it under rt.lock */
    bool sleepy;              /* the ES sleeps at once when it is idle next: a unit here waits for what takes long, or
                                 the thread that would wake it is on this CPU */
    uint16_t index;           /* in rt.by_index. Constant */
    uint32_t running;         /* ABTI_RUNNING_ON(index) */
    uint64_t offered_ns;      /* when it last offered a unit to a sleeping stream */
    struct abti_in_hand in_hand; /* one is not 0: `cur` may have C++ exceptions in hand */
    struct abti_es_cxx cxx;
    struct abti_bias_user *bias; /* says in which pool's lock the native thread is by the bias. Constant */
    struct abti_cache units;
    struct abti_cache stacks;
    struct abti_ownstacks ownstacks; /* stacks of other than the default size */
    struct abti_stack native;        /* describes the native thread's own stack */
    void *fault_stack;               /* signal handlers' stack on the native thread; NULL: no stacks are guarded */
    jmp_buf *main_exit;              /* where the main scheduler's ULT ends, see abti_main_leave */
    struct abti_timers *timers;      /* of the ULTs that wait here with a deadline. They have a lock of their own.
                                        Constant */

    /* Shared. */
    _Atomic(uint32_t) requests;
    struct abti_sleeper sleeper; /* the native thread's place to sleep when its schedulers have nothing to do */
    _Atomic(uint32_t) control;   /* futex word: ABTI_ES_RUN ... */
    _Atomic(int) state;          /* enum ABT_xstream_state */
    _Atomic(abti_sched *) main_sched;
    abti_unit *main_unit;     /* ULT of the main scheduler. Constant */
    abti_pool *const *served; /* private: the pools of the main scheduler, see abti_es_serves */
    int num_served;
    bool is_entered;  /* made around a native thread, see stream/entered.h: the primary one and others. Constant */
    bool had_entered; /* private: the primary ES was one that a thread had entered before ABT_init */
    bool has_begun;   /* private: an entered ES's main scheduler has begun */

    struct abti_es_replace replace;

    int rank;                      /* rt.lock; the ES itself reads it without */
    abti_es *prev, *next;          /* rt.lock */
    uint32_t halted;               /* rt.lock: the round of stream/halt in which it has halted last */
    struct abti_known known;       /* of the native thread */
    _Atomic(const void *) hazard;  /* the native thread stores it, see sync/hazard.h. NULL: nothing */
    pthread_t thread;              /* creator; valid for secondary ESs */
    struct abti_listed_thread own; /* the same thread */

    struct abti_idle *idle;              /* see idle/idle.h. Constant */
    uint64_t asked_ns;                   /* private: when the ES last asked others for their free stacks */
    uint32_t random;                     /* private: state of abti_direct_check's choice */
    ABTX_switch_link *hooks;             /* private: of `cur`, see unit/saved.h; NULL: none */
    const struct abti_park_set *seeking; /* private: the pools that it polls before it runs anything; NULL: not known */
    struct abti_es_deque deque;
    struct abti_es_carried carried;
    struct abti_cache *ktables; /* private: blocks of unit/key.c; NULL: none was needed yet */
    struct abti_es_tool tool;
};

/*
 * The ES that the calling native thread is; NULL for external threads. A ULT may come back from any switch on another
 * ES: it reads the variable anew after each, and so does the compiler.
 */
extern _Thread_local abti_es *abti_es_self __attribute__((tls_model("initial-exec")));
abti_es **abti_es_self_at(void);
#define abti_es_self ABTI_CPU_THREAD_LOCAL(abti_es_self)

/*
 * Whether it is the one of ABT_init: no other has rank 0. relaxed: the ES itself takes and leaves that rank, in
 * ABT_init and ABT_finalize, and any other caller has rt.lock, or the user's order.
 */
ABTI_INLINE bool abti_es_is_primary(const abti_es *es)
{
    return abti_plain_load_relaxed(&es->rank) == 0;
}

/* Wakes the ES, if it sleeps because it has no work, so that it looks at everything. */
ABTI_INLINE void abti_es_wake(abti_es *es)
{
    abti_sleeper_wake(&es->sleeper);
}

/* Sets requests, and sees to it that the ES notices. Any thread may call this, and a signal handler. */
void abti_es_notify(abti_es *es, unsigned requests);

/* Asks the other ESs for their free stacks, once in a while, since there is no memory for stacks. */
void abti_es_ask_for_stacks(abti_es *es);

/* Asks all ESs for their free stacks, except `but`, which may be NULL. */
void abti_es_ask_all_for_stacks(abti_es *but);

#endif

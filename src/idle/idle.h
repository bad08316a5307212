/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that an ES calls beside its units: drivers, and in place of sleep the wait of one of them. All of an ES
 * are one list of callees. doc/waiting.md is the user's view, doc/memory-model.md proves that no wake is lost.
 */
#ifndef ABTI_IDLE_IDLE_H
#define ABTI_IDLE_IDLE_H

#include <abt.h>
#include <stdbool.h>
#include "idle/repoll.h"
#include "lock/spin.h"
#include "os/wakefd.h"
#include "pool/thief_policy.h"
#include "rt/self.h"

/*
 * The states of a callee. They are changed under the lock, by the ES alone, so that start, end and the other callbacks
 * run on one native thread:
 *
 *   CALLEE_COMING     attached; the ES is to call start. Another thread may take it out
 *   CALLEE_STARTING   the ES is in start, and goes to CALLEE_ON, or takes it out if start has failed
 *   CALLEE_ON         the ES calls it
 *   CALLEE_ENDING     the ES is in end; it takes it out, or goes to CALLEE_COMING if it is the ES that ends
 */
enum abti_callee_state { CALLEE_ON, CALLEE_COMING, CALLEE_STARTING, CALLEE_ENDING };

/* What an ES knows of a driver with one leader, see idle/leader.h. Only the ES uses it, but for `leads`: lock. */
struct abti_following {
    bool leads;
    uint32_t seen_calls; /* driver->calls, as it was last seen */
    uint64_t seen_ns;    /* since when it has been so */
};

/* A driver on an ES. */
struct abti_callee {
    struct abti_callee *next;
    struct ABTX_driver_opaque *driver;
    void *arg;                    /* the driver's data of this ES */
    uint64_t period_ns;           /* an idle ES calls it so often; ABTI_CLOCK_NEVER: it sleeps as if there were none */
    enum abti_callee_state state; /* lock */
    bool removed;                 /* lock: it is to be ended by the ES */
    _Atomic(uint32_t) *gone;      /* lock: is set when a removed driver has been ended; NULL: nobody waits */
    struct abti_following following;
};

/* This is a part of an ES. */
struct abti_idle {
    struct abti_spin lock;

    struct abti_repoll repoll; /* the ES's */

    /* The wait in place of sleep. */
    _Atomic(bool) has_wait; /* lock: a driver that is on has one. Read without the lock */
    bool has_fd;            /* lock */
    struct abti_wakefd fd;  /* made with the first wait; constant then, until the ES is freed */
    bool sleeps_in_wait;    /* the ES's: of its present sleep; false: it sleeps by itself */
    uint64_t owed;          /* the ES's: wakes that it has seen and whose signals it has not yet drained */

    /* The callees. ABTI_ES_REQ_POLL is set while one of them is to be called at event checks. */
    struct abti_callee *callees;  /* lock: in order of addition */
    struct abti_callee *cursor;   /* lock: which comes next in the present round of calls */
    struct abti_callee *called;   /* lock: which the ES calls now. The ES alone stores it */
    _Atomic(uint64_t) period_ns;  /* lock: the shortest period. Read without the lock */
    _Atomic(bool) adjusts;        /* lock: it is to be computed anew before each sleep. Read without the lock */
    bool busy;                    /* the ES's: a callee has done something since the ES last was about to sleep */
    unsigned brief_sleeps;        /* the ES's: sleeps that were to end at once */
    bool tells_sleep;             /* the ES's: there is a driver that wants to know that the ES is about to sleep */
    bool polled;                  /* the ES's: somebody was called at the last event check */
    bool leads;                   /* the ES's: it is the leader of a driver */
    _Atomic(bool) changes;        /* lock: a driver is to be started or ended. Read without the lock */
    void *data[ABTX_MAX_DRIVERS]; /* the ES's: of the drivers that are on, by their index */

    /* How long the ES polls before it sleeps. */
    _Atomic(int64_t) spin_ns; /* negative: as the library thinks fit */
    uint64_t idle_since_ns;   /* the ES's: when it began to poll, if that is so; 0: it has not */

    /* The sources, see stream/source.h. */
    struct abti_spin sources_lock;
    _Atomic(struct abti_attachment *) sources; /* sources_lock. Read without the lock */
    bool asks;                                 /* sources_lock: the ES is in a source's function, or between two */
    bool in_vain;                              /* the ES's: it has got nothing and run nothing since */
    bool resigns;            /* the ES's: it asks for the last time before it sleeps, and nobody else searches */
    bool asks_again;         /* the ES's: a source wants to be asked again soon */
    struct abti_thief thief; /* the ES's, as the next: what it has learnt of what it was given */
    struct abti_truce truce;

    const struct abti_park_set *parked; /* the ES's: what it has entered for its present sleep; NULL: it is awake */
};

/* --- For the ES --- */

/* Announces that the ES is going to sleep, as abti_sleeper_prepare; one of the other two follows. */
void abti_idle_prepare(abti_es *es);

/*
 * Sleeps until it is woken or the deadline has passed: by itself, or in a wait, which may come back at any time. True
 * if it was woken.
 */
bool abti_idle_sleep(abti_es *es, uint64_t deadline_ns);

/* Takes the announcement back. True if it was woken meanwhile. */
bool abti_idle_cancel(abti_es *es);

/* Whether there is somebody to call, whom a sleep in a pool's own pop_wait would leave out. */
bool abti_idle_has_calls(abti_es *es);

/* The same for drivers with another poll than this. By any thread, as long as the ES is there. */
bool abti_idle_has_other_calls(abti_es *es, ABT_bool (*poll)(void *data, ABT_bool about_to_sleep));

/* Calls the callees, at an event check. Starts and ends drivers first. */
void abti_idle_poll(abti_es *es);

/* Tells the drivers that the ES is about to sleep. One that finds something sets `busy`. */
void abti_idle_call_for_sleep(abti_es *es);

ABTI_INLINE void abti_idle_tell_sleep(abti_es *es)
{
    if (ABTI_UNLIKELY(es->idle->tells_sleep))
        abti_idle_call_for_sleep(es);
}

/* The ES has left a callee by a jump: that call has ended, and with it its time as the leader. */
void abti_idle_leave_callee(abti_es *es);

/*
 * Whether the ES, which has found nothing and whose spin_ns is not negative, polls on because of that setting.
 * `first`: it has found something the last time.
 */
bool abti_idle_spins_on(abti_es *es, bool first);

/* Returns until when the ES may sleep on account of the callees: `deadline_ns`, or before. */
uint64_t abti_idle_poll_limit(abti_es *es, uint64_t deadline_ns);

/* --- For any thread --- */

/* Sets how long the ES polls for something to run before it sleeps; negative: as the library thinks fit. */
void abti_idle_set_spin(abti_es *es, int64_t spin_ns);

/* Makes the descriptor that a wait needs, if there is none yet. Returns an ABT code. */
int abti_idle_need_fd(struct abti_idle *idle) ABTI_MUST_CHECK;

/* --- For idle/driver.c --- */

/* Makes a callee that is in no list. NULL: there is no memory. */
struct abti_callee *abti_callee_new(void);

/* All of these are called with the lock held. */
void abti_callee_add(struct abti_idle *idle, struct abti_callee *c);
void abti_callee_take_out(struct abti_idle *idle, struct abti_callee *c);

/*
 * Whether callbacks of the driver may be called here and now: of one that is bound on the ES's own native thread only.
 * No ES leaves that while it has such drivers. One that comes meanwhile is started when the ES is back, and the ES is
 * away once more when a ULT comes back from a region that began before.
 */
bool abti_idle_may_call(const abti_es *es, const struct ABTX_driver_opaque *driver);

/*
 * The ES's ULT makes the next poll of a driver that is on, unless another stream is at that. The lock is released
 * meanwhile. Nobody is called now. Whether it has found something.
 */
bool abti_idle_poll_locked(abti_es *es, struct abti_callee *c);

/* Says anew which callees are called when, after a change; the second one, on the ES, also what it alone knows. */
void abti_callees_update(abti_es *es);
void abti_callees_update_own(abti_es *es);

/* --- The beginning and the end --- */

void abti_idle_init(struct abti_idle *idle);

/* Frees what belongs to an ES that runs no more. */
void abti_idle_fini(abti_es *es);

#endif

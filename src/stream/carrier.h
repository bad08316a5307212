/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The native threads that carry a stream. A stream has a native thread of its own. Where one of its units keeps that
 * thread for itself (stream/blocking.h), a spare one carries the stream meanwhile: it has abti_es_self, and goes on
 * with what the stream's schedulers were doing, on their stacks.
 *
 * A carrier's turn says whether it is given the stream:
 *
 *   NONE -> GIVEN    by the thread that carries the stream, which does no more for it after that
 *   GIVEN -> NONE    by the carrier, which carries the stream from then on
 *   NONE -> ENDING   by the thread that frees the stream, which runs no more; of a spare carrier
 *
 * So one thread at a time carries a stream. That thread alone uses what is said below to be the stream's.
 */
#ifndef ABTI_STREAM_CARRIER_H
#define ABTI_STREAM_CARRIER_H

#include <pthread.h>
#include "rt/self.h"
#include "unit/unit.h"
#include "wait/external.h"

struct abti_carrier {
    abti_es *es;            /* constant */
    _Atomic(uint32_t) turn; /* futex word: see above */
    abti_unit idle;         /* its context and its stack are those where the thread waits for its turn; it is no unit */
    struct abti_stack stack;       /* describes a spare thread's own stack */
    pthread_t thread;              /* of a spare one. Constant */
    void *fault_stack;             /* of a spare one, as in an ES. Constant */
    uint32_t bindings;             /* the thread's: es->carried.bindings, as it was when a spare one was bound last */
    struct abti_known known;       /* of the thread while it carries nothing */
    struct abti_listed_thread own; /* a spare one */

    abti_unit *unit;           /* the stream's: has the thread for itself; NULL: none has */
    ABTX_switch_link *hooks;   /* of that unit */
    struct abti_carrier *next; /* in one of the lists below */
};

/* The carriers of a stream, made when the stream is given away for the first time. */
struct abti_crew {
    struct abti_carrier own;           /* the stream's own native thread */
    struct abti_carrier *now;          /* the stream's: which carries it */
    struct abti_carrier *spares;       /* the stream's: those that wait and have no unit */
    unsigned num_away;                 /* the stream's: carriers that have a unit for themselves */
    struct abti_spin lock;             /* of the list below */
    struct abti_carrier *returning;    /* lock: their units want to go on on the stream; the first comes first */
    struct abti_carrier **return_tail; /* lock */
};

/* Returns a spare carrier for the calling stream, which it may make. NULL: there is no memory, or no thread. */
struct abti_carrier *abti_carrier_spare(abti_es *es);

/* The calling thread does not carry the stream any more, and `to` does. It runs es->cur, which has been left. */
void abti_carrier_give(struct abti_carrier *from, struct abti_carrier *to);

/* Waits until the calling thread, `c`, is given the stream again. */
void abti_carrier_return(struct abti_carrier *c);

/*
 * `self`, a scheduler's ULT that runs on the calling thread, leaves its stack, and the stream is given to `to`: if that
 * has a unit, the unit goes on, and otherwise es->cur. Returns when self is switched to, on whatever thread that is.
 */
void abti_carrier_switch(abti_es *es, abti_unit *self, struct abti_carrier *to);

/*
 * The stream's own native thread has been bound to other CPUs, by any thread, and the spare ones are to follow: the one
 * that carries the stream when that checks events next, the others before they carry it.
 */
void abti_carriers_rebind(abti_es *es);

/* Binds the calling thread, which carries the stream, to the CPUs of the stream's own thread, if that is asked. */
void abti_carrier_follow(abti_es *es);

/* Ends the spare threads of a stream that runs no more, and frees all carriers. */
void abti_crew_fini(abti_es *es);

/* In the child of a fork, on the stream's own thread: there are no others. */
void abti_crew_forget(abti_es *es);

#endif

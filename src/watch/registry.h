/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which work units there are, and what each of them waits for: found by going over the slabs of descriptors, so that
 * creation, blocking and freeing keep no lists. The freeing of a descriptor takes its function from it, and a unit that
 * blocks says in its link, which is unused then, what for (abti_unit_wait_for).
 */
#ifndef ABTI_WATCH_REGISTRY_H
#define ABTI_WATCH_REGISTRY_H

#include <abt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "arch/ctx.h"
#include "mem/stack.h"
#include "rt/types.h"

enum abti_unit_kind {
    ABTI_KIND_ULT,
    ABTI_KIND_TASKLET,
    ABTI_KIND_PRIMARY,    /* the ULT of the program's main function */
    ABTI_KIND_ENTERED,    /* of another native thread that has entered a stream */
    ABTI_KIND_MAIN_SCHED, /* runs the main scheduler of a stream */
    ABTI_KIND_SCHED,      /* runs a scheduler that is queued in a pool */
};

/* What a blocked unit waits for, and of which kind note->object is. */
enum abti_wait_kind {
    ABTI_WAIT_NOTHING,  /* it is not blocked */
    ABTI_WAIT_SUSPEND,  /* to be resumed by name; no object. Also where it is not known */
    ABTI_WAIT_MUTEX,    /* ABT_mutex */
    ABTI_WAIT_COND,     /* ABT_cond */
    ABTI_WAIT_RWLOCK,   /* ABT_rwlock */
    ABTI_WAIT_EVENTUAL, /* ABT_eventual */
    ABTI_WAIT_ANY,      /* the first of several eventuals; no object */
    ABTI_WAIT_FUTURE,   /* ABT_future */
    ABTI_WAIT_BARRIER,  /* ABT_barrier */
    ABTI_WAIT_JOIN,     /* the end of a unit, which is `object` and `owner` */
    ABTI_WAIT_FREE,     /* the same, and that is to be freed */
    ABTI_WAIT_SLEEP,    /* a time; no object */
    ABTI_WAIT_WORD,     /* a word of ABTX_word_wait */
    ABTI_WAIT_OTHER,    /* something else */
};

enum { ABTI_NO_ID = -1, ABTI_NO_RANK = -1 };

struct abti_unit_note {
    abti_unit *unit;
    int64_t id; /* as ABT_thread_get_id tells it; ABTI_NO_ID: it was never asked for */
    enum abti_unit_kind kind;
    ABT_thread_state state; /* TERMINATED: its handle has not been freed */
    bool started;           /* false: READY, and has never run */
    void (*func)(void *);   /* NULL for PRIMARY and MAIN_SCHED */
    void *arg;
    abti_pool *pool;   /* only to be compared: it may be no more. NULL for MAIN_SCHED */
    int pool_id, rank; /* of its pool, of the stream that runs it or ran it last; ABTI_NO_RANK: none */
    enum abti_wait_kind wait;
    const void *object;       /* the handle of what it waits for; only to be compared */
    abti_unit *owner;         /* whose end or unlock it waits for, as far as that is known; NULL: not known */
    const void *native_owner; /* a native thread that has the mutex, as mutexes keep it; NULL: none that is known */
    bool has_deadline;        /* it goes on at deadline_ns at the latest, of abti_clock_mono_ns */
    uint64_t deadline_ns;
    unsigned flags; /* of the descriptor, and where its context and its stack's header are: stale if it runs */
    abti_ctx ctx;
    struct abti_stack *stack;
    char *default_end;  /* the end of its stack, if that is a default one */
    uint64_t waited_ns; /* since when it waits; 0: not known */
};

/*
 * Calls visit for each unit, until it returns false. The runtime is up, and stays so. Streams run on meanwhile, and
 * nothing is locked while `visit` runs, which may do what any native thread may. What is promised:
 *
 *   - a unit that exists from the walk's begin to its end is visited once; one that is made or freed meanwhile is
 *     visited or not;
 *   - what is said of a unit that changes nothing while it is looked at, as a blocked one that nobody wakes, is right;
 *   - of others each field is as it was at some moment of the read, and so they need not fit together;
 *   - no memory is touched that may have gone, whatever is read.
 *
 * By any native thread, also from a ULT; not in a signal handler.
 */
void abti_registry_walk(bool (*visit)(const struct abti_unit_note *note, void *arg), void *arg);

/* What a native thread waits for that sleeps on this word; NULL: that is not known, or is no mutex. */
const void *abti_registry_mutex_of(const void *word, abti_unit **owner);

/* The same of one unit. False: there is none. `unit` is or was one. */
bool abti_registry_look(abti_unit *unit, struct abti_unit_note *note);

/*
 * An ES stores plainly which unit it runs. A word that is only shown may be out of date,
 * which TSan need not see.
 */
abti_unit *abti_registry_peek(abti_unit *const *where) ABTI_NO_SANITIZE;

/* The same for what a unit is: whether a scheduler runs in it. `unit` is or was one. */
bool abti_registry_is_sched(const abti_unit *unit) ABTI_NO_SANITIZE;

/* Two lines of text at most: all of it. */
void abti_registry_print(FILE *fp, const struct abti_unit_note *note);

/* The second of them: what it waits for. Of one that waits. */
void abti_registry_print_wait(FILE *fp, const struct abti_unit_note *note);

enum { ABTI_NAME_ROOM = 256 };

/* "ULT 3 (work at program+0x11d9)"; one that was never asked for its id is called by its address. Returns `text`. */
const char *abti_registry_name(char text[ABTI_NAME_ROOM], const struct abti_unit_note *note);

/* Words for texts: "ULT", "BLOCKED", "mutex". */
const char *abti_registry_kind_name(enum abti_unit_kind kind);
const char *abti_registry_state_name(ABT_thread_state state);
const char *abti_registry_wait_name(enum abti_wait_kind wait);

#endif

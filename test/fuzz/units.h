/* SPDX-License-Identifier: BSD-3-Clause */
/* The units and native threads that steps make. */
#ifndef TEST_FUZZ_UNITS_H
#define TEST_FUZZ_UNITS_H

#include <pthread.h>

#include "fuzz.h"

/* ---- Who runs next ----------------------------------------------------------------------------------------------- */

/* Where a directed switch began: the rank, and how often units had got that stream. */
struct heading {
    int rank;
    long gains;
};

/* The calling unit has got its stream. */
void gain_note(void);
/* The caller is about to switch directly to a unit, which calls the other one before all else. */
void heading_begin(struct heading *heading);
void heading_end(const struct heading *heading);

/* Lets others run. */
void relax(struct actor *actor);
/* The ULT is about to suspend itself, without a switch before. */
void await_blocked(struct actor *actor, ABT_thread thread);

/* ---- Children: units that take steps ----------------------------------------------------------------------------- */

struct child {
    int mark;
    bool is_task, is_unnamed;
    atomic_int begun, ended;
    int expected;       /* how often it is to run */
    struct actor actor; /* as it begins each time */
    int num_steps;
    struct heading *heading; /* of the switch to it, or NULL */
    ABT_thread thread;
};

void child_main(void *arg);
struct child *child_make(struct actor *actor, bool is_task);
/* It is pushed to that pool, with a random attribute. */
void child_start(struct actor *actor, struct child *child, ABT_pool pool);
void child_revive(struct child *child, ABT_pool pool);
/* It has run as often as expected. */
void child_check(struct child *child);
/* Joins and frees it. */
void child_free(struct child *child);
/* One that frees itself. */
void unnamed_start(struct actor *actor, ABT_pool pool);
/* Waits for all of those. */
void unnamed_wait_all(void);

ABT_thread_attr random_attr(struct actor *actor);

/* ---- Crews: who take part in one step ---------------------------------------------------------------------------- */

enum { MAX_CREW = 8 };
enum { NATIVES = 1, TASKS = 2 }; /* who may be among them beside ULTs */

struct crew {
    int num;
    struct member {
        void (*func)(struct actor *actor, void *arg);
        void *arg;
        struct actor actor;
        ABT_thread thread; /* a unit */
        ABT_eventual done; /* a native thread */
    } members[MAX_CREW];
};

/* In a random pool, or that one. */
void crew_add(struct actor *actor, struct crew *crew, void (*func)(struct actor *, void *), void *arg, unsigned who);
void crew_add_to(struct actor *actor, struct crew *crew, void (*func)(struct actor *, void *), void *arg,
                 ABT_pool pool);
/* A native thread; false: there are too many. */
bool crew_add_native(struct actor *actor, struct crew *crew, void (*func)(struct actor *, void *), void *arg);
/* Waits for all, and frees them. The crew can be used again. */
void crew_join(struct actor *actor, struct crew *crew);
/* The native threads of the round, which have done what they were made for, end. */
void natives_reap(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzzer of the whole interface: seeded, random, legal sequences of calls, and what must hold meanwhile.
 *
 * A round is one life of the library with random variables of the environment (main.c). It has a random world of
 * streams, pools and objects (world.c), and actors, which take random steps. A step is a small story with an end that
 * is known: it makes units, crews of units and native threads, or streams of its own, which take steps, too. Each area
 * of the interface has a file with its steps. A failure prints the seed with the line that repeats it;
 * test/fuzz/minimise looks for the fewest kinds of steps and the smallest round that still fail.
 *
 * What must hold: each unit runs once for each time that it is made or revived, sums are right, the target of a
 * directed switch runs next on its stream, all values of keys and units of user-defined pools are freed, and each step
 * comes to its end (watch.c).
 */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abt.h"
#include "rng.h"

/* ---- Failures (watch.c) ------------------------------------------------------------------------------------------ */

__attribute__((noreturn, format(printf, 3, 4))) void fuzz_fail_at(const char *file, int line, const char *format, ...);
#define fuzz_fail(...) fuzz_fail_at(__FILE__, __LINE__, __VA_ARGS__)

#define expect(condition) ((condition) ? (void)0 : fuzz_fail("%s does not hold", #condition))

#define must(call) must_succeed((call), #call, __FILE__, __LINE__)
static inline void must_succeed(int code, const char *call, const char *file, int line)
{
    if (code != ABT_SUCCESS)
        fuzz_fail_at(file, line, "%s gives %d", call, code);
}

/* The round, for messages: its seed, and the options that repeat it. */
void watch_round(uint64_t seed, const char *options);
/* A native thread that fails when no step has come to its end for long, and dumps all stacks. */
void watch_begin(void);
void watch_step_begun(int kind);
void watch_step_ended(int kind);

/* ---- Actors (steps.c) -------------------------------------------------------------------------------------------- */

/* Who takes steps: a unit or a native thread. */
struct actor {
    struct rng rng;
    int depth;     /* how many others have made each other before it */
    bool external; /* it is on no stream, or in a blocking region */
    bool is_leaf;  /* it joins nobody and begins no region */
};

/* What a kind of steps asks for. */
enum {
    BY_ULT = 1,     /* not by native threads outside of streams */
    LEAF = 2,       /* for leaves, too */
    CANCELS = 4,    /* of the build: units can be cancelled */
    MIGRATES = 8,   /* of the build: units can be migrated */
    UNCHECKED = 16, /* of the round: ABT_CHECK would report it */
};

struct step {
    const char *name;
    void (*take)(struct actor *actor);
    unsigned asks;
};

/* Ends with a row without a name. */
extern const struct step unit_steps[], life_steps[], switch_steps[], pool_steps[], sched_steps[], object_steps[],
    event_steps[], time_steps[], stream_steps[], entered_steps[], driver_steps[], hook_steps[], fork_steps[],
    word_steps[], query_steps[], io_steps[];

enum { MAX_DEPTH = 4 };

/* Takes some of the steps that are chosen. */
void steps_take(struct actor *actor, int num);
/* Only those named, by kind or area, or not those; names are separated by commas. False: a name is unknown. */
bool steps_choose(const char *names, bool only);
/* Leaves out what the build or the round has not got. */
void steps_allow(unsigned asks);
const char *steps_name(int kind);
int steps_num(void);
void steps_list(void);

static inline struct actor actor_make(struct actor *by)
{
    return (struct actor){.rng = {rng_next(&by->rng)}, .depth = by->depth + 1};
}

static inline unsigned dice(struct actor *actor, unsigned n)
{
    return below(&actor->rng, n);
}

static inline bool chance(struct actor *actor, unsigned n)
{
    return one_in(&actor->rng, n);
}

#endif

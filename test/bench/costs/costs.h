/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each public function costs. The files of this folder are tables: a row calls one function in its ordinary case,
 * TIMES times, with what that needs made before and freed after. maint/check-costs counts the instructions of the calls
 * by callgrind, and writes maint/costs.tsv, from which the manual takes them. All is warm: a row is run once before it
 * is counted.
 *
 *   COST(function, what, before, after, statement);    before and after may be NULL; `i` runs from 0 to TIMES - 1
 *   COST_IN(place, ...);                               one that is called in a scheduler, a tasklet, or a tool
 *   COST_ROW(tag, row...);                             one more row of a function, or one with several calls
 */
#ifndef TEST_BENCH_COSTS_H
#define TEST_BENCH_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <abt.h>

enum { TIMES = 64 };

/* Who calls: the primary ULT; the run function of the primary stream's scheduler; a tasklet; the callback of a tool. */
enum place { IN_ULT, IN_SCHED, IN_TASK, IN_TOOL };

struct cost {
    const char *function;
    const char *what; /* the case */
    void (*before)(void);
    void (*call)(int i);
    void (*after)(void);
    int calls; /* of the function in each call, those of other units included */
    enum place place;
    struct cost *next;
};

/* What the rows find. */
extern struct world {
    ABT_xstream es, other; /* the primary stream; one without work */
    ABT_sched sched;       /* the primary stream's */
    ABT_pool pool;         /* its pool, as ABT_init makes it */
    ABT_pool idle;         /* a pool that nobody pops from */
    ABT_thread self;       /* the primary ULT */
    ABT_thread units[TIMES];
    ABT_tool_context context; /* IN_TOOL: of the callback */
    ABT_key key;
} world;

/* Where the calls store what nobody looks at. */
extern union out {
    ABT_bool yes;
    int number;
    size_t size;
    double seconds;
    void *pointer;
    ABT_unit_id id;
    ABT_unit_type type;
    ABT_xstream xstream;
    ABT_xstream_state xstream_state;
    ABT_sched sched;
    ABT_sched_config_type sched_type;
    ABT_pool pool;
    ABT_pool_config_type pool_type;
    ABT_pool_access access;
    ABT_unit unit;
    ABT_thread thread;
    ABT_thread_state thread_state;
    ABT_task_state task_state;
    void (*func)(void *);
} out;

#define must(call) must_succeed((call), #call, __FILE__, __LINE__)
void must_fail(int code, const char *call, const char *file, int line);

static inline void must_succeed(int code, const char *call, const char *file, int line)
{
    if (__builtin_expect(code != ABT_SUCCESS, 0))
        must_fail(code, call, file, line);
}

void add_cost(struct cost *cost);

#define COST_ROW(tag, ...)                                                                                             \
    static struct cost cost_##tag = {__VA_ARGS__};                                                                     \
    __attribute__((constructor)) static void add_##tag(void)                                                           \
    {                                                                                                                  \
        add_cost(&cost_##tag);                                                                                         \
    }                                                                                                                  \
    struct cost
#define COST_IN(place, function, what, before, after, statement)                                                       \
    static void call_##function(int i)                                                                                 \
    {                                                                                                                  \
        (void)i;                                                                                                       \
        statement;                                                                                                     \
    }                                                                                                                  \
    COST_ROW(function, #function, what, before, call_##function, after, 1, place, NULL)
#define COST(function, what, before, after, statement) COST_IN(IN_ULT, function, what, before, after, must(statement))

void nothing(void *arg);

/* ULTs in world.units: ready in the idle pool, ready in the stream's own pool, or ended. */
void make_idle(void);
void make_ready(void);
void make_ended(void);
/* Runs those that are ready, and frees all. */
void free_units(void);

/* Another ULT beside the caller, in world.units[0], for func's endless loop while world_goes_on(). */
void make_partner(void (*func)(void *));
bool partner_goes_on(void);
/* Has left it, by itself, when it is next run. */
void end_partner(void);

#endif

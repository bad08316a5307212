/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every error code that the contract promises, provoked from every kind of caller. The programs of this folder are
 * tables: a row says which function answers which code to whom, and provokes it. maint/check-errors reads the rows and
 * compares them with the promises of the header (maint/reference --errors). So the first three arguments are to be
 * written out: the function, the code, and the callers and conditions, which are names joined by "|".
 *
 *   PROVOKE(function, code, when, how) { ...; return code; }   a provocation of some lines; how: what is wrong, as text
 *   RETURNS(function, code, when, how, argument...);           a call of the function with these arguments
 *   NULLS(function, code, when, null, argument...);            the handle h among them is null, in both its spellings
 *   GIVES, NULLS_GIVE                                          likewise, with an expression in place of the arguments
 *
 * Out-parameters in a call are made by OUT and its kin, which also say what is to be in them afterwards. After every
 * provocation the library has to work on.
 */
#ifndef TEST_ERRORS_H
#define TEST_ERRORS_H

#include "world.h"

/* --- Callers --- */

#define BY_PRIMARY 0x001u   /* the primary ULT */
#define BY_ULT 0x002u       /* another ULT of the primary ES */
#define BY_SECONDARY 0x004u /* a ULT of a secondary ES */
#define BY_SCHED 0x008u     /* the ULT of a secondary ES's main scheduler */
#define BY_TASKLET 0x010u   /* a tasklet of the primary ES */
#define BY_TASKLET2 0x020u  /* a tasklet of a secondary ES */
#define BY_EXTERNAL 0x040u  /* a native thread that is no ES */
#define BY_MAIN 0x080u      /* the main thread, while the library is not initialised */
#define BY_PTHREAD 0x100u   /* another one, while the library is not initialised */
#define CALLERS 0x1ffu

#define ULTS (BY_PRIMARY | BY_ULT | BY_SECONDARY)
#define TASKLETS (BY_TASKLET | BY_TASKLET2)
#define ON_ES (ULTS | BY_SCHED | TASKLETS)
#define INITED (ON_ES | BY_EXTERNAL)
#define UNINITED (BY_MAIN | BY_PTHREAD)
#define ANYTIME (INITED | UNINITED)

/* --- Conditions: a row is left out where one of its conditions does not hold. --- */

#define API1 0x00200u         /* the 1.x API */
#define API2 0x00400u         /* the 2.0 API */
#define IF_CHECKS 0x00800u    /* arguments and states are checked; goes without saying, but for rows that are ALWAYS */
#define ALWAYS 0x01000u       /* no condition: the code does not come from a check */
#define IF_CANCEL 0x02000u    /* units can be cancelled */
#define IF_NO_CANCEL 0x04000u /* they cannot */
#define IF_MIGRATE 0x08000u   /* likewise migrated */
#define IF_NO_MIGRATE 0x10000u
#define IF_TOOL 0x20000u /* there is the tool interface */
#define IF_NO_TOOL 0x40000u
#define IF_AFFINITY 0x80000u /* streams can be bound to CPUs */
#define IF_NO_AFFINITY 0x100000u
#define IF_ALONE 0x200000u     /* the primary ES is the only one */
#define IF_NOT_BOUND 0x400000u /* streams can be bound to CPUs, and are not by default */
#define CONDITIONS (0x7fffffu & ~CALLERS & ~ALWAYS)
#define TWICE 0x800000u /* with the null handle's constant, and with NULL */

/* --- An attempt, and what it finds in its out-parameters --- */

struct out {
    _Alignas(16) unsigned char memory[16];
    unsigned char expected[16];
    size_t size;
};

struct row;

struct attempt {
    const struct row *row;
    unsigned who; /* BY_... */
    bool c_null;  /* TWICE: the second time, with NULL */
    int code;     /* what came back */
    int num_outs;
    struct out outs[4];
    atomic_bool done;
};

/* An out-parameter with a value before the call (NULL: something odd) and one after it (NULL: the same as before). */
static inline void *new_out(struct attempt *a, size_t size, const void *before, const void *after)
{
    struct out *out = &a->outs[a->num_outs++];

    if (a->num_outs > 4 || size > sizeof(out->memory))
        bail_out("no room for another out-parameter");
    memset(out->memory, 0x5a, sizeof(out->memory));
    if (before)
        memcpy(out->memory, before, size);
    memcpy(out->expected, after ? after : out->memory, size);
    out->size = size;
    return out->memory;
}

/* In a row, where `a` is the attempt. An error leaves it as it is. */
#define OUT(type) ((type *)new_out(a, sizeof(type), NULL, NULL))
/* In 1.x an error stores the value, in 2.0 it leaves it as it is. */
#define OUT_PRESET(type, value) ((type *)new_out(a, sizeof(type), NULL, ver20 ? NULL : &(type){value}))
/* The value is stored. */
#define OUT_GETS(type, value) ((type *)new_out(a, sizeof(type), NULL, &(type){value}))
/* The value goes in, and stays. */
#define IN_OUT(type, value) ((type *)new_out(a, sizeof(type), &(type){value}, NULL))

/* --- Rows --- */

struct row {
    const char *function, *code_name, *how;
    int code;
    unsigned when;
    int (*provoke)(struct attempt *a);
    struct row *next;
};

static struct row *first_row, **last_row = &first_row;

static inline void add_row(struct row *row)
{
    *last_row = row;
    last_row = &row->next;
}

#define PROVOKE(function, code, when, how) ROW(#function, #code, code, when, how, __LINE__)
#define ROW(function, code_name, code, when, how, line) ROW_AT(function, code_name, code, when, how, line)
#define ROW_AT(function, code_name, code, when, how, line)                                                             \
    static int provoke_##line(struct attempt *a);                                                                      \
    __attribute__((constructor)) static void add_##line(void)                                                          \
    {                                                                                                                  \
        static struct row row = {function, code_name, how, code, when, provoke_##line, NULL};                          \
        add_row(&row);                                                                                                 \
    }                                                                                                                  \
    static int provoke_##line(struct attempt *a)

#define GIVES(function, code, when, how, call)                                                                         \
    ROW(#function, #code, code, when, how, __LINE__)                                                                   \
    {                                                                                                                  \
        (void)a;                                                                                                       \
        return call;                                                                                                   \
    }                                                                                                                  \
    struct row

#define NULLS_GIVE(function, code, when, null, call)                                                                   \
    ROW(#function, #code, code, (when) | TWICE, #null, __LINE__)                                                       \
    {                                                                                                                  \
        __typeof__(null) h = a->c_null ? NULL : null;                                                                  \
        return call;                                                                                                   \
    }                                                                                                                  \
    struct row

#define RETURNS(function, code, when, how, ...)                                                                        \
    ROW(#function, #code, code, when, how, __LINE__)                                                                   \
    {                                                                                                                  \
        (void)a;                                                                                                       \
        return function(__VA_ARGS__);                                                                                  \
    }                                                                                                                  \
    struct row

#define NULLS(function, code, when, null, ...)                                                                         \
    ROW(#function, #code, code, (when) | TWICE, #null, __LINE__)                                                       \
    {                                                                                                                  \
        __typeof__(null) h = a->c_null ? NULL : null;                                                                  \
        return function(__VA_ARGS__);                                                                                  \
    }                                                                                                                  \
    struct row

/* --- Calling --- */

static inline void make_attempt(void *arg)
{
    struct attempt *a = arg;

    a->code = a->row->provoke(a);
    atomic_store(&a->done, true);
}

static inline void *make_attempt_natively(void *arg)
{
    make_attempt(arg);
    return NULL;
}

static inline void from_pthread(struct attempt *a)
{
    pthread_t native;

    must(pthread_create(&native, NULL, make_attempt_natively, a));
    must(pthread_join(native, NULL));
}

static inline void from_ult(ABT_pool pool, struct attempt *a)
{
    ABT_thread thread = ult_in(pool, make_attempt, a);

    must(ABT_thread_free(&thread));
}

static inline void from_tasklet(ABT_pool pool, struct attempt *a)
{
    ABT_task task = ABT_TASK_NULL;

    must(ABT_task_create(pool, make_attempt, a, &task));
    must(ABT_task_free(&task));
}

static inline void from_sched(struct attempt *a)
{
    struct job job = {make_attempt, a};

    atomic_store(&world.job, &job);
    wait_for(atomic_load(&a->done));
}

static const char *const who_names[] = {"the primary ULT",
                                        "a ULT",
                                        "a ULT of a secondary ES",
                                        "a main scheduler",
                                        "a tasklet",
                                        "a tasklet of a secondary ES",
                                        "an external thread",
                                        "the main thread, not initialised",
                                        "a thread, not initialised"};

static inline void call_from(struct attempt *a)
{
    switch (a->who) {
    case BY_ULT: from_ult(world.main_pool, a); break;
    case BY_SECONDARY: from_ult(world.second_pool, a); break;
    case BY_SCHED: from_sched(a); break;
    case BY_TASKLET: from_tasklet(world.main_pool, a); break;
    case BY_TASKLET2: from_tasklet(world.second_pool, a); break;
    case BY_EXTERNAL:
    case BY_PTHREAD: from_pthread(a); break;
    default: make_attempt(a);
    }
}

/* --- Judging --- */

/* A unit of each kind runs here and elsewhere. */
static inline bool works_on(void)
{
    ABT_pool pools[] = {world.main_pool, world.worker_pool};
    ABT_thread thread = ABT_THREAD_NULL, task = ABT_TASK_NULL;
    atomic_int count = 0;

    for (int i = 0; i < 2; i++) {
        must(ABT_thread_create(pools[i], count_up, &count, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_task_create(pools[i], count_up, &count, &task));
        must(ABT_thread_free(&thread));
        must(ABT_task_free(&task));
    }
    return atomic_load(&count) == 4;
}

static inline const char *judge(struct attempt *a)
{
    if (!atomic_load(&a->done))
        return "it did not come back";
    if (a->code != a->row->code)
        return "another code";
    for (int i = 0; i < a->num_outs; i++) {
        if (memcmp(a->outs[i].memory, a->outs[i].expected, a->outs[i].size) != 0)
            return "an out-parameter is not as promised";
    }
    return (a->who & INITED) && !works_on() ? "nothing works any more" : NULL;
}

static inline void try_row(const struct row *row, int caller, bool c_null)
{
    struct attempt a = {.row = row, .who = 1u << caller, .c_null = c_null};
    const char *wrong;

    call_from(&a);
    wrong = judge(&a);
    if (!ok(!wrong, "%s gives %s to %s: %s%s", row->function, row->code_name, who_names[caller], row->how,
            c_null ? ", as NULL" : ""))
        diag("  %s; the code is %d", wrong, a.code);
}

static inline bool applies(const struct row *row, unsigned holding)
{
    unsigned conditions = row->when & CONDITIONS;

    if (!(row->when & ALWAYS))
        conditions |= IF_CHECKS;
    /* Alone or not is no condition that a row may leave open. */
    return !(conditions & ~holding) && (holding & IF_ALONE) == (row->when & IF_ALONE);
}

static inline void try_rows(unsigned callers, unsigned holding)
{
    for (const struct row *row = first_row; row; row = row->next) {
        for (int i = 0; i < (int)(sizeof(who_names) / sizeof(who_names[0])); i++) {
            if (!(row->when & callers & 1u << i) || !applies(row, holding))
                continue;
            try_row(row, i, false);
            if (row->when & TWICE)
                try_row(row, i, true);
        }
    }
}

/* --- Running --- */

/* What holds in this build; more of it is known once the library has been initialised. */
static unsigned build_conditions = (ABT_NULL ? 0 : IF_CHECKS) | (ABT_ENABLE_VER_20_API_VAL ? API2 : API1);

static inline void learn_conditions(void)
{
    build_conditions |= (has_feature(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL) ? IF_CANCEL : IF_NO_CANCEL) |
                        (has_feature(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION) ? IF_MIGRATE : IF_NO_MIGRATE) |
                        (has_tool() ? IF_TOOL : IF_NO_TOOL);
}

/* What holds in this run. */
static inline unsigned run_conditions(bool alone)
{
    unsigned binding = IF_NO_AFFINITY;
    int cpu;

    if (can_bind())
        binding = IF_AFFINITY | (ABT_xstream_get_cpubind(own_xstream(), &cpu) == ABT_SUCCESS ? 0 : IF_NOT_BOUND);
    return (alone ? IF_ALONE : 0) | binding;
}

static inline void nothing_to_set_up(void)
{
}

/* All rows for initialised callers, with the whole world or with the primary ES alone. */
static inline void try_inited(bool alone, void (*setup)(void), void (*teardown)(void))
{
    must(ABT_init(0, NULL));
    learn_conditions();
    world_init(alone);
    setup();
    try_rows(INITED, build_conditions | run_conditions(alone));
    teardown();
    world_fini(alone);
    must(ABT_finalize());
}

static inline void try_uninited(void)
{
    try_rows(UNINITED, build_conditions);
}

/* The whole of a program: every row, by everybody, before, between and after. */
static inline int try_all(void (*setup)(void), void (*teardown)(void))
{
    try_uninited();
    try_inited(false, setup, teardown);
    try_uninited();
    return done_testing();
}

#define TRY_ALL(setup, teardown)                                                                                       \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return try_all(setup, teardown);                                                                               \
    }

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A call of the library's with each of its requests for resources failing, in turn. */
#ifndef TEST_FAULT_CASES_H
#define TEST_FAULT_CASES_H

#include <semaphore.h>

#include "api/common.h"
#include "base/build.h"
#include "emulated.h"
#include "fault.h"

enum {
    FAULT_BARE = 1,     /* the library is not initialised around the call: the call may do that */
    FAULT_HELPS = 2,    /* the call may succeed although something failed: the library helps itself */
    FAULT_EXTERNAL = 4, /* the call is made by an external thread, too */
    FAULT_BRIEF = 8,    /* the call takes long, so it is made less often */
    FAULT_WAITS = 16,   /* the call waits: where the stack of the primary ULT lies is asked for before, and not in it */
};

struct fault_case {
    const char *name;
    unsigned flags;
    int (*call)(void);    /* what is tested; its code */
    void (*failed)(void); /* looks at what a call that failed has left; NULL: nothing is to be seen */
    void (*undo)(void);   /* uses what a call that succeeded has made, and undoes it */
    void (*begin)(void);  /* once in each life of the library; nothing fails then. May be NULL, like the next */
    void (*end)(void);
};

/* What a call does when nothing is wrong with it. */
static inline void expect(bool cond, const char *what)
{
    if (!cond)
        fail("%s", what); /* the calls are made thousands of times: only failures are told */
}

/* A handle after a failed creation: 1.x has set it to null, 2.0 leaves it alone. Some functions always do. */
#define expect_out(handle, null) expect((handle) == (ver20 ? UNTOUCHED(__typeof__(handle)) : (null)), #handle)
#define expect_alone(handle) expect((handle) == UNTOUCHED(__typeof__(handle)), #handle " is left alone")

/* The first thing a program does. */
static inline void fault_begin(void)
{
    static char out[BUFSIZ];

    if (!fault_is_possible())
        skip_all("the functions of the C library cannot be interposed here");
    setvbuf(stdout, out, _IOLBF, sizeof(out)); /* printing needs no memory */
}

/* --- One call --- */

struct fault_try {
    const struct fault_case *c;
    unsigned n;
    enum fault_mode mode;
    bool external;
    bool failed; /* something did */
    int code;    /* the call's */
};

static inline const char *fault_who(const struct fault_try *t)
{
    return t->external ? "an external thread" : "the primary ULT";
}

static inline void fault_complain(const struct fault_try *t, const char *what)
{
    char text[256];

    fault_describe(text, sizeof(text));
    fail("%s by %s: %s", t->c->name, fault_who(t), what);
    diag("  request %u%s failed (%s), the call gave %d", t->n, t->mode == FAULT_FROM ? " and all after it" : "", text,
         t->code);
}

static inline void fault_call(struct fault_try *t)
{
    fault_arm(t->n, t->mode);
    t->code = t->c->call();
    t->failed = fault_disarm();
}

/* The external thread: one for each life of the library, since thousands of threads take minutes on a busy machine. */
static pthread_t fault_external;
static sem_t fault_asked, fault_done;
static struct fault_try *fault_asked_for; /* NULL: it is to end */

static inline void fault_wait(sem_t *sem)
{
    while (sem_wait(sem) != 0)
        ;
}

static void *fault_serve(void *arg)
{
    for (fault_wait(&fault_asked); fault_asked_for; fault_wait(&fault_asked)) {
        fault_call(fault_asked_for);
        must(sem_post(&fault_done));
    }
    return arg;
}

static inline void fault_external_begin(void)
{
    must(sem_init(&fault_asked, 0, 0));
    must(sem_init(&fault_done, 0, 0));
    must(pthread_create(&fault_external, NULL, fault_serve, NULL));
}

static inline void fault_external_end(void)
{
    fault_asked_for = NULL;
    must(sem_post(&fault_asked));
    must(pthread_join(fault_external, NULL));
}

static inline void fault_make_call(struct fault_try *t)
{
    if (!t->external) {
        fault_call(t);
        return;
    }
    fault_asked_for = t;
    must(sem_post(&fault_asked));
    fault_wait(&fault_done);
}

/* Whether the call may succeed although something failed. */
static inline bool fault_may_succeed(const struct fault_try *t)
{
    return t->c->flags & FAULT_HELPS || (t->mode == FAULT_ONE && fault_was_mapping());
}

/* Whether all is right. */
static inline bool fault_try(struct fault_try *t)
{
    int failed = atomic_load(&tap_failed);

    fault_make_call(t);
    if (t->code == ABT_SUCCESS)
        t->c->undo();
    else if (t->c->failed)
        t->c->failed();
    if (atomic_load(&tap_failed) != failed)
        fault_complain(t, "see above");
    else if (t->code == ABT_SUCCESS && t->failed && !fault_may_succeed(t))
        fault_complain(t, "it succeeds");
    else if (t->code != ABT_SUCCESS && (!t->failed || t->code != fault_code()))
        fault_complain(t, "the wrong code");
    return atomic_load(&tap_failed) == failed;
}

static inline void fault_show(struct fault_live before, struct fault_live now)
{
    char text[256];

    diag("  %+ld objects, %+ld bytes in them, %+ld bytes mapped, %+ld descriptors", now.objects - before.objects,
         now.bytes - before.bytes, now.mappings - before.mappings, now.descriptors - before.descriptors);
    for (unsigned i = 0; i < 5 && i < now.objects - before.objects && fault_describe_object(i, text, sizeof(text)); i++)
        diag("  %s", text);
}

/* Nothing fails; what is in use then. */
static inline bool fault_try_well(struct fault_try t, struct fault_live *live)
{
    t.n = 0;
    bool right = fault_try(&t);
    *live = fault_live();
    return right;
}

/*
 * So often that even the smallest thing that a call loses shows: descriptors come by the 2048. What is asked for once
 * may be at hand then, so that the n-th request is not made any more: then it is an earlier one that fails. An emulator
 * loses memory of its own with each thread that ends, 280 KiB on AArch64, and is not asked for so many. What an
 * external thread takes goes to the primary stream's cache, which may be empty at first: it takes some to fill it.
 */
static inline bool fault_try_often(struct fault_try t)
{
    enum { FEW = 2, EXTERNAL = 20, BRIEF = 20, MANY = 2200 };
    int times = is_emulated() ? FEW : t.c->flags & FAULT_BRIEF || t.mode == FAULT_FROM ? BRIEF : MANY;
    struct fault_live before, after;

    for (int i = t.external && !(t.c->flags & FAULT_BRIEF) ? EXTERNAL : FEW; i > 0; i--) {
        if (!fault_try_well(t, &before))
            return false;
    }
    while (t.n > 0 && times > 0) {
        if (!fault_try(&t))
            return false;
        if (t.failed)
            times -= t.code == ABT_SUCCESS ? MANY / 20 : 1; /* what succeeds takes its time and loses nothing */
        else
            t.n--;
    }
    if (!fault_try_well(t, &after))
        return false;
    if (fault_same(before, after))
        return true;
    fault_complain(&t, "it uses ever more memory");
    fault_show(before, after);
    return false;
}

/* --- All calls --- */

/* In a life of the library of its own. Whether there was a request to fail. */
static inline bool fault_live_once(struct fault_try t, bool *right)
{
    struct fault_live before = fault_live(), after;
    const struct fault_case *c = t.c;
    bool any;

    if (!(c->flags & FAULT_BARE))
        must(ABT_init(0, NULL));
    if (c->flags & FAULT_WAITS)
        must(ABT_self_yield());
    if (c->begin)
        c->begin();
    if (t.external)
        fault_external_begin();
    *right = fault_try(&t);
    any = t.failed;
    if (any && *right)
        *right = fault_try_often(t);
    if (t.external)
        fault_external_end();
    if (c->end)
        c->end();
    if (!(c->flags & FAULT_BARE))
        must(ABT_finalize());
    after = fault_live();
    if (*right && !fault_same(before, after)) {
        fault_complain(&t, "something is left after ABT_finalize");
        fault_show(before, after);
        *right = false;
    }
    return any;
}

static inline void fault_run_as(struct fault_try t)
{
    enum { MOST = 500 };
    unsigned n = 0;
    bool right;

    fault_live_once(t, &right); /* what the C library allocates once and for all is there then */
    while (right && n < MOST) {
        t.n = n + 1;
        if (!fault_live_once(t, &right))
            break;
        n++;
    }
    if (right)
        ok(n > 0 && n < MOST, "%s by %s: %u requests, each fails %s", t.c->name, fault_who(&t), n,
           t.mode == FAULT_ONE ? "alone" : "with all after it");
}

/*
 * Makes the call with the first request failing, then the second, until none is left; by the primary ULT and perhaps an
 * external thread; with one failure, and with nothing but failures from there on. Each time
 * - the call answers what it has to, and keeps to that when it is made again and again, without using ever more memory;
 * - it then succeeds, when nothing fails any more;
 * - nothing is left of all this when the library has been finalised.
 */
static inline void fault_run(const struct fault_case *c)
{
    struct fault_try t = {.c = c};

    for (int external = 0; external <= (c->flags & FAULT_EXTERNAL ? 1 : 0); external++) {
        t.external = external;
        t.mode = FAULT_ONE;
        fault_run_as(t);
        t.mode = FAULT_FROM;
        fault_run_as(t);
    }
}

static inline void fault_run_each(const struct fault_case *cases, size_t num)
{
    for (size_t i = 0; i < num; i++)
        fault_run(&cases[i]);
}

#define fault_run_all(cases) fault_run_each(cases, sizeof(cases) / sizeof((cases)[0]))

/* --- A unit to see that something runs, made in advance: it is at hand when nothing else is --- */

static ABT_thread probe; /* a tasklet */
static ABT_pool probe_pool;
static atomic_int probed; /* how often it has run */

static inline void probe_begin(void)
{
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &probe_pool));
    must(ABT_task_create(probe_pool, count_up, &probed, &probe));
    must(ABT_pool_pop_thread(probe_pool, &probe));
    probed = 0;
}

/* Runs in that pool. */
static inline void probe_into(ABT_pool pool)
{
    must(ABT_pool_push_thread(pool, probe));
}

/* It has run, and is made ready to run again. */
static inline void probe_again(void)
{
    must(ABT_task_join(probe));
    expect(probed == 1, "the probe has run once");
    probed = 0;
    must(ABT_task_revive(probe_pool, count_up, &probed, &probe));
    must(ABT_pool_pop_thread(probe_pool, &probe));
}

/* A stream that has begun, and asks for nothing any more. */
static inline ABT_xstream probed_xstream(void)
{
    ABT_xstream stream = new_xstream();
    probe_begin();
    probe_into(pool_of(stream));
    probe_again();
    return stream;
}

static inline void probe_end(void)
{
    probe_into(own_pool());
    must(ABT_task_free(&probe));
    must(ABT_pool_free(&probe_pool));
}

/* --- Caches --- */

enum { FAULT_MOST_UNITS = 40000 };

static ABT_thread used_up[FAULT_MOST_UNITS];
static int first_used_up, num_used_up;
static ABT_pool used_up_pool;

static inline void *take_units(void *arg)
{
    fault_arm(1, FAULT_FROM);
    while (num_used_up < FAULT_MOST_UNITS &&
           ABT_task_create(used_up_pool, do_nothing, NULL, &used_up[num_used_up]) == ABT_SUCCESS)
        num_used_up++;
    fault_disarm();
    return arg;
}

/* Takes all descriptors for which no memory has to be asked for, so that the next creation does; called by a ULT. */
static inline void use_up_units(void)
{
    pthread_t native;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &used_up_pool));
    take_units(NULL);
    must(pthread_create(&native, NULL, take_units, NULL)); /* external threads have a cache of their own */
    must(pthread_join(native, NULL));
}

/* The first that were taken; they stand at the head of their pool. */
static inline void give_some_back(int num)
{
    ABT_thread unit;

    for (int i = first_used_up; i < first_used_up + num; i++) {
        must(ABT_pool_pop_thread(used_up_pool, &unit));
        must(ABT_pool_push_thread(own_pool(), unit));
        must(ABT_task_free(&used_up[i]));
    }
    first_used_up += num;
}

static inline void give_units_back(void)
{
    give_some_back(num_used_up - first_used_up);
    num_used_up = first_used_up = 0;
    must(ABT_pool_free(&used_up_pool));
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/watchdog.h"

#include <inttypes.h>
#include <stdio.h>
#include "os/clock.h"
#include "run/sched.h"
#include "rt/rt.h"
#include "watch/capture.h"
#include "watch/mark.h"
#include "watch/registry.h"

/* Looks in the time that is allowed. What is reported has lasted at most so much longer. */
enum { LOOKS = 8 };

static uint64_t allowed_ns(void)
{
    return (uint64_t)abti_rt.config.watchdog_ms * 1000000;
}

static unsigned watchdog_to_ms(uint64_t ns)
{
    return (unsigned)(ns / 1000000);
}

/* --- Units that run --- */

/* What runs on an ES is its own affair, and its stores of it are plain: TSan does not see the racy read. */
static ABTI_NOINLINE ABTI_NO_SANITIZE int32_t watchdog_read_budget(abti_es *es)
{
    return *(volatile int32_t *)&es->budget;
}

struct hog {
    abti_unit *unit;
    int rank;
    uint64_t ran_ns;
};

enum { MAX_HOGS = 8 }; /* reported in one look; the next one reports others */

/*
 * A unit has not left the ES, nor yielded, if it still has its mark (nobody has stored a state), no unit was counted
 * (a unit that yields and goes on at once since there is no other is), and the ES has not looked at events, where the
 * count begins anew. rt.lock held.
 */
static bool has_stayed(abti_es *es, abti_unit *unit)
{
    const struct abti_watchdog_seen *w = &es->seen;
    /* seq_cst: pairs with abti_es_check_events, which takes the request back */
    return w->unit == unit && abti_load_seq_cst(&es->requests) & ABTI_ES_REQ_SEEN &&
           watchdog_read_budget(es) == w->budget && abti_mark_get(unit, ABT_THREAD_STATE_RUNNING) > ABTI_MARK_NONE;
}

/* rt.lock held. */
static void begin_to_watch(abti_es *es, abti_unit *unit, uint64_t now_ns)
{
    const int mark = 1;
    es->seen = (struct abti_watchdog_seen){.since_ns = now_ns, .budget = watchdog_read_budget(es)};
    int before = abti_mark_get(unit, ABT_THREAD_STATE_RUNNING);
    if (before < 0 || (before != mark && !abti_mark_change(unit, ABT_THREAD_STATE_RUNNING, before, mark)))
        return;
    es->seen.unit = unit;
    /* seq_cst: pairs with the load in abti_es_check_events, and comes after the racy read of the budget */
    atomic_fetch_or(&es->requests, ABTI_ES_REQ_SEEN);
}

/* rt.lock held. Schedulers have the ES for as long as there is nothing else to run. */
static bool is_hogged(abti_es *es, uint64_t now_ns)
{
    abti_unit *unit = abti_registry_peek(&es->cur);
    if (!unit || abti_registry_is_sched(unit)) {
        es->seen.unit = NULL;
        return false;
    }
    if (!has_stayed(es, unit)) {
        begin_to_watch(es, unit, now_ns);
        return false;
    }
    return !es->seen.reported && now_ns - es->seen.since_ns >= allowed_ns();
}

static int find_hogs(struct hog hogs[MAX_HOGS], uint64_t now_ns)
{
    int num = 0;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && num < MAX_HOGS; es = es->next) {
        if (!is_hogged(es, now_ns))
            continue;
        es->seen.reported = true;
        hogs[num++] = (struct hog){es->seen.unit, es->rank, now_ns - es->seen.since_ns};
    }
    abti_spin_unlock(&abti_rt.lock);
    return num;
}

static void tell_hog(const struct hog *hog)
{
    struct abti_unit_note note;
    struct abti_calls calls;
    char name[ABTI_NAME_ROOM];
    if (!abti_registry_look(hog->unit, &note))
        return; /* it has just ended. It may do so during the capture, and has kept the stream in any case */
    (void)abti_registry_name(name, &note);
    enum abti_capture answer = abti_capture_unit(hog->unit, &calls);
    flockfile(stderr); /* what it says stays together */
    fprintf(stderr, "libabt: watchdog: %s has kept stream %d for %u ms%s\n", name, hog->rank,
            watchdog_to_ms(hog->ran_ns), answer == ABTI_CAPTURE_ASLEEP ? ", and sleeps in the system" : "");
    if (answer == ABTI_CAPTURED || answer == ABTI_CAPTURE_ASLEEP)
        abti_unwind_print(stderr, &calls);
    funlockfile(stderr);
}

static void look_at_running(uint64_t now_ns)
{
    struct hog hogs[MAX_HOGS];
    int num = find_hogs(hogs, now_ns);
    for (int i = 0; i < num; i++)
        tell_hog(&hogs[i]);
}

/* --- Units that are ready --- */

enum { MAX_WAITING = 3, MAX_POOLS = 8 };

/* Units of one pool that have waited for too long: the first ones, and how many there are. */
struct waiting {
    const abti_pool *pool;
    int pool_id;
    unsigned num;
    struct abti_unit_note notes[MAX_WAITING];
    uint64_t waited_ns[MAX_WAITING];
};

struct ready_look {
    int round;
    uint64_t now_ns;
    unsigned num_pools;
    struct waiting pools[MAX_POOLS];
};

/* The mark of a ready unit is the round in which it was first seen; this is when that was. */
static uint64_t round_ns[ABTI_MARK_ROUNDS + 1];

static struct waiting *pool_of(struct ready_look *look, const struct abti_unit_note *note)
{
    unsigned i = 0;
    while (i < look->num_pools && look->pools[i].pool != note->pool)
        i++;
    if (i == MAX_POOLS)
        return NULL;
    if (i == look->num_pools)
        look->pools[look->num_pools++] = (struct waiting){.pool = note->pool, .pool_id = note->pool_id};
    return &look->pools[i];
}

static void note_waiting(struct ready_look *look, const struct abti_unit_note *note, int mark)
{
    struct waiting *waiting = pool_of(look, note);
    if (!waiting || !abti_mark_change(note->unit, ABT_THREAD_STATE_READY, mark, ABTI_MARK_REPORTED))
        return;
    if (waiting->num < MAX_WAITING) {
        waiting->notes[waiting->num] = *note;
        waiting->waited_ns[waiting->num] = look->now_ns - round_ns[mark];
    }
    waiting->num++;
}

static bool look_at_ready(const struct abti_unit_note *note, void *arg)
{
    struct ready_look *look = arg;
    if (note->state != ABT_THREAD_STATE_READY || note->kind == ABTI_KIND_MAIN_SCHED)
        return true;
    int mark = abti_mark_get(note->unit, ABT_THREAD_STATE_READY);
    if (mark == ABTI_MARK_NONE)
        (void)abti_mark_change(note->unit, ABT_THREAD_STATE_READY, ABTI_MARK_NONE, look->round);
    else if (mark > 0 && mark != ABTI_MARK_REPORTED && look->now_ns - round_ns[mark] >= allowed_ns())
        note_waiting(look, note, mark);
    return true;
}

/* --- Why they wait --- */

/* rt.lock held, and so below. */
static bool watchdog_serves(abti_es *es, abti_pool *pool)
{
    abti_spin_lock(&es->replace.lock);                               /* it keeps the scheduler */
    bool uses = abti_sched_uses(atomic_load(&es->main_sched), pool); /* seq_cst: of no use under the lock */
    abti_spin_unlock(&es->replace.lock);
    return uses;
}

struct service {
    bool exists;
    int num_scheds, num_streams; /* that take units out of the pool; the latter with a main scheduler */
    int rank;                    /* of the first of these */
    abti_unit *unit;             /* that runs there */
    int num_idle;                /* streams that sleep and do not look at the pool */
    int idle_rank;               /* the first of these */
};

static struct service service_of(const abti_pool *address)
{
    struct service s = {0};
    abti_spin_lock(&abti_rt.lock);
    abti_pool *pool = abti_pool_find(address);
    for (abti_es *es = abti_rt.xstreams; es && pool; es = es->next) {
        if (watchdog_serves(es, pool)) {
            if (s.num_streams++ == 0) {
                s.rank = es->rank;
                s.unit = abti_registry_peek(&es->cur);
            }
        } else if (abti_sleeper_is_asleep(&es->sleeper)) {
            s.idle_rank = s.num_idle++ == 0 ? es->rank : s.idle_rank;
        }
    }
    s.exists = pool != NULL;
    s.num_scheds = pool ? (int)abti_load_relaxed(&pool->num_scheds) : 0; /* relaxed: it is only shown */
    abti_spin_unlock(&abti_rt.lock);
    return s;
}

static void print_service(const struct waiting *waiting)
{
    struct service s = service_of(waiting->pool);
    char name[ABTI_NAME_ROOM];
    if (!s.exists)
        return;
    if (s.num_scheds == 0) {
        fprintf(stderr, "libabt:   no scheduler takes units out of pool %d\n", waiting->pool_id);
    } else if (s.num_streams > 0) {
        struct abti_unit_note note = {0};
        if (s.unit)
            (void)abti_registry_look(s.unit, &note);
        fprintf(stderr, "libabt:   pool %d is served by stream %d%s%s%s\n", waiting->pool_id, s.rank,
                s.num_streams > 1 ? " and others" : "", note.unit ? ", which runs " : "",
                note.unit ? abti_registry_name(name, &note) : "");
    }
    if (s.num_idle > 0)
        fprintf(stderr, "libabt:   stream %d%s nothing to do, and no scheduler for pool %d\n", s.idle_rank,
                s.num_idle > 1 ? " and others have" : " has", waiting->pool_id);
}

static void print_waiting(const struct waiting *waiting)
{
    char name[ABTI_NAME_ROOM];
    flockfile(stderr); /* what it says stays together */
    for (unsigned i = 0; i < waiting->num && i < MAX_WAITING; i++)
        fprintf(stderr, "libabt: watchdog: %s has been ready for %u ms in pool %d and was not run\n",
                abti_registry_name(name, &waiting->notes[i]), watchdog_to_ms(waiting->waited_ns[i]), waiting->pool_id);
    if (waiting->num > MAX_WAITING)
        fprintf(stderr, "libabt:   and so have %u others of pool %d\n", waiting->num - MAX_WAITING, waiting->pool_id);
    print_service(waiting);
    funlockfile(stderr);
}

static void look_at_all_ready(uint64_t now_ns)
{
    static int round;
    struct ready_look look = {.now_ns = now_ns};
    look.round = round = round % ABTI_MARK_ROUNDS + 1;
    round_ns[round] = now_ns;
    abti_registry_walk(look_at_ready, &look);
    for (unsigned i = 0; i < look.num_pools; i++) {
        if (look.pools[i].num > 0)
            print_waiting(&look.pools[i]);
    }
}

/* Of very many units a look takes long: the thread then sleeps ten times as long. */
uint64_t abti_watchdog_look(uint64_t now_ns)
{
    enum { SHARE = 10 };
    if (abti_rt.config.watchdog_ms == 0)
        return ABTI_CLOCK_NEVER;
    look_at_running(now_ns);
    look_at_all_ready(now_ns);
    uint64_t period = allowed_ns() / LOOKS, end = abti_clock_mono_ns(), took = (end - now_ns) * SHARE;
    return end + (took > period ? took : period);
}

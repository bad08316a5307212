/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/registry.h"

#include <inttypes.h>
#include "os/clock.h"
#include "os/peek.h"
#include "pool/pool.h"
#include "rt/rt.h"
#include "rt/symbol.h"
#include "unit/joining.h"
#include "sync/barrier.h"
#include "sync/mutex.h"
#include "sync/rwlock.h"
#include "sync/waiter.h"

/* --- A descriptor, which may change at any time --- */

/*
 * All words of it, each as it was at some moment. TSan does not look, as the stores are plain ones. The last word, in
 * which has the state, is read first: of a unit that has blocked, and is still blocked, the other words are not
 * older than that, on processors that load out of order, too.
 */
static ABTI_NOINLINE ABTI_NO_SANITIZE void copy_unit(abti_unit *copy, abti_unit *unit)
{
    typedef uint64_t any_word __attribute__((may_alias));
    const volatile any_word *from = (const volatile any_word *)unit;
    any_word *to = (any_word *)copy;
    size_t last = sizeof(*unit) / sizeof(any_word) - 1;
    /* acquire: pairs with the releases of BLOCKED in abti_after_suspend and abti_hand_over */
    to[last] = abti_load_acquire(&unit->meta);
    for (size_t i = 0; i < last; i++)
        to[i] = from[i];
}

_Static_assert(offsetof(abti_unit, meta) == sizeof(abti_unit) - sizeof(uint64_t), "the last word");

static ABTI_NOINLINE ABTI_NO_SANITIZE uint64_t read_id(const struct abti_unit_cold *cold)
{
    return *(const volatile uint64_t *)&cold->id;
}

ABTI_NOINLINE abti_unit *abti_registry_peek(abti_unit *const *where)
{
    return *(abti_unit *const volatile *)where;
}

ABTI_NOINLINE bool abti_registry_is_sched(const abti_unit *unit)
{
    return (*(const volatile uint16_t *)&unit->flags & (ABTI_UNIT_MAIN_SCHED | ABTI_UNIT_SCHED)) != 0;
}

static int rank_of(unsigned index)
{
    if (index == ABTI_ES_NONE || index >= ABTI_MAX_ES)
        return ABTI_NO_RANK;
    abti_spin_lock(&abti_rt.lock);
    abti_es *es = abti_load_relaxed(&abti_rt.by_index[index]); /* relaxed: it stays as it is under the lock */
    int rank = es ? es->rank : ABTI_NO_RANK;
    abti_spin_unlock(&abti_rt.lock);
    return rank;
}

/* Of the stream whose main scheduler runs in the unit; ABTI_NO_RANK: none does. */
static int rank_of_main(const abti_unit *unit)
{
    int rank = ABTI_NO_RANK;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && rank == ABTI_NO_RANK; es = es->next)
        rank = es->main_unit == unit ? es->rank : ABTI_NO_RANK;
    abti_spin_unlock(&abti_rt.lock);
    return rank;
}

static enum abti_unit_kind kind_of(unsigned flags)
{
    if (flags & ABTI_UNIT_PRIMARY)
        return flags & ABTI_UNIT_ENTERED ? ABTI_KIND_ENTERED : ABTI_KIND_PRIMARY;
    if (flags & ABTI_UNIT_MAIN_SCHED)
        return ABTI_KIND_MAIN_SCHED;
    if (flags & ABTI_UNIT_SCHED)
        return ABTI_KIND_SCHED;
    return flags & ABTI_UNIT_TASKLET ? ABTI_KIND_TASKLET : ABTI_KIND_ULT;
}

static int pool_id_of(const abti_pool *pool)
{
    int id;
    return pool && abti_peek(&id, &pool->id, sizeof(id)) ? id : ABTI_NO_RANK;
}

static int64_t id_of(const abti_unit *unit, const abti_unit *copy)
{
    if (!(abti_load_relaxed(&copy->cold) & ABTI_COLD_READY)) /* relaxed: it is a copy */
        return ABTI_NO_ID;
    return (int64_t)read_id((const struct abti_unit_cold *)((const char *)unit + ABTI_UNIT_COLD_OFFSET)) - 1;
}

/* A unit in place has what is below its joiner's frames. */
static char *default_end(const abti_unit *copy)
{
    abti_unit joiner;
    uintptr_t join = abti_load_relaxed(&copy->join); /* relaxed: it is a copy */
    if (!(join & ABTI_JOIN_IN_PLACE))
        return (char *)copy->stack;
    abti_unit *at = (abti_unit *)(join & ~(uintptr_t)ABTI_JOIN_TAGS);
    if (!at || !abti_slab_has(&abti_rt.unit_slab, at))
        return NULL;
    copy_unit(&joiner, at);
    return (char *)joiner.ctx - ABTI_CTX_BELOW;
}

/* --- What it waits for --- */

/* The unit, if there is one, is joined by `joiner`. */
static bool is_joined_by(abti_unit *unit, const abti_unit *joiner)
{
    abti_unit copy;
    if (!unit || !abti_slab_has(&abti_rt.unit_slab, unit))
        return false;
    copy_unit(&copy, unit);
    uintptr_t join = abti_load_relaxed(&copy.join); /* relaxed: it is a copy */
    return (join & ~(uintptr_t)ABTI_JOIN_TAGS) == (uintptr_t)joiner && !(join & ABTI_JOIN_EXTERNAL);
}

static void note_join(struct abti_unit_note *note, enum abti_wait_kind wait, abti_unit *joined)
{
    note->wait = wait;
    note->object = note->owner = joined;
}

/* It runs, or seems to. */
static void note_joining(struct abti_unit_note *note)
{
    struct abti_joining joining;
    if (abti_joining_find(note->unit, &joining))
        note_join(note, ABTI_WAIT_JOIN, joining.joined);
}

static enum abti_wait_kind wait_of(const struct abti_waiter *w)
{
    switch (w->reason) {
    case ABT_SYNC_EVENT_TYPE_MUTEX: return ABTI_WAIT_MUTEX;
    case ABT_SYNC_EVENT_TYPE_COND: return ABTI_WAIT_COND;
    case ABT_SYNC_EVENT_TYPE_RWLOCK: return ABTI_WAIT_RWLOCK;
    case ABT_SYNC_EVENT_TYPE_EVENTUAL: return w->object ? ABTI_WAIT_EVENTUAL : ABTI_WAIT_ANY;
    case ABT_SYNC_EVENT_TYPE_FUTURE: return ABTI_WAIT_FUTURE;
    case ABT_SYNC_EVENT_TYPE_BARRIER: return ABTI_WAIT_BARRIER;
    case ABT_SYNC_EVENT_TYPE_USER: return ABTI_WAIT_SLEEP;
    case ABT_SYNC_EVENT_TYPE_OTHER: return ABTI_WAIT_WORD; /* sync/wordq.c */
    default: return ABTI_WAIT_OTHER;
    }
}

/* Its owner. NULL: nobody, or it is not kept: owners of mutexes while waits are not watched, and readers. */
static const void *any_owner_of(enum abti_wait_kind wait, const void *object)
{
    const void *owner;
    if (wait != ABTI_WAIT_MUTEX && wait != ABTI_WAIT_RWLOCK)
        return NULL;
    const void *at = wait == ABTI_WAIT_MUTEX ? (const void *)abti_mutex_owner_at((ABT_mutex)(uintptr_t)object)
                                             : &((ABT_rwlock)(uintptr_t)object)->writer;
    return abti_peek(&owner, at, sizeof(owner)) ? owner : NULL;
}

static abti_unit *unit_of(const void *owner)
{
    abti_unit *unit = (abti_unit *)(uintptr_t)owner;
    return unit && abti_slab_has(&abti_rt.unit_slab, unit) ? unit : NULL;
}

static bool try_waiter(struct abti_unit_note *note, const struct abti_waiter *at)
{
    struct abti_waiter w;
    if (!abti_peek(&w, at, sizeof(w)) || (w.unit ? w.unit : w.ult) != note->unit)
        return false;
    note->wait = wait_of(&w);
    note->object = note->wait == ABTI_WAIT_SLEEP ? NULL : w.object;
    const void *owner = any_owner_of(note->wait, w.object);
    note->owner = unit_of(owner);
    note->native_owner = note->owner ? NULL : owner;
    bool claimed = abti_load_relaxed(&w.claim) != ABTI_CLAIM_NONE; /* relaxed: it is a copy */
    note->has_deadline = claimed && w.deadline_ns != ABTI_CLOCK_NEVER;
    note->deadline_ns = note->has_deadline ? w.deadline_ns : ABTI_CLOCK_NEVER;
    return true;
}

const void *abti_registry_mutex_of(const void *word, abti_unit **owner)
{
    struct abti_waiter w;
    const char *at = (const char *)word - offsetof(struct abti_waiter, word);
    if (!abti_peek(&w, at, sizeof(w)) || w.unit || w.ult || w.reason != ABT_SYNC_EVENT_TYPE_MUTEX)
        return NULL;
    *owner = unit_of(any_owner_of(ABTI_WAIT_MUTEX, w.object));
    return w.object;
}

static bool try_barrier(struct abti_unit_note *note, const struct ABT_barrier_opaque *at)
{
    struct ABT_barrier_opaque barrier;
    if (!abti_peek(&barrier, at, sizeof(barrier)) || barrier.local_pool != note->pool || barrier.num_local == 0 ||
        barrier.num_local > barrier.arrived || barrier.arrived > barrier.num || barrier.num > barrier.room)
        return false;
    note->wait = ABTI_WAIT_BARRIER;
    note->object = at;
    return true;
}

/* See abti_unit_wait_for. What is read there is reported only if it leads back to the unit. */
static void note_wait(struct abti_unit_note *note, const void *what)
{
    abti_unit *joined;
    note->wait = ABTI_WAIT_SUSPEND;
    if (!what || what == ABTI_WAITS_SINCE)
        return;
    if (is_joined_by((abti_unit *)(uintptr_t)what, note->unit))
        note_join(note, ABTI_WAIT_JOIN, (abti_unit *)(uintptr_t)what);
    else if (abti_peek(&joined, what, sizeof(joined)) && is_joined_by(joined, note->unit))
        note_join(note, ABTI_WAIT_FREE, joined);
    else if (!try_waiter(note, what))
        (void)try_barrier(note, what);
}

/* By a copy: it may be new by now. */
static bool runs_in_place(abti_unit *unit)
{
    abti_unit copy;
    copy_unit(&copy, unit);
    return abti_unit_runs_in_place(&copy);
}

/* Not of one that joins a unit in place, which may have blocked later on the same stack. */
static void note_time(struct abti_unit_note *note, const abti_unit *copy)
{
    uint64_t since, now = abti_clock_mono_ns();
    if (!abti_rt.config.watch_waits || !abti_unit_waits_for(copy))
        return;
    if (note->owner && (note->wait == ABTI_WAIT_JOIN || note->wait == ABTI_WAIT_FREE) && runs_in_place(note->owner))
        return;
    if (abti_peek(&since, &copy->stack->blocked_ns, sizeof(since)) && since <= now)
        note->waited_ns = now - since;
}

/* --- Units --- */

static bool make_note(struct abti_unit_note *note, abti_unit *unit)
{
    abti_unit copy;
    copy_unit(&copy, unit);
    if (!copy.func && !(copy.flags & (ABTI_UNIT_PRIMARY | ABTI_UNIT_MAIN_SCHED)))
        return false;
    unsigned index = abti_load_relaxed(&copy.es); /* relaxed, as below: it is a copy */
    bool is_main = (copy.flags & ABTI_UNIT_MAIN_SCHED) != 0;
    int rank = is_main ? rank_of_main(unit) : rank_of(index);
    if (is_main && rank == ABTI_NO_RANK)
        return false; /* its stream is no more */
    bool done = abti_load_relaxed(&copy.join) == ABTI_JOIN_DONE;
    *note = (struct abti_unit_note){
        .unit = unit,
        .id = id_of(unit, &copy),
        .kind = kind_of(copy.flags),
        .state = done ? ABT_THREAD_STATE_TERMINATED : (ABT_thread_state)(abti_load_relaxed(&copy.state) & 3),
        .started = index != ABTI_ES_NONE,
        .flags = copy.flags,
        .ctx = copy.ctx,
        .stack = copy.stack,
        .default_end = default_end(&copy),
        .func = copy.func,
        .arg = copy.arg,
        .pool = copy.pool,
        .pool_id = pool_id_of(copy.pool),
        .rank = rank,
    };
    if (note->state == ABT_THREAD_STATE_BLOCKED) {
        note_wait(note, abti_unit_waits_for(&copy));
        note_time(note, &copy);
    } else if (note->state != ABT_THREAD_STATE_TERMINATED) {
        note_joining(note);
    }
    return true;
}

bool abti_registry_look(abti_unit *unit, struct abti_unit_note *note)
{
    return make_note(note, unit);
}

void abti_registry_walk(bool (*visit)(const struct abti_unit_note *note, void *arg), void *arg)
{
    uint64_t used;
    struct abti_unit_note note;
    for (char *word = NULL; (word = abti_slab_word_after(&abti_rt.unit_slab, word, &used));) {
        for (; used; used &= used - 1) {
            abti_unit *unit = (abti_unit *)word + __builtin_ctzll(used);
            if (make_note(&note, unit) && !visit(&note, arg))
                return;
        }
    }
}

/* --- Words --- */

const char *abti_registry_kind_name(enum abti_unit_kind kind)
{
    static const char *const names[] = {
        [ABTI_KIND_ULT] = "ULT",
        [ABTI_KIND_TASKLET] = "tasklet",
        [ABTI_KIND_PRIMARY] = "primary ULT",
        [ABTI_KIND_ENTERED] = "entered ULT",
        [ABTI_KIND_MAIN_SCHED] = "main scheduler",
        [ABTI_KIND_SCHED] = "stacked scheduler",
    };
    return names[kind];
}

const char *abti_registry_state_name(ABT_thread_state state)
{
    static const char *const names[] = {
        [ABT_THREAD_STATE_READY] = "READY",
        [ABT_THREAD_STATE_RUNNING] = "RUNNING",
        [ABT_THREAD_STATE_BLOCKED] = "BLOCKED",
        [ABT_THREAD_STATE_TERMINATED] = "TERMINATED",
    };
    return names[state];
}

const char *abti_registry_wait_name(enum abti_wait_kind wait)
{
    static const char *const names[] = {
        [ABTI_WAIT_NOTHING] = "nothing",
        [ABTI_WAIT_SUSPEND] = "being resumed",
        [ABTI_WAIT_MUTEX] = "mutex",
        [ABTI_WAIT_COND] = "cond",
        [ABTI_WAIT_RWLOCK] = "rwlock",
        [ABTI_WAIT_EVENTUAL] = "eventual",
        [ABTI_WAIT_ANY] = "any of several eventuals",
        [ABTI_WAIT_FUTURE] = "future",
        [ABTI_WAIT_BARRIER] = "barrier",
        [ABTI_WAIT_JOIN] = "the end of unit",
        [ABTI_WAIT_FREE] = "the end and free of unit",
        [ABTI_WAIT_SLEEP] = "a time",
        [ABTI_WAIT_WORD] = "word",
        [ABTI_WAIT_OTHER] = "something else",
    };
    return names[wait];
}

const char *abti_registry_name(char text[ABTI_NAME_ROOM], const struct abti_unit_note *note)
{
    char code[ABTI_NAME_ROOM / 2], id[32];
    if (note->id == ABTI_NO_ID)
        snprintf(id, sizeof(id), "%p", (void *)note->unit);
    else
        snprintf(id, sizeof(id), "%" PRId64, note->id);
    const char *kind = abti_registry_kind_name(note->kind);
    if (!note->func) {
        snprintf(text, ABTI_NAME_ROOM, "%s %s", kind, id);
        return text;
    }
    snprintf(text, ABTI_NAME_ROOM, "%s %s (%s)", kind, id,
             abti_symbol_place(code, sizeof(code), (void *)(uintptr_t)note->func));
    return text;
}

/* --- Lines --- */

/* "ULT 0x1234 (id 5)" */
static void print_note_name(FILE *fp, const struct abti_unit_note *note)
{
    fprintf(fp, "%s %p", abti_registry_kind_name(note->kind), (void *)note->unit);
    if (note->id != ABTI_NO_ID)
        fprintf(fp, " (id %" PRId64 ")", note->id);
}

static void print_note_function(FILE *fp, const struct abti_unit_note *note)
{
    char text[248];
    if (!note->func)
        return;
    abti_symbol_describe((uintptr_t)note->func, false, text, sizeof(text));
    fprintf(fp, ", function %p %s, argument %p", (void *)(uintptr_t)note->func, text, note->arg);
}

static void print_note_number(FILE *fp, const char *what, int number)
{
    if (number >= 0)
        fprintf(fp, ", %s %d", what, number);
}

static void print_note_owner(FILE *fp, const struct abti_unit_note *note)
{
    struct abti_unit_note owner;
    if (!note->owner || !abti_registry_look(note->owner, &owner))
        return;
    fputs(note->owner == note->object ? ": " : ", held by ", fp);
    print_note_name(fp, &owner);
    fprintf(fp, ", %s", abti_registry_state_name(owner.state));
}

void abti_registry_print_wait(FILE *fp, const struct abti_unit_note *note)
{
    uint64_t now = abti_clock_mono_ns();
    fprintf(fp, "  waits for %s", abti_registry_wait_name(note->wait));
    if (note->object)
        fprintf(fp, " %p", note->object);
    print_note_owner(fp, note);
    if (note->waited_ns > 0)
        fprintf(fp, ", since %.3f s", (double)note->waited_ns / 1e9);
    if (note->has_deadline)
        fprintf(fp, ", %.3f s more at most", note->deadline_ns > now ? (double)(note->deadline_ns - now) / 1e9 : 0.0);
    fputc('\n', fp);
}

void abti_registry_print(FILE *fp, const struct abti_unit_note *note)
{
    print_note_name(fp, note);
    fprintf(fp, ": %s", abti_registry_state_name(note->state));
    print_note_function(fp, note);
    print_note_number(fp, "pool", note->pool_id);
    print_note_number(fp, note->state == ABT_THREAD_STATE_RUNNING ? "stream" : "last stream", note->rank);
    fputc('\n', fp);
    if (note->wait != ABTI_WAIT_NOTHING)
        abti_registry_print_wait(fp, note);
}

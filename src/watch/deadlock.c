/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/deadlock.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "idle/idle.h"
#include "os/clock.h"
#include "os/module.h"
#include "run/sched.h"
#include "rt/rt.h"
#include "stream/helper.h"
#include "unit/joining.h"
#include "wait/external.h"
#include "wait/native.h"
#include "wait/task.h"
#include "wait/word.h"
#include "watch/dumpsignal.h"
#include "watch/registry.h"
#include "watch/stranded.h"
#include "watch/waits.h"

/*
 * The mark of a blocked unit counts the polls since it has blocked. Nothing has run between two polls that have found
 * none that runs, when no blocked unit has lost its mark: a unit that runs does, and the others run nothing.
 */
enum { POLL_MS = 150, STEADY_POLLS = 3, CYCLE_POLLS = 2, PATIENT_POLLS = 68 };

static _Atomic(int) expected_wakers; /* wakers that the library does not know */

bool abti_deadlock_expect(int more)
{
    int now = abti_load_relaxed(&expected_wakers); /* relaxed: a number that orders nothing */
    int sum;
    do {
        if (__builtin_add_overflow(now, more, &sum) || sum < 0)
            return false;
    } while (!abti_cas_relaxed(&expected_wakers, &now, sum));
    return true;
}

/* --- What outside the library could wake a unit --- */

/* Native threads of the program's own, and handlers of signals. */
struct outside {
    struct abti_outsiders threads;
    int handled; /* the first signal that somebody may send and the program has a handler for; 0: none */
};

/* What a thread does that does not sleep. */
static bool is_of_own_doing(int sig)
{
    static const int all[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE};
    for (size_t i = 0; i < ABTI_ARRAY_LEN(all); i++) {
        if (sig == all[i])
            return true;
    }
    return false;
}

/* libabtio has a handler that does nothing by itself: it is enough that a system call ends. */
static bool is_libabtios(uintptr_t code)
{
    struct abti_module module;
    if (!abti_module_of(code, &module))
        return false;
    const char *slash = strrchr(module.file, '/');
    return strncmp(slash ? slash + 1 : module.file, "libabtio.", 9) == 0;
}

/* The library's own handler passes signals on to those that were there before. */
static bool is_handled(int sig)
{
    struct sigaction now;
    if (is_of_own_doing(sig) || sigaction(sig, NULL, &now) != 0)
        return false;
    abti_dumpsignal_look_behind(sig, &now);
    return now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN && !is_libabtios((uintptr_t)now.sa_handler);
}

static void outside_poll(struct outside *outside)
{
    abti_outsiders_count(&outside->threads);
    outside->handled = 0;
    for (int sig = 1; sig <= SIGRTMAX && outside->handled == 0; sig++)
        outside->handled = is_handled(sig) ? sig : 0;
}

/* There is nobody, beside registered threads: none of these is left out, so that it is known whether they sleep. */
static bool outside_is_known(const struct outside *outside)
{
    return outside->threads.counted && outside->threads.unknown == 0 && outside->handled == 0;
}

/* A line for each kind. */
static void outside_print(FILE *fp, const struct outside *outside)
{
    unsigned externals = outside->threads.externals, unknown = outside->threads.unknown;
    if (externals > 0)
        fprintf(fp, "libabt:   %u native thread%s of the program's own wait%s in the library\n", externals,
                externals > 1 ? "s" : "", externals > 1 ? "" : "s");
    if (unknown > 0)
        fprintf(fp, "libabt:   %u native thread%s of the program's own could wake units\n", unknown,
                unknown > 1 ? "s" : "");
    if (!outside->threads.counted)
        fputs("libabt:   which other native threads there are the system does not tell\n", fp);
    if (outside->handled)
        fprintf(fp, "libabt:   the program's handler of signal %d could wake units\n", outside->handled);
}

/* --- A poll --- */

struct deadlock_poll {
    unsigned blocked;  /* units */
    bool changed;      /* one of them has just blocked */
    bool steady;       /* none of them has blocked lately */
    bool all_reported; /* of */
    bool may_go_on;    /* there is a unit that runs, or will */
    bool stacked;      /* there are schedulers in pools, or units that poll: these keep streams awake */
    bool yields;       /* there are units that poll */
    struct abti_waits waits;
    struct abti_joining joining[ABTI_MAX_JOINING];
    unsigned num_joining;
    struct outside outside; /* is looked at last */
};

/* NULL: the unit does not wait so. */
static const struct abti_joining *joining_of(const struct deadlock_poll *poll, const abti_unit *unit)
{
    for (unsigned i = 0; i < poll->num_joining; i++) {
        if (poll->joining[i].unit == unit)
            return &poll->joining[i];
    }
    return NULL;
}

/* --- Streams --- */

static bool runs_scheduler(abti_es *es)
{
    abti_unit *unit = abti_registry_peek(&es->cur);
    return unit && abti_registry_is_sched(unit);
}

/* Its main scheduler never sleeps while it has nothing to do, or need not. */
static bool may_stay_awake(abti_es *es)
{
    abti_spin_lock(&es->replace.lock); /* it keeps the scheduler */
    /* seq_cst: of no use under the lock */
    bool is_own = !abti_sched_is_predefined(atomic_load(&es->main_sched));
    abti_spin_unlock(&es->replace.lock);
    return is_own;
}

enum stream { STREAM_IDLE, STREAM_BUSY, STREAM_CALLS /* functions of the program's, when it is idle */ };

/* rt.lock held. */
static enum stream stream_state(abti_es *es, const struct deadlock_poll *poll)
{
    /* acquire: pairs with the release in es_thread */
    if (abti_load_acquire(&es->state) == ABT_XSTREAM_STATE_TERMINATED)
        return STREAM_IDLE;
    if (abti_idle_has_other_calls(es, abti_stranded_poll))
        return STREAM_CALLS;
    if (abti_known_is_asleep(&es->known) || joining_of(poll, abti_registry_peek(&es->cur)))
        return STREAM_IDLE;
    if (!runs_scheduler(es))
        return STREAM_BUSY;
    return abti_sleeper_is_asleep(&es->sleeper) || poll->stacked || may_stay_awake(es) ? STREAM_IDLE : STREAM_BUSY;
}

static enum stream worst_stream_state(const struct deadlock_poll *poll)
{
    enum stream worst = STREAM_IDLE;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && worst != STREAM_CALLS; es = es->next) {
        enum stream state = stream_state(es, poll);
        worst = state > worst ? state : worst;
    }
    abti_spin_unlock(&abti_rt.lock);
    return worst;
}

/* A stream with a pool of the program's own wakes now and then to look into it: a busy one is looked at again. */
static bool all_are_idle(const struct deadlock_poll *poll)
{
    enum { TRIES = 10, PAUSE_NS = 300000 };
    enum stream state = worst_stream_state(poll);
    for (int i = 1; i < TRIES && state == STREAM_BUSY; i++) {
        abti_pause(PAUSE_NS);
        state = worst_stream_state(poll);
    }
    return state == STREAM_IDLE;
}

/* --- Units --- */

/* rt.lock held. A unit that keeps the stream waits for the end of another: its scheduler cannot go on. */
static bool is_stuck(const struct deadlock_poll *poll, abti_es *es, abti_pool *pool)
{
    const struct abti_joining *joining = joining_of(poll, abti_registry_peek(&es->cur));
    if (!joining || !joining->keeps_stream)
        return false;
    abti_spin_lock(&es->replace.lock);                               /* it keeps the scheduler */
    bool uses = abti_sched_uses(atomic_load(&es->main_sched), pool); /* seq_cst: of no use under the lock */
    abti_spin_unlock(&es->replace.lock);
    return uses;
}

/* Somebody takes units out of it, or will. */
static bool is_served(const struct deadlock_poll *poll, const abti_pool *address)
{
    abti_spin_lock(&abti_rt.lock);
    abti_pool *pool = abti_pool_find(address);
    int32_t num = pool ? (int32_t)abti_load_relaxed(&pool->num_scheds) : 1; /* relaxed: a racy read */
    for (abti_es *es = abti_rt.xstreams; es && pool; es = es->next)
        num -= is_stuck(poll, es, pool);
    abti_spin_unlock(&abti_rt.lock);
    return num > 0;
}

/* The unit is that of a main scheduler of the program's own, which may end for reasons of its own. */
static bool ends_as_it_likes(const abti_unit *unit)
{
    bool does = false;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && !does; es = es->next)
        does = es->main_unit == unit && may_stay_awake(es);
    abti_spin_unlock(&abti_rt.lock);
    return does;
}

static void look_at_blocked(struct deadlock_poll *poll, const struct abti_unit_note *note)
{
    abti_unit *unit = note->unit;
    int mark = abti_mark_get(unit, ABT_THREAD_STATE_BLOCKED);
    bool in_region = note->started && !note->ctx; /* a blocking one: it runs on a native thread of its own */
    poll->blocked++;
    poll->may_go_on =
        poll->may_go_on || note->has_deadline || in_region || (note->owner && ends_as_it_likes(note->owner));
    if (mark < 0) {
        poll->changed = true;
        return;
    }
    poll->all_reported &= mark == ABTI_MARK_REPORTED;
    if (mark < STEADY_POLLS) {
        poll->steady = false;
        (void)abti_mark_change(unit, ABT_THREAD_STATE_BLOCKED, mark, mark + 1);
    }
    if (mark >= CYCLE_POLLS && note->owner && !note->has_deadline)
        abti_waits_add(&poll->waits, note, mark == ABTI_MARK_REPORTED);
}

/* One that has not left its stream, where nothing marks it. */
static void look_at_joining(struct deadlock_poll *poll, const struct abti_unit_note *note,
                            const struct abti_joining *joining)
{
    poll->blocked++;
    poll->stacked |= !joining->keeps_stream;
    poll->may_go_on |= ends_as_it_likes(joining->joined);
    poll->changed |= joining->rounds <= 1;
    poll->steady &= joining->rounds > STEADY_POLLS;
    poll->all_reported &= joining->reported;
    if (joining->rounds > CYCLE_POLLS)
        abti_waits_add(&poll->waits, note, joining->reported);
}

static bool look_at_unit(const struct abti_unit_note *note, void *arg)
{
    struct deadlock_poll *poll = arg;
    if (note->kind == ABTI_KIND_MAIN_SCHED || note->state == ABT_THREAD_STATE_TERMINATED)
        return true;
    const struct abti_joining *joining = joining_of(poll, note->unit);
    if (joining && note->owner == joining->joined)
        look_at_joining(poll, note, joining);
    else if (note->state == ABT_THREAD_STATE_BLOCKED)
        look_at_blocked(poll, note);
    else if (note->kind == ABTI_KIND_SCHED)
        poll->stacked = true;
    else if (note->state == ABT_THREAD_STATE_READY && !poll->may_go_on)
        poll->may_go_on = is_served(poll, note->pool);
    else if (note->state == ABT_THREAD_STATE_RUNNING)
        poll->may_go_on |= poll->yields; /* later its stream may be seen with a unit that polls */
    return true;
}

/* --- Reports --- */

enum { MAX_LINES = 50 };

struct deadlock_listing {
    const struct abti_waits *waits; /* with the cycles, which are before, if it is sure */
    bool sure;
    unsigned lines, left_out;
};

static bool tell_unit(const struct abti_unit_note *note, void *arg)
{
    struct deadlock_listing *listing = arg;
    char name[ABTI_NAME_ROOM];
    bool blocked = note->wait != ABTI_WAIT_NOTHING;
    bool ready = !blocked && note->state == ABT_THREAD_STATE_READY && note->kind != ABTI_KIND_SCHED;
    if (note->kind == ABTI_KIND_MAIN_SCHED || (!blocked && !ready))
        return true;
    if (blocked && listing->sure) {
        (void)abti_mark_change(note->unit, ABT_THREAD_STATE_BLOCKED,
                               abti_mark_get(note->unit, ABT_THREAD_STATE_BLOCKED), ABTI_MARK_REPORTED);
        abti_joining_tell(note->unit);
    }
    if (listing->sure && abti_waits_in_cycle(listing->waits, note->unit))
        return true;
    if (listing->lines++ >= MAX_LINES)
        listing->left_out++;
    else if (blocked)
        abti_waits_print(stderr, note);
    else
        fprintf(stderr, "libabt:   %s is ready in pool %d, which no scheduler takes units out of now\n",
                abti_registry_name(name, note), note->pool_id);
    return true;
}

/* `sure`: nothing is left that could wake them. Otherwise it is but likely, and is reported after a long time, once. */
static void tell_all(const struct deadlock_poll *poll, bool sure)
{
    struct deadlock_listing listing = {.waits = &poll->waits, .sure = sure};
    bool many = poll->blocked > 1;
    if (sure)
        fprintf(stderr, "libabt: deadlock: %u unit%s blocked, nothing runs, and nothing is left that could wake %s\n",
                poll->blocked, many ? "s are" : " is", many ? "them" : "it");
    else
        fprintf(
            stderr,
            "libabt: %u unit%s been blocked for %d s, nothing runs, and only threads and signals of the program could "
            "wake %s\n",
            poll->blocked, many ? "s have" : " has", PATIENT_POLLS * POLL_MS / 1000, many ? "them" : "it");
    if (sure)
        (void)abti_waits_print_cycles(stderr, &poll->waits, true);
    abti_registry_walk(tell_unit, &listing);
    if (listing.left_out > 0)
        fprintf(stderr, "libabt:   and %u others\n", listing.left_out);
    abti_waits_print_natives(stderr);
    outside_print(stderr, &poll->outside);
    fputs("libabt:   (a program whose own threads wake units tells so by ABTX_expect_external_wake)\n", stderr);
}

static bool nobody_else_wakes(struct deadlock_poll *poll)
{
    outside_poll(&poll->outside);
    return poll->outside.threads.externals == poll->outside.threads.asleep && all_are_idle(poll);
}

/* The result of a poll. */
enum verdict {
    ALIVE,  /* or it is reported already */
    CYCLES, /* nothing but these is to be reported */
    LIKELY, /* that all of it is dead */
    DEAD,
};

/*
 * The polls in a row that have found the same units blocked, and nothing else, and those of them that were sure. A poll
 * takes time: a thread that wakes a unit which has just been looked at may end before the threads are counted. So the
 * units are looked at once more after a poll that was sure.
 */
static unsigned quiet, certain;

static enum verdict deadlock_judge(struct deadlock_poll *poll)
{
    static bool reported_likely; /* of these units */
    /* relaxed: a thread says so before it begins to wait */
    bool may_be_dead = abti_rt.config.deadlock_check != ABTI_DEADLOCK_CYCLES && poll->blocked > 0 && !poll->may_go_on &&
                       !poll->changed && abti_load_relaxed(&expected_wakers) == 0 && nobody_else_wakes(poll);
    bool sure = may_be_dead && outside_is_known(&poll->outside);
    quiet = may_be_dead ? quiet + 1 : 0;
    certain = sure ? certain + 1 : 0;
    reported_likely = reported_likely && may_be_dead;
    if (certain > 1 && poll->steady && !poll->all_reported && quiet > STEADY_POLLS)
        return DEAD;
    if (may_be_dead && !sure && !reported_likely && quiet > PATIENT_POLLS) {
        reported_likely = true;
        return LIKELY;
    }
    /* If all of it may turn out to be dead, cycles are reported together with that. */
    return !sure && poll->waits.num > 0 ? CYCLES : ALIVE;
}

/* True: there is a deadlock. */
static bool tell_deadlock(const struct deadlock_poll *poll, enum verdict verdict)
{
    bool dead = verdict == DEAD;
    flockfile(stderr); /* what it says stays together */
    if (verdict == CYCLES)
        dead = abti_waits_print_cycles(stderr, &poll->waits, false) > 0;
    else if (verdict != ALIVE)
        tell_all(poll, dead);
    funlockfile(stderr);
    return dead;
}

/* --- Native mutexes --- */

/* A native thread that sleeps for a mutex which it has locked itself: a unit did that waits elsewhere now. */
static struct relock {
    int task, rank; /* of the thread; of its stream, or ABTI_NO_RANK */
    uintptr_t mutex;
    unsigned polls; /* that have found just that */
} relock;

static void look_at_task(int task, void *found_)
{
    struct relock *found = found_;
    uintptr_t mutex = found->mutex ? 0 : abti_task_own_mutex(task);
    if (mutex)
        *found = (struct relock){.task = task, .rank = ABTI_NO_RANK, .mutex = mutex};
}

/* True: there is one, it has stood there for some polls, and that has not been told. */
static bool find_relock(void)
{
    struct relock found = {0};
    (void)abti_task_walk(look_at_task, &found);
    if (found.mutex && found.task == relock.task && found.mutex == relock.mutex)
        found.polls = relock.polls + 1;
    relock = found;
    return found.mutex && found.polls == STEADY_POLLS;
}

/* One of the stream: what runs there, or has waited there before. */
static bool tell_unit_of_relock(const struct abti_unit_note *note, void *lines)
{
    char name[ABTI_NAME_ROOM];
    bool runs = note->state == ABT_THREAD_STATE_RUNNING;
    if (note->kind == ABTI_KIND_MAIN_SCHED || note->rank != relock.rank || (!runs && note->wait == ABTI_WAIT_NOTHING))
        return true;
    if (runs)
        fprintf(stderr, "libabt:   %s runs there\n", abti_registry_name(name, note));
    else
        abti_waits_print(stderr, note);
    return ++*(unsigned *)lines < MAX_LINES;
}

static void tell_relock(void)
{
    unsigned lines = 0;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        if (abti_load_relaxed(&es->own.task) == relock.task) /* relaxed: it sleeps */
            relock.rank = es->rank;
    }
    abti_spin_unlock(&abti_rt.lock);
    flockfile(stderr);
    fprintf(stderr, "libabt: deadlock: native thread %d waits for native mutex %#" PRIxPTR ", which it has itself\n",
            relock.task, relock.mutex);
    if (relock.rank != ABTI_NO_RANK)
        abti_registry_walk(tell_unit_of_relock, &lines);
    fputs("libabt:   (whoever locks a native mutex must not wait in the library before the unlock)\n", stderr);
    funlockfile(stderr);
}

/* When to look again. */
static uint64_t deadlock_poll(uint64_t now_ns)
{
    enum { SHARE = 10 };
    struct deadlock_poll poll = {.steady = true, .all_reported = true};
    poll.num_joining = abti_joining_round(poll.joining);
    for (unsigned i = 0; i < poll.num_joining; i++)
        poll.yields |= !poll.joining[i].keeps_stream;
    abti_registry_walk(look_at_unit, &poll);
    bool dead = tell_deadlock(&poll, deadlock_judge(&poll));
    abti_waits_fini(&poll.waits);
    if (find_relock()) {
        tell_relock();
        dead = true;
    }
    if (dead && abti_rt.config.deadlock_check == ABTI_DEADLOCK_ABORT)
        abort();
    /* Of very many units a poll takes long: the thread then sleeps ten times as long. */
    uint64_t end = abti_clock_mono_ns(), took = (end - now_ns) * SHARE, period = (uint64_t)POLL_MS * 1000000;
    return end + (took > period ? took : period);
}

/* --- The thread that polls --- */

/*
 *   NONE -> ON     by ABT_init, which then makes the thread
 *   ON -> NONE     by the same, when it cannot be made, and in the child of a fork, which does not have it
 *   ON -> ENDING   by ABT_finalize, which then awaits the end of the thread and stores NONE
 */
enum { WATCHER_NONE, WATCHER_ON, WATCHER_ENDING };

static _Atomic(uint32_t) watcher_state;
static pthread_t watcher_thread; /* while WATCHER_ON */

static void forget_watcher(void)
{
    abti_store_relaxed(&watcher_state, WATCHER_NONE); /* relaxed: there is no other thread */
}

/* Its lock is held by the thread while it polls. */
static struct abti_helper watch_helper = {.working = ABTI_SPIN_INIT(ABTI_RANK_HELPER), .in_child = forget_watcher};

static void *watcher_main(void *arg)
{
    (void)arg;
    uint64_t next;
    do {
        abti_spin_lock(&watch_helper.working);
        next = deadlock_poll(abti_clock_mono_ns());
        abti_spin_unlock(&watch_helper.working);
    } while (!abti_word_await_change(&watcher_state, WATCHER_ON, next));
    return NULL;
}

void abti_deadlock_begin(void)
{
    if (abti_rt.config.deadlock_check == ABTI_DEADLOCK_OFF)
        return;
    abti_externals_want(true);
    /* relaxed, as below: the thread is made after it, and ends before it */
    abti_store_relaxed(&watcher_state, WATCHER_ON);
    errno = abti_helper_register(&watch_helper) ? abti_helper_start(&watcher_thread, watcher_main) : ENOMEM;
    if (errno == 0)
        return;
    abti_store_relaxed(&watcher_state, WATCHER_NONE);
    fprintf(stderr, "libabt: ABT_DEADLOCK_CHECK has no effect, there is no thread for it: %m\n");
}

void abti_deadlock_end(void)
{
    abti_externals_want(false);
    /* relaxed, here as below: while there is no thread, the callers of this and of abti_deadlock_begin have the state
     */
    if (abti_load_relaxed(&watcher_state) == WATCHER_NONE)
        return;
    abti_store_release(&watcher_state, WATCHER_ENDING); /* release: pairs with the acquire in abti_word_await_change */
    abti_futex_wake(&watcher_state);
    pthread_join(watcher_thread, NULL);
    abti_store_relaxed(&watcher_state, WATCHER_NONE);
}

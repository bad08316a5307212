/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/capture.h"

#include <errno.h>
#include <signal.h>
#include "os/libunwind.h"
#include "os/symbol.h"
#include "os/clock.h"
#include "os/passon.h"
#include "rt/rt.h"
#include "unit/unit.h"
#include "wait/pause.h"
#include "wait/task.h"
#include "watch/registry.h"

/*
 *   NOBODY -> ASKED                by the asker, which then sends the signal
 *   ASKED -> STORING -> STANDING   by the handler of that signal, which stores the registers in between
 *   ASKED -> NOBODY                by the asker, which has waited long enough
 *   STANDING -> LET_GO             by the asker, which has read the registers
 *   STANDING, LET_GO -> NOBODY     by the handler, which is released, or has waited long enough: the asker may wait
 *                                  for a lock that the thread has
 *
 * A signal that comes late finds another number, or that nothing is asked, and does nothing. So that it does nothing
 * else, our handler stays until ABT_finalize, and passes the program's own signals on.
 */
enum { NOBODY, ASKED, STORING, STANDING, LET_GO };

enum { ANSWER_NS = 500 * 1000 * 1000, STAND_NS = 1000 * 1000 * 1000, CAPTURE_NAP_NS = 50 * 1000 };

static char numbers[256]; /* a signal brings the address of one, which tells it from the program's */

static struct {
    pthread_mutex_t turn;
    _Atomic(uint32_t) phase;
    _Atomic(uint8_t) number; /* of the signal that was sent last */
    ucontext_t context;      /* the handler's until STANDING */
    struct sigaction before; /* the program's handler of the signal, while ours is there */
} capture = {.turn = PTHREAD_MUTEX_INITIALIZER};

/* Its number; -1: it is the program's. */
static int capture_number(const siginfo_t *info)
{
    uintptr_t number = (uintptr_t)info->si_value.sival_ptr - (uintptr_t)numbers;
    return info->si_code == SI_QUEUE && number < sizeof(numbers) ? (int)number : -1;
}

/* Only what a signal handler may do: it stores, and sleeps. */
static void stand_still(const void *ucontext)
{
    uint32_t phase = ASKED;
    /* acquire: pairs with the release in ask_thread, after which the asker reads no registers of the last time */
    if (!abti_cas_acq_rel(&capture.phase, &phase, STORING))
        return;
    abti_ucontext_copy(&capture.context, (const ucontext_t *)ucontext);
    abti_store_release(&capture.phase, STANDING); /* release: pairs with the acquire in await_answer */
    uint64_t deadline = abti_clock_mono_ns() + STAND_NS;
    /* acquire: pairs with the release in let_thread_go */
    while (abti_load_acquire(&capture.phase) == STANDING && abti_clock_mono_ns() < deadline)
        abti_pause(CAPTURE_NAP_NS);
    abti_store_release(&capture.phase, NOBODY); /* release: pairs with the acquire in let_thread_go. The last access */
}

static void on_capture_signal(int number, siginfo_t *info, void *ucontext)
{
    int saved_errno = errno, which = capture_number(info);
    if (which == abti_load_acquire(&capture.number)) /* acquire: pairs with the release in ask_thread */
        stand_still(ucontext);
    else if (which < 0) /* else it comes late */
        abti_pass_on(&capture.before, number, info, ucontext);
    errno = saved_errno;
}

/* rt.lock held: the stream stays, and its thread. NULL: the unit may be gone. */
static abti_es *stream_of(const abti_unit *unit)
{
    abti_es *es = abti_rt.xstreams;
    while (es && abti_registry_peek(&es->cur) != unit)
        es = es->next;
    return es;
}

/* The number of the thread that the unit runs on, if that could be asked. */
static int task_of(const abti_unit *unit)
{
    abti_spin_lock(&abti_rt.lock);
    abti_es *es = stream_of(unit);
    bool can = es && es != abti_es_self && !abti_load_relaxed(&es->carried.is_away);
    int task = can ? abti_load_relaxed(&es->own.task) : ABTI_TASK_UNKNOWN;
    abti_spin_unlock(&abti_rt.lock);
    return task;
}

/*
 * A thread that sleeps in the system is not asked, since a signal would end its sleep: SA_RESTART is nothing to
 * nanosleep, poll and others. It is stopped as it is, and the system tells where; as it does not tell the other
 * registers, the callers of a function that finds its frame by one of those are missing.
 */
static bool read_asleep(const abti_unit *unit, struct abti_calls *calls)
{
    struct abti_task_place place;
    struct abti_symbol symbol;
    ucontext_t context;
    int task = task_of(unit);
    if (task == ABTI_TASK_UNKNOWN || !abti_task_sleeps(task, &place))
        return false;
    abti_symbol_find(&symbol, place.pc, false);
    if (place.pc == 0 || !*symbol.module) /* an emulator's own */
        return true;
    abti_ucontext_at(place.pc, place.sp, &context);
    abti_unwind_ucontext(&context, NULL, calls);
    return true;
}

static enum abti_capture ask_thread(const abti_unit *unit)
{
    enum abti_capture answer = ABTI_CAPTURE_GONE;
    abti_spin_lock(&abti_rt.lock);
    abti_es *es = stream_of(unit);
    if (es) {
        uint8_t number = (uint8_t)(abti_load_relaxed(&capture.number) + 1); /* relaxed: one asks at a time */
        /* release: the first pairs with the acquire in on_capture_signal, the second with that in stand_still */
        abti_store_release(&capture.number, number);
        abti_store_release(&capture.phase, ASKED);
        if (es == abti_es_self)
            answer = ABTI_CAPTURE_SELF;
        else if (abti_load_relaxed(&es->carried.is_away)) /* relaxed: a racy read */
            answer = ABTI_CAPTURE_DEAF;                   /* which thread carries it is not known here */
        else if (abti_task_signal(abti_load_relaxed(&es->own.task), SIGURG,
                                  &numbers[number])) /* relaxed: as it was, or not yet */
            answer = ABTI_CAPTURED;
    }
    abti_spin_unlock(&abti_rt.lock);
    return answer;
}

/* The thread is stopped. False: it does not answer, and need not any more. */
static bool await_answer(void)
{
    for (uint64_t deadline = abti_clock_mono_ns() + ANSWER_NS; abti_clock_mono_ns() < deadline;) {
        if (abti_load_acquire(&capture.phase) == STANDING) /* acquire: pairs with the release in stand_still */
            return true;
        abti_pause(CAPTURE_NAP_NS);
    }
    uint32_t phase = ASKED;
    /* acquire, here as below: pairs with the release in stand_still. release: of no use */
    if (abti_cas_acq_rel(&capture.phase, &phase, NOBODY))
        return false;
    while (abti_load_acquire(&capture.phase) == STORING)
        abti_pause(CAPTURE_NAP_NS);
    return abti_load_acquire(&capture.phase) == STANDING;
}

static void let_thread_go(void)
{
    uint32_t phase = STANDING;
    /* release: pairs with the acquire in stand_still. acquire, here as below: pairs with the release there */
    (void)abti_cas_acq_rel(&capture.phase, &phase, LET_GO);
    while (abti_load_acquire(&capture.phase) != NOBODY)
        abti_pause(CAPTURE_NAP_NS);
}

static enum abti_capture capture_now(const abti_unit *unit, struct abti_calls *calls)
{
    if (read_asleep(unit, calls))
        return ABTI_CAPTURE_ASLEEP;
    enum abti_capture answer = ask_thread(unit);
    if (answer != ABTI_CAPTURED) {
        abti_store_relaxed(&capture.phase, NOBODY); /* relaxed: nobody was asked */
        return answer;
    }
    if (!await_answer())
        return ABTI_CAPTURE_DEAF;
    abti_unwind_ucontext(&capture.context, NULL, calls);
    let_thread_go();
    return ABTI_CAPTURED;
}

static bool capture_is_ours(const struct sigaction *now)
{
    return now->sa_flags & SA_SIGINFO && now->sa_sigaction == on_capture_signal;
}

static bool is_capture_installed(void)
{
    struct sigaction now;
    return sigaction(SIGURG, NULL, &now) == 0 && capture_is_ours(&now);
}

static void install_capture(void)
{
    struct sigaction action = {.sa_sigaction = on_capture_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    if (is_capture_installed())
        return;
    sigfillset(&action.sa_mask);
    sigaction(SIGURG, NULL, &capture.before); /* ours may be called at once */
    sigaction(SIGURG, &action, NULL);
}

enum abti_capture abti_capture_unit(const abti_unit *unit, struct abti_calls *calls)
{
    pthread_mutex_lock(&capture.turn);
    calls->num = 0;
    (void)abti_libunwind(); /* now, while every thread runs, since loading takes locks */
    install_capture();
    enum abti_capture answer = capture_now(unit, calls);
    pthread_mutex_unlock(&capture.turn);
    return answer;
}

void abti_capture_look_behind(int sig, struct sigaction *now)
{
    pthread_mutex_lock(&capture.turn);
    if (sig == SIGURG && capture_is_ours(now))
        *now = capture.before;
    pthread_mutex_unlock(&capture.turn);
}

void abti_capture_fini(void)
{
    if (is_capture_installed())
        sigaction(SIGURG, &capture.before, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/dumpsignal.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include "os/clock.h"
#include "os/fault.h"
#include "rt/rt.h"
#include "stream/helper.h"
#include "wait/native.h"
#include "watch/stackdump.h"

/* So long a stream may take to check events, or it is late. */
enum { LATE_NS = 1000 * 1000 * 1000, POLL_STEP_NS = 1000 * 1000 };

static struct {
    int number; /* 0: none is watched */
    struct sigaction before;
    pthread_t thread;
    sem_t asked; /* as often as the signal has come, and once for the end */
    _Atomic(bool) ending;
} dumper;

/* --- Late streams --- */

/* It has been asked to poll, and has not. */
static bool has_not_looked(abti_es *es)
{
    /* acquire: as in es_note. relaxed: a racy read */
    return abti_load_acquire(&es->state) == ABT_XSTREAM_STATE_RUNNING &&
           abti_load_relaxed(&es->requests) & ABTI_ES_REQ_CHECK;
}

static void ask_all(void)
{
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next)
        abti_es_notify(es, ABTI_ES_REQ_CHECK);
    abti_spin_unlock(&abti_rt.lock);
}

static bool any_has_not_looked(void)
{
    bool any = false;
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es && !any; es = es->next)
        any = has_not_looked(es);
    abti_spin_unlock(&abti_rt.lock);
    return any;
}

static void await_polls(void)
{
    uint64_t deadline = abti_clock_mono_ns() + LATE_NS;
    while (any_has_not_looked() && abti_clock_mono_ns() < deadline)
        abti_pause(POLL_STEP_NS);
}

/* --- The thread --- */

static void *dumper_main(void *unused)
{
    (void)unused;
    for (;;) {
        abti_pause_for(&dumper.asked);
        if (abti_load_acquire(&dumper.ending)) /* acquire: pairs with the release in abti_dumpsignal_end */
            return NULL;
        ask_all();
        await_polls();
        abti_stackdump_mark(stderr, "begin", "");
        abti_stackdump_everything(stderr, has_not_looked, false);
        abti_stackdump_mark(stderr, "end", "");
        fflush(stderr);
    }
}

static void on_dump_signal(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    sem_post(&dumper.asked);
    abti_pass_on(&dumper.before, number, info, context);
    errno = saved_errno;
}

void abti_dumpsignal_begin(int number)
{
    struct sigaction action = {.sa_sigaction = on_dump_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    dumper.number = 0;
    if (number == 0)
        return;
    sem_init(&dumper.asked, 0, 0);
    abti_store_relaxed(&dumper.ending, false); /* relaxed: the thread is made after that */
    if (abti_helper_start(&dumper.thread, dumper_main) != 0) {
        fprintf(stderr, "libabt: ABT_DUMP_SIGNAL: no native thread can be made\n");
        return;
    }
    sigemptyset(&action.sa_mask);
    sigaction(number, NULL, &dumper.before);
    if (sigaction(number, &action, NULL) != 0)
        fprintf(stderr, "libabt: ABT_DUMP_SIGNAL: signal %d cannot be caught\n", number);
    dumper.number = number;
}

void abti_dumpsignal_end(void)
{
    struct sigaction now;
    if (dumper.number == 0)
        return;
    if (sigaction(dumper.number, NULL, &now) == 0 && now.sa_sigaction == on_dump_signal)
        sigaction(dumper.number, &dumper.before, NULL);
    abti_store_release(&dumper.ending, true); /* release: pairs with the acquire in dumper_main */
    sem_post(&dumper.asked);
    pthread_join(dumper.thread, NULL);
    dumper.number = 0;
}

void abti_dumpsignal_look_behind(int sig, struct sigaction *now)
{
    if (sig == dumper.number && now->sa_flags & SA_SIGINFO && now->sa_sigaction == on_dump_signal)
        *now = dumper.before;
}

void abti_dumpsignal_forget(void)
{
    dumper.number = 0;
}

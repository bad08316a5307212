/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/halt.h"

#include <errno.h>
#include <string.h>
#include "base/assert.h"
#include "os/annotate.h"
#include "os/clock.h"
#include "rt/rt.h"
#include "wait/word.h"

/*
 * The phases of a request:
 *
 *   IDLE -> CLAIMED     by one abti_halt_post, which then fills in the request
 *   CLAIMED -> POSTED   by the same call, which tells the ESs then
 *   POSTED -> ACTING    rt.lock: by the ES that finds that all have halted or the time is up
 *   ACTING -> IDLE      rt.lock: by the same ES, after halt_act
 *
 * The callback `done` is called after that: it may post another request, and so may any thread that learns of the end
 * of this one. The round is closing meanwhile: its ESs wait until the callback has returned, and no ES halts for the
 * next request before that.
 *
 * seq_cst, everywhere here: abti_halt_post may be called by a signal handler in the middle of anything, so that it
 * takes no lock and does not wait. A count of the posters keeps their objects alive, the streams in rt.by_index: a
 * poster counts itself and then looks; the thread that frees a stream takes it out (abti_es_list_leave) and then looks
 * at the count (abti_halt_wait_for_posters). One of the two sees the other. A poster also stores the phase before it
 * sets requests (tell), and an ES takes its request back before it looks at the phase (abti_halt_arrive).
 */
enum { IDLE, CLAIMED, POSTED, ACTING };

static struct {
    _Atomic(int) posters;
    _Atomic(unsigned) phase;
    _Atomic(uint32_t) round;          /* futex word: it changes under rt.lock when a round ends. It is never 0 in
                                         a round */
    struct abti_halt_request request; /* the poster fills it in while CLAIMED; constant then until IDLE */
    uint64_t deadline_ns;             /* rt.lock: 0 until the first ES has halted for the request */
    bool closing;                     /* rt.lock: the round is over but for its callback */
} halt = {.round = 1};

void abti_halt_post(const struct abti_halt_request *request)
{
    abti_assert(request->act);
    int saved_errno = errno;
    unsigned idle = IDLE;
    atomic_fetch_add(&halt.posters, 1); /* seq_cst: see above */
    if (abti_rt_is_up() && atomic_compare_exchange_strong(&halt.phase, &idle, CLAIMED)) {
        halt.request = *request;
        abti_annotate_release(&halt);
        abti_store_seq_cst(&halt.phase, POSTED);
        for (int i = 0; i < ABTI_MAX_ES; i++) {
            abti_es *es = abti_load_seq_cst(&abti_rt.by_index[i]);
            if (es)
                abti_es_notify(es, ABTI_ES_REQ_HALT);
        }
    }
    atomic_fetch_sub(&halt.posters, 1);
    errno = saved_errno;
}

void abti_halt_wait_for_posters(void)
{
    abti_spin_until(abti_load_seq_cst(&halt.posters) == 0);
}

void abti_halt_reset(void)
{
    abti_halt_wait_for_posters();
    abti_store_relaxed(&halt.phase, IDLE); /* relaxed: nobody posts while the library is down */
    halt.deadline_ns = 0;
    halt.closing = false;
}

void abti_halt_forget(void)
{
    memset(&halt, 0, sizeof(halt));
    abti_store_relaxed(&halt.round, 1); /* relaxed: there is no other thread */
}

bool abti_halt_is_still(abti_es *es)
{
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    /*
     * relaxed: rt.lock is held. acquire: pairs with the releases in es_thread (stream/xstream.c) and
     * abti_main_run_entered: the last stores of the ES are seen
     */
    return es->halted == abti_load_relaxed(&halt.round) ||
           abti_load_acquire(&es->state) == ABT_XSTREAM_STATE_TERMINATED;
}

/*
 * Whether all ESs are still, with rt.lock held. An ES that was made or revived since the post has not been asked, and
 * is asked here.
 */
static bool all_are_still(void)
{
    abti_assert(abti_spin_is_mine(&abti_rt.lock));
    bool all = true;
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        if (abti_halt_is_still(es))
            continue;
        all = false;
        /* relaxed: one that is asked twice halts once */
        if (!(abti_load_relaxed(&es->requests) & ABTI_ES_REQ_HALT))
            abti_es_notify(es, ABTI_ES_REQ_HALT);
    }
    return all;
}

/* Serves the request, and ends the round. rt.lock is held, and released meanwhile. */
static void halt_act(abti_es *es, bool timed_out)
{
    const struct abti_halt_request request = halt.request;
    abti_assert(abti_spin_is_mine(&abti_rt.lock) && !halt.closing);
    abti_assert(es->halted == abti_load_relaxed(&halt.round) && abti_load_relaxed(&halt.phase) == POSTED);
    /* release: both stores of the lister pair with the acquire in wait_for_lister (pool/pool.c) */
    abti_store_seq_cst(&halt.phase, ACTING);
    abti_store_release(&abti_rt.lister, es);
    abti_spin_unlock(&abti_rt.lock);
    abti_annotate_acquire(&halt);
    request.act(&request, timed_out);
    abti_spin_lock(&abti_rt.lock);
    halt.closing = true;
    halt.deadline_ns = 0;
    /* release: as above. The phase pairs with the compare-and-swap of abti_halt_post */
    abti_store_release(&abti_rt.lister, NULL);
    abti_store_seq_cst(&halt.phase, IDLE);
    abti_spin_unlock(&abti_rt.lock);
    if (request.done)
        request.done(timed_out ? ABT_TRUE : ABT_FALSE, request.arg);
    abti_spin_lock(&abti_rt.lock);
    halt.closing = false;
    uint32_t next = abti_load_relaxed(&halt.round) + 1; /* relaxed: rt.lock is held */
    /* release: pairs with the acquire in abti_word_await_change */
    abti_store_release(&halt.round, next ? next : 1);
    abti_futex_wake_all(&halt.round);
}

/* Returns the deadline, which the first ES that comes sets. */
static uint64_t halt_deadline(void)
{
    abti_assert(abti_spin_is_mine(&abti_rt.lock) && !halt.closing);
    if (halt.deadline_ns == 0) {
        double timeout = halt.request.timeout;
        halt.deadline_ns = timeout < 0.0 ? ABTI_CLOCK_NEVER : abti_clock_deadline_in(timeout);
    }
    return halt.deadline_ns;
}

/* Whether the ES may halt: there is a request, and its round has begun. rt.lock is held, and released meanwhile. */
static bool enter_round(abti_es *es)
{
    abti_assert(es == abti_es_self && abti_spin_is_mine(&abti_rt.lock));
    for (;;) {
        uint32_t round = abti_load_relaxed(&halt.round); /* relaxed: rt.lock is held */
        if (abti_load_seq_cst(&halt.phase) < POSTED)
            return false; /* it is too late */
        if (es->halted == round) {
            /* The ES runs the callback of this round, and halts after that. */
            atomic_fetch_or(&es->requests, ABTI_ES_REQ_HALT);
            return false;
        }
        if (!halt.closing) {
            es->halted = round;
            return true;
        }
        abti_spin_unlock(&abti_rt.lock);
        (void)abti_word_await_change(&halt.round, round, ABTI_CLOCK_NEVER);
        abti_spin_lock(&abti_rt.lock);
    }
}

void abti_halt_arrive(abti_es *es)
{
    enum { POLL_NS = 1000000 }; /* streams that come, end or are revived meanwhile are looked for */
    /* seq_cst, before the read of the phase: a request posted after that read is made anew */
    atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_HALT);
    abti_assert(es == abti_es_self);
    abti_spin_lock(&abti_rt.lock);
    if (!enter_round(es)) {
        abti_spin_unlock(&abti_rt.lock);
        return;
    }
    uint32_t round = es->halted;
    while (abti_load_relaxed(&halt.round) == round) { /* relaxed, as all below: rt.lock is held */
        uint64_t now = abti_clock_mono_ns(), until = now + POLL_NS;
        if (abti_load_relaxed(&halt.phase) == POSTED && !halt.closing) {
            bool all = all_are_still();
            if (all || now >= halt_deadline()) {
                halt_act(es, !all);
                break;
            }
            if (halt_deadline() < until)
                until = halt_deadline();
        }
        abti_spin_unlock(&abti_rt.lock);
        (void)abti_word_await_change(&halt.round, round, until);
        abti_spin_lock(&abti_rt.lock);
    }
    abti_spin_unlock(&abti_rt.lock);
}

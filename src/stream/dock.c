/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/park.h"

#include "base/assert.h"
#include "idle/driver.h"
#include "idle/idle.h"
#include "idle/leader.h"
#include "os/clock.h"
#include "rt/self.h"
#include "wait/word.h"

/*
 * Only an ES itself starts its drivers, so that one without any has none when it is woken. In a callback it calls
 * nobody else, and in the midst of a sleep its sleeper is announced already.
 */
static bool dock_is_wanted(abti_es *es)
{
    return es && !es->idle->called && !es->idle->parked && abti_drivers_have_begun(es);
}

/*
 * Sleeps once, unless there is something to do. No wake is lost: a thread that asks for something, or changes the word,
 * does that first and then looks at the sleeper, or at the bucket. The ES announces its sleep, enters the bucket, and
 * then looks at the requests and the word.
 */
static void sleep_in_dock(abti_es *es, const _Atomic(uint32_t) *word, uint32_t value)
{
    struct abti_docked docked;
    abti_idle_prepare(es);
    abti_wordq_enter(&docked, word, &es->sleeper);
    /* seq_cst: pairs with abti_es_notify */
    if (abti_word_is_changed(word, value) || atomic_load(&es->requests) & ABTI_ES_REQ_CHECK)
        (void)abti_idle_cancel(es);
    else
        (void)abti_idle_sleep(es, abti_idle_poll_limit(es, ABTI_CLOCK_NEVER));
    abti_wordq_leave(&docked);
}

/* A request to the ES that no driver serves waits until the ES comes to its scheduler, which serves all. */
static void dock_sleep(abti_es *es, const _Atomic(uint32_t) *word, uint32_t value)
{
    abti_assert(es == abti_es_self && dock_is_wanted(es));
    atomic_fetch_and(&es->requests, ~(uint32_t)ABTI_ES_REQ_CHECK); /* seq_cst: pairs with abti_es_notify */
    abti_idle_poll(es);
    abti_idle_tell_sleep(es);
    if (!es->idle->busy)
        sleep_in_dock(es, word, value);
    es->idle->busy = false;
    if (abti_word_is_changed(word, value))
        abti_leaders_go_busy(es);
}

const struct abti_word_dock abti_es_dock = {dock_is_wanted, dock_sleep};

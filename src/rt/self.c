/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/self.h"

#include "base/assert.h"
#include "os/clock.h"
#include "rt/rt.h"

#undef abti_es_self
_Thread_local abti_es *abti_es_self;

ABTI_UNKNOWN abti_es **abti_es_self_at(void)
{
    return &abti_es_self;
}

#define abti_es_self ABTI_CPU_THREAD_LOCAL(abti_es_self)

void abti_es_notify(abti_es *es, unsigned requests)
{
    /* seq_cst: pairs with the load in abti_es_is_asked, as in abti_sched_request */
    atomic_fetch_or(&es->requests, requests);
    abti_es_wake(es);
}

void abti_es_ask_all_for_stacks(abti_es *but)
{
    abti_spin_lock(&abti_rt.lock);
    for (abti_es *es = abti_rt.xstreams; es; es = es->next) {
        if (es != but)
            abti_es_notify(es, ABTI_ES_REQ_STACKS);
    }
    abti_spin_unlock(&abti_rt.lock);
}

void abti_es_ask_for_stacks(abti_es *es)
{
    abti_assert(es && es == abti_es_self);
    enum { EVERY_NS = 1000000 };
    uint64_t now = abti_clock_mono_ns();
    if (now < es->asked_ns + EVERY_NS)
        return;
    es->asked_ns = now;
    abti_es_ask_all_for_stacks(es);
}

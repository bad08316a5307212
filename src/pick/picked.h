/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedulers whose user chooses the next unit, by a function, and leaves the rest to the library. */
#ifndef ABTI_PICK_PICKED_H
#define ABTI_PICK_PICKED_H

#include "os/annotate.h"
#include "pick/sched.h"
#include "rt/handle.h"

/* The definition, behind an ABTX_sched_def. pick is required; the others are NULL where absent. */
struct ABTX_sched_def_opaque {
    ABTX_sched_pick_fn pick;
    ABTX_sched_before_sleep_fn before_sleep;
    ABTX_sched_on_event_fn on_event;
    ABT_sched_init_fn init;
    ABT_sched_free_fn free;
};

/*
 * What such a scheduler has more than others. While one of its functions runs, the ES's running unit is `unit`, a
 * tasklet that is in no pool: so what a tasklet may not do has no effect there, or is refused.
 */
struct abti_picked {
    abti_unit unit;
    struct ABTX_sched_def_opaque def;
    bool has_reported;
};

/* Calls one of the functions while `self` is the running unit. It leaves the ES as it is: a tasklet cannot switch. */
#define ABTI_PICKED_CALL(es, self, sched, call)                                                                        \
    ({                                                                                                                 \
        abti_unit *call_cur = (self);                                                                                  \
        (es)->cur = &(sched)->picked->unit;                                                                            \
        __auto_type call_result = (call);                                                                              \
        (es)->cur = call_cur;                                                                                          \
        call_result;                                                                                                   \
    })

/*
 * Calls the scheduler's pick while `self` is the running unit. Of the unit that this returns, and owns, nothing is
 * known yet.
 */
ABTI_INLINE ABT_thread abti_picked_call(abti_es *es, abti_unit *self, abti_sched *sched)
{
    abti_assert(es == abti_es_self && es->cur == self && abti_sched_picks(sched));
    return ABTI_PICKED_CALL(es, self, sched, sched->picked->def.pick(sched));
}

/* Whether that is a unit, and one that is ready. False is also for one that has to be looked at more closely. */
ABTI_INLINE bool abti_picked_is_ready(ABT_thread unit)
{
    return !abti_handle_is_slow(unit) && ABTI_LIKELY(!abti_cpu_is_set(&unit->state));
}

/* Looks at what is not simply ready. Returns the unit, or NULL: it is none, or is not ready, of which this tells. */
abti_unit *abti_picked_look(abti_sched *sched, ABT_thread unit);

/* Picks the next unit. NULL: there is none. */
ABTI_INLINE abti_unit *abti_picked_pick(abti_es *es, abti_sched *sched)
{
    ABT_thread unit = abti_picked_call(es, es->cur, sched);
    return ABTI_LIKELY(abti_picked_is_ready(unit)) ? unit : abti_picked_look(sched, unit);
}

#endif

/* Schedulers whose user chooses the next unit, by a function, and leaves the rest to the library. */
#ifndef ABTI_RUN_PICKED_H
#define ABTI_RUN_PICKED_H

#include "os/annotate.h"
#include "run/sched.h"

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
    bool has_told;
};

/* Calls one of the functions, which leaves the ES as it is: a tasklet cannot switch. */
#define ABTI_PICKED_CALL(es, sched, call)                                                                              \
    ({                                                                                                                 \
        abti_unit *call_cur = (es)->cur;                                                                               \
        (es)->cur = &(sched)->picked->unit;                                                                            \
        __auto_type call_result = (call);                                                                              \
        (es)->cur = call_cur;                                                                                          \
        call_result;                                                                                                   \
    })

/* Tells of a unit that is not ready. */
void abti_picked_tell(abti_sched *sched, abti_unit *unit);

/*
 * Picks the next unit. NULL: there is none. relaxed: the pop that has brought the unit orders its state, which may have
 * a mark, and a unit that others run is an error of the user's.
 */
ABTI_INLINE abti_unit *abti_picked_pick(abti_es *es, abti_sched *sched)
{
    abti_assert(es == abti_es_self && sched->picked);
    ABT_thread unit = ABTI_PICKED_CALL(es, sched, sched->picked->def.pick(sched));
    if (abti_is_seldom(unit) && (!unit || unit == ABT_THREAD_NULL || unit == ABT_TASK_NULL))
        return NULL;
    if (ABTI_LIKELY((abti_load_relaxed(&unit->state) & ABTI_STATE_MASK) == ABT_THREAD_STATE_READY))
        return unit;
    abti_picked_tell(sched, unit);
    return NULL;
}

#endif

/* The loop of the predefined schedulers: pick, run, and now and then look at what is asked of the ES and the scheduler. */
#include "sched/sched_impl.h"

#include "core/switch.h"
#include "core/xstream.h"

/* How often an idle ES looks at its pools before it sleeps. A look with its pause takes about 50 ns. */
enum { IDLE_LOOKS = 400 };

/* A main scheduler runs tasklets right here: it has no scheduler of its own that they could be taken for asking. */
ABTI_INLINE void run_unit(abti_es *es, abti_sched *sched, abti_unit *unit)
{
    if (unit->flags & ABTI_UNIT_TASKLET && !abti_has_requests(unit) && !es->dsched) {
        es->budget--;
        abti_run_tasklet(es, es->cur, unit);
    } else {
        abti_run_child(es, unit, sched->direct ? sched : NULL);
    }
}

/* Nothing to do. A stacked scheduler gives the ES to its parent, a main scheduler's ES sleeps. */
static void idle(abti_es *es, abti_sched *sched, unsigned looks)
{
    if (es->parent)
        abti_yield_any(es, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    else if (looks < IDLE_LOOKS && sched->kind != ABT_SCHED_BASIC_WAIT)
        abti_cpu_relax();
    else
        abti_es_park(es, sched, ABTI_CLOCK_NEVER);
}

void abti_sched_loop(abti_sched *sched)
{
    if (sched->num_pools == 0)
        return;
    for (unsigned looks = 0;;) {
        abti_es *es = abti_es_self; /* a stacked scheduler that gave its ES away may be on another one */
        abti_unit *unit = abti_sched_pick(sched, NULL);
        if (unit) {
            run_unit(es, sched, unit);
            looks = 0;
            if (es->budget > 0)
                continue;
        }
        es->budget = (int32_t)sched->event_freq;
        abti_es_check_events(es, sched);
        if (abti_sched_has_to_stop(sched))
            return;
        if (!unit)
            idle(es, sched, looks++);
    }
}

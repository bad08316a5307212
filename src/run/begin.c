/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where ULTs begin: the function at the bottom of each stack. It calls the functions of units, one after the other as
 * long as the next one may start on the very stack that the last one leaves (abti_end_ult). A unit in place begins in
 * abti_run_in_place (run/join.h), a tasklet in abti_call_tasklet (run/child.h).
 */
#include "run/begin.h"

#include "base/assert.h"
#include "os/annotate.h"
#include "pool/blocked.h"
#include "rt/rt.h"
#include "run/end.h"
#include "run/annotated.h"
#include "run/switch.h"
#include "unit/exceptions.h"
#include "unit/stackuse.h"

/* It is out of line, since it must not use what its caller knew of the ES before the unit ran. */
static ABTI_NOINLINE void sample_end(void)
{
    abti_stackuse_left(abti_es_self->cur);
}

/* It is out of line for the same reason as sample_end. */
static ABTI_NOINLINE void order_end(void)
{
    abti_annotate_end(abti_es_self->cur);
}

ABTI_INLINE void run_ults(bool sampled, bool order)
{
    ABTI_STOPS_EXCEPTIONS();
    abti_annotate_arrival();
    for (;;) {
        abti_unit *unit = abti_es_self->cur;
        abti_assert(!abti_unit_is_tasklet(unit) && unit->func);
        if (sampled)
            abti_stackuse_enter();
        unit->func(unit->arg);
        if (sampled)
            sample_end();
        if (order)
            order_end();
        abti_end_ult();
    }
}

ABTI_HOT void abti_ult_main(void)
{
    run_ults(false, false);
}

static void ult_main_sampled(void)
{
    run_ults(true, false);
}

static void ult_main_ordered(void)
{
    run_ults(false, true);
}

void abti_entry_watch(void)
{
    abti_spin_lock(&abti_rt.lock);
    abti_store_relaxed(&abti_rt.ult_entry, abti_annotate_order     ? ult_main_ordered
                                           : abti_stackuse_is_on() ? ult_main_sampled
                                                                   : abti_ult_main);
    abti_spin_unlock(&abti_rt.lock);
    /* While there are samples no unit runs in place. Other streams follow when they look at events next. */
    abti_es *es = abti_es_self;
    if (es && abti_stackuse_is_on() && abti_pool_is_host(es, es->fast))
        abti_pool_in_place_grant(es->fast, 0);
}

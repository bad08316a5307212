/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where ULTs begin: the function at the bottom of each stack. It calls the functions of units, one after the other as
 * long as the next one may start on the very stack that the last one leaves (abti_end_ult). A unit in place begins in
 * abti_run_in_place (run/join.h), a tasklet in abti_call_tasklet (run/child.h).
 */
#include "run/switch.h"

#include "base/assert.h"
#include "os/annotate.h"
#include "pool/blocked.h"
#include "rt/rt.h"
#include "run/end.h"
#include "run/annotated.h"

/* It is out of line, since it must not use what its caller knew of the ES before the unit ran. */
static ABTI_NOINLINE void order_end(void)
{
    abti_annotate_end(abti_es_self->cur);
}

ABTI_INLINE void run_ults(bool order)
{
    ABTI_STOPS_EXCEPTIONS();
    abti_annotate_arrival();
    for (;;) {
        abti_unit *unit = abti_es_self->cur;
        abti_assert(!abti_unit_is_tasklet(unit) && unit->func);
        unit->func(unit->arg);
        if (order)
            order_end();
        abti_end_ult();
    }
}

ABTI_HOT void abti_ult_main(void)
{
    run_ults(false);
}

static void ult_main_ordered(void)
{
    run_ults(true);
}

void abti_entry_choose(void)
{
    /* relaxed: no unit runs yet */
    abti_store_relaxed(&abti_rt.ult_entry, abti_annotate_order ? ult_main_ordered : abti_ult_main);
}

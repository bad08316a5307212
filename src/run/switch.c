/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/switch.h"

/* A parent that goes on runs no unit: it has run all the time, as those that listen see it. */
static void tell_run(abti_unit *unit, abti_unit *before)
{
    abti_es *es = abti_es_self;
    if (unit != es->parent)
        abti_tool_event_run(es, unit, before);
}

ABTI_NO_SANITIZE static ABTI_NOINLINE int switch_observed(abti_unit *self, abti_unit *to, void (*after)(void *),
                                                          void *arg, bool starts)
{
    tell_run(to, self);
    if (abti_annotate_on)
        return (starts ? abti_annotate_start : abti_annotate_switch)(self, to, after, arg);
    if (starts)
        return abti_ctx_start(&self->ctx, abti_stack_top(to->stack), abti_load_relaxed(&abti_rt.ult_entry), after, arg);
    return after ? abti_ctx_switch_after(&self->ctx, to->ctx, after, arg) : abti_ctx_switch(&self->ctx, to->ctx);
}

ABTI_NO_SANITIZE void abti_depart_observed(abti_unit *to, bool starts)
{
    tell_run(to, abti_es_self->tool.before);
    if (abti_annotate_on)
        (starts ? abti_depart_to_start : abti_depart)(to->stack);
}

int abti_switch_slow(abti_es *es, abti_unit *self, abti_unit *to, void (*after)(void *), void *arg, bool starts)
{
    abti_assert(es == abti_es_self && self != to && (!starts || to->stack));
    struct abti_saved saved = abti_saved_lay_by(es);
    int code = switch_observed(self, to, after, arg, starts);
    abti_saved_pick_up(&saved);
    return code;
}

int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    return abti_leave(es, self, next, after, arg);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/switch.h"

#include "run/observed.h"

int abti_switch_slow(abti_es *es, abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    abti_assert(es == abti_es_self && self != to);
    struct abti_saved kept = abti_saved_lay_by(es);
    int code = abti_switch_observed(self, to, after, arg);
    abti_saved_pick_up(&kept);
    return code;
}

int abti_start_slow(abti_es *es, abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    abti_assert(es == abti_es_self && self != to && to->stack);
    struct abti_saved kept = abti_saved_lay_by(es);
    int code = abti_start_observed(self, to, after, arg);
    abti_saved_pick_up(&kept);
    return code;
}

int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    return abti_leave(es, self, next, after, arg);
}

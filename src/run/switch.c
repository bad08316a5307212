/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/switch.h"

int abti_switch_slow(abti_es *es, abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    struct abti_kept kept = abti_kept_lay_by(es);
    int code = abti_switch_observed(self, to, after, arg);
    abti_kept_pick_up(&kept);
    return code;
}

int abti_start_slow(abti_es *es, abti_unit *self, abti_unit *to, void (*after)(void *), void *arg)
{
    struct abti_kept kept = abti_kept_lay_by(es);
    int code = abti_start_observed(self, to, after, arg);
    abti_kept_pick_up(&kept);
    return code;
}

int abti_leave_to(abti_es *es, abti_unit *self, abti_unit *next, void (*after)(void *), void *arg)
{
    return abti_leave(es, self, next, after, arg);
}

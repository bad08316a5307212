/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/cancel.h"

#include "base/assert.h"
#include "run/end.h"

bool abti_cancel_set_off(abti_unit *self, bool off)
{
    abti_assert(abti_es_self->cur == self && !abti_unit_is_tasklet(self));
    /* acquire and release: of no use, as only the ULT itself and the streams that run it look at OFF and LATER */
    uint8_t before = off ? abti_fetch_or_acq_rel(&self->requests, ABTI_REQ_OFF)
                         : abti_fetch_and_acq_rel(&self->requests, (uint8_t)~ABTI_REQ_OFF);
    if (!off && before & (ABTI_REQ_CANCEL | ABTI_REQ_LATER))
        abti_ult_exit();
    return (before & ABTI_REQ_OFF) != 0;
}

bool abti_cancel_put_off(void)
{
    abti_es *es = abti_es_self;
    return !es || abti_unit_is_tasklet(es->cur) || abti_cancel_set_off(es->cur, true);
}

void abti_cancel_allow(bool before)
{
    if (!before)
        (void)abti_cancel_set_off(abti_es_self->cur, false);
}

void abti_cancel_serve(abti_unit *self)
{
    if (abti_unit_is_cancelled(self))
        abti_ult_exit();
    if (!(abti_load_relaxed(&self->requests) & ABTI_REQ_CANCEL))
        return;
    /* acquire and release: of no use, as above */
    abti_fetch_or_acq_rel(&self->requests, ABTI_REQ_LATER);
    abti_fetch_and_acq_rel(&self->requests, (uint8_t)~ABTI_REQ_CANCEL);
}

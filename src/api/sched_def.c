/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_sched_def_*: definitions of schedulers that choose the next unit by a function. */
#include <stddef.h>
#include <stdlib.h>
#include "api/handles.h"
#include "stream/sched_picked.h"

_Static_assert(offsetof(struct ABT_sched_opaque, data) == 0, "programs read it there (ABTX_sched_data)");

#define DEF_IS_BAD(h) ABTI_IS_BAD(h, NULL, ABTI_HANDLE_SCHED_DEF)

int ABTX_sched_def_create(ABTX_sched_pick_fn pick, ABTX_sched_def *newdef)
{
    if (ABTI_REFUSE(!pick || !newdef))
        return abti_error(ABT_ERR_INV_ARG);
    struct ABTX_sched_def_opaque *def = calloc(1, sizeof(*def));
    if (!def)
        return abti_error(ABT_ERR_MEM);
    def->pick = pick;
    abti_ledger_made(def, ABTI_HANDLE_SCHED_DEF);
    *newdef = def;
    return ABT_SUCCESS;
}

int ABTX_sched_def_free(ABTX_sched_def *def)
{
    if (ABTI_REFUSE(!def || DEF_IS_BAD(*def)))
        return abti_error(ABT_ERR_INV_ARG);
    abti_ledger_free(*def);
    *def = NULL;
    return ABT_SUCCESS;
}

#define SET(def, member, value)                                                                                        \
    ({                                                                                                                 \
        if (ABTI_REFUSE(DEF_IS_BAD(def)))                                                                              \
            return abti_error(ABT_ERR_INV_ARG);                                                                        \
        (def)->member = (value);                                                                                       \
        ABT_SUCCESS;                                                                                                   \
    })

int ABTX_sched_def_set_init(ABTX_sched_def def, ABT_sched_init_fn init)
{
    return SET(def, init, init);
}

int ABTX_sched_def_set_free(ABTX_sched_def def, ABT_sched_free_fn free)
{
    return SET(def, free, free);
}

int ABTX_sched_def_set_before_sleep(ABTX_sched_def def, ABTX_sched_before_sleep_fn before_sleep)
{
    return SET(def, before_sleep, before_sleep);
}

int ABTX_sched_def_set_on_event(ABTX_sched_def def, ABTX_sched_on_event_fn on_event)
{
    return SET(def, on_event, on_event);
}

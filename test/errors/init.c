/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_init, ABT_finalize, ABT_initialized. */
#include "errors.h"

RETURNS(ABT_finalize, ABT_ERR_UNINITIALIZED, UNINITED, "nothing to finalize");
RETURNS(ABT_finalize, ABT_ERR_INV_XSTREAM, BY_SECONDARY | BY_SCHED | BY_TASKLET2 | BY_EXTERNAL,
        "the last call, not on the primary ES");
RETURNS(ABT_finalize, ABT_ERR_INV_THREAD, BY_ULT | BY_TASKLET, "the last call, not by the primary ULT");

RETURNS(ABT_initialized, ABT_ERR_UNINITIALIZED, UNINITED | ALWAYS, "not initialised");

/* A refused last call does not count, nor does one that was not the last. */
PROVOKE(ABT_finalize, ABT_ERR_INV_XSTREAM, BY_SECONDARY | BY_EXTERNAL, "the last call after one that was not the last")
{
    (void)a;
    must(ABT_init(0, NULL));
    must(ABT_finalize());
    return ABT_finalize();
}

TRY_ALL(nothing_to_set_up, nothing_to_set_up)

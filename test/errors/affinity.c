/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_xstream_*cpubind, ABT_xstream_*affinity, where streams are bound to CPUs and where they are not. */
#include "errors.h"

NULLS(ABT_xstream_set_cpubind, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, 0);
NULLS(ABT_xstream_get_cpubind, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, OUT(int));
NULLS(ABT_xstream_set_affinity, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, -1, NULL);
NULLS(ABT_xstream_get_affinity, ABT_ERR_INV_XSTREAM, INITED, ABT_XSTREAM_NULL, h, -1, OUT(int), OUT(int));

RETURNS(ABT_xstream_set_affinity, ABT_ERR_INV_ARG, INITED, "less than no CPUs", world.worker, -1, NULL);
RETURNS(ABT_xstream_get_affinity, ABT_ERR_INV_ARG, INITED, "room for less than none", world.worker, -1, OUT(int),
        OUT(int));

RETURNS(ABT_xstream_set_cpubind, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_AFFINITY, "no affinity", world.worker, 0);
RETURNS(ABT_xstream_get_cpubind, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_AFFINITY, "no affinity", world.worker,
        OUT(int));
RETURNS(ABT_xstream_set_affinity, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_AFFINITY, "no affinity", world.worker, 0,
        NULL);
RETURNS(ABT_xstream_get_affinity, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NO_AFFINITY, "no affinity", world.worker, 1,
        OUT(int), OUT(int));

RETURNS(ABT_xstream_get_cpubind, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NOT_BOUND, "a stream that is not bound",
        world.worker, OUT(int));

RETURNS(ABT_xstream_get_affinity, ABT_ERR_FEATURE_NA, INITED | ALWAYS | IF_NOT_BOUND, "a stream that is not bound",
        world.worker, 1, OUT(int), OUT(int));

RETURNS(ABT_xstream_set_cpubind, ABT_ERR_SYS, INITED | ALWAYS | IF_AFFINITY, "the system has no such CPU", world.worker,
        -1);
RETURNS(ABT_xstream_set_affinity, ABT_ERR_SYS, INITED | ALWAYS | IF_AFFINITY, "the system has no such CPUs",
        world.worker, 2, (int[]){-1, -2});

int main(void)
{
    setenv("ABT_SET_AFFINITY", "no", 1);
    try_inited(false, nothing_to_set_up, nothing_to_set_up);
    unsetenv("ABT_SET_AFFINITY");
    try_inited(false, nothing_to_set_up, nothing_to_set_up);
    return done_testing();
}

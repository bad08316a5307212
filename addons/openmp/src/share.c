/* SPDX-License-Identifier: BSD-3-Clause */
/* Work-sharing constructs: what the members of a team do between them. */
#include "omp.h"

#include <stdlib.h>

struct abtomp_share {
    int num;
};

struct abtomp_share **abtomp_shares_new(int num)
{
    (void)num;
    return calloc(ABTOMP_NUM_SHARES, sizeof(struct abtomp_share *));
}

void abtomp_shares_free(struct abtomp_share **shares)
{
    free(shares);
}

void abtomp_shares_reset(struct abtomp_team *team)
{
    /* relaxed: no member is in a region */
    atomic_store_explicit(&team->has_shared, false, memory_order_relaxed);
}

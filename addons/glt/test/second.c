/* SPDX-License-Identifier: BSD-3-Clause */
/* The second file of a program that includes glt.h. */
#include "calls.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_int count;

static void count_up(void *arg)
{
    atomic_fetch_add(&count, 1);
}

glt_team_t *second_team(void)
{
    return glt_get_team();
}

int second_units(int number)
{
    GLT_ult *ults = glt_ult_malloc(number);

    for (int i = 0; i < number; i++)
        glt_ult_create_to(count_up, NULL, &ults[i], i);
    for (int i = 0; i < number; i++)
        glt_ult_join(&ults[i]);
    free(ults);
    return count;
}

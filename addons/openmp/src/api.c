/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the standard. */
#include "omp.h"

ABTOMP_API int omp_get_thread_num(void);
ABTOMP_API int omp_get_num_threads(void);
ABTOMP_API int omp_get_max_threads(void);
ABTOMP_API void omp_set_num_threads(int num);

int omp_get_thread_num(void)
{
    const struct abtomp_member *me = abtomp_current;
    return me ? me->num : 0;
}

int omp_get_num_threads(void)
{
    const struct abtomp_member *me = abtomp_current;
    return me ? me->team->num : 1;
}

int omp_get_max_threads(void)
{
    return abtomp_num_threads(abtomp_self());
}

void omp_set_num_threads(int num)
{
    struct abtomp_member *me = abtomp_self();
    me->icvs.num_threads = num > 0 ? num : 1;
    me->icvs.is_said = true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "icv.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct abtomp_env abtomp_env;

static int count_procs(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

void abtomp_icv_start(void)
{
    struct abtomp_icvs *icvs = &abtomp_env.icvs;
    const char *threads = getenv("OMP_NUM_THREADS"), *policy = getenv("OMP_WAIT_POLICY"),
               *share = getenv("ABT_OMP_SHARE");
    abtomp_env.num_procs = count_procs();
    abtomp_env.is_active = policy && strcasecmp(policy, "active") == 0;
    abtomp_env.shares = !share || strcmp(share, "0") != 0;
    icvs->is_said = threads && atoi(threads) > 0;
    icvs->num_threads = icvs->is_said ? atoi(threads) : abtomp_env.num_procs;
    icvs->max_active_levels = 1;
    icvs->thread_limit = INT_MAX;
    icvs->run_sched = ABTOMP_DYNAMIC;
    icvs->run_chunk = 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/affinity.h"

#include <errno.h>
#include "base/assert.h"
#include "stream/carrier.h"
#include "rt/rt.h"

/* Only ABT_init and ABT_finalize write this. */
static struct abti_cpuset allowed;

/*
 * Whether a stream has been bound since ABT_init, and whether the primary one has. relaxed: a stream that is made while
 * another is bound may come before or after that.
 */
static _Atomic(bool) some_are_bound, primary_is_bound;

int abti_esaffinity_init(void)
{
    abti_store_relaxed(&some_are_bound, false);
    abti_store_relaxed(&primary_is_bound, false);
    if (!abti_rt.config.affinity)
        return ABT_SUCCESS;
    int err = abti_affinity_get(pthread_self(), &allowed);
    if (err == -ENOMEM)
        return ABT_ERR_MEM;
    abti_rt.config.affinity = err == 0 && allowed.num > 0;
    if (!abti_rt.config.affinity)
        abti_cpuset_fini(&allowed);
    return ABT_SUCCESS;
}

void abti_esaffinity_fini(void)
{
    if (!abti_rt.config.affinity)
        return;
    /* The system may have taken these CPUs away: then it has chosen others. relaxed: see above */
    if (abti_load_relaxed(&primary_is_bound))
        (void)!abti_affinity_set(pthread_self(), allowed.cpus, allowed.num);
    abti_cpuset_fini(&allowed);
}

/* num of the CPUs of ABT_init, from the one with this number on. */
static int some_of_allowed(int first, size_t num, struct abti_cpuset *cpus)
{
    struct abti_cpu_range range = {.first = first, .num = (int)num, .stride = 1};
    struct abti_cpu_entry entry = {.ranges = &range, .num_ranges = 1};
    return abti_affinity_entry(&entry, &allowed, cpus) == 0 ? ABT_SUCCESS : ABT_ERR_MEM;
}

int abti_esaffinity_of(int rank, struct abti_cpuset *cpus)
{
    abti_assert(rank >= 0);
    *cpus = (struct abti_cpuset){.num = 0};
    if (!abti_rt.config.affinity || !abti_rt.config.binds)
        return ABT_SUCCESS;
    if (!abti_rt.config.cpu_list)
        return some_of_allowed(rank, 1, cpus);
    struct abti_cpu_entry entry = abti_cpu_list_entry(abti_rt.config.cpu_list, (uint64_t)rank);
    return abti_affinity_entry(&entry, &allowed, cpus) == 0 ? ABT_SUCCESS : ABT_ERR_MEM;
}

int abti_esaffinity_of_new(int rank, struct abti_cpuset *cpus)
{
    if (abti_rt.config.affinity && !abti_rt.config.binds && abti_load_relaxed(&some_are_bound))
        return some_of_allowed(0, allowed.num, cpus);
    return abti_esaffinity_of(rank, cpus);
}

int abti_esaffinity_set(abti_es *es, const int *cpus, size_t num)
{
    abti_assert(num > 0 && cpus);
    int err = abti_affinity_set(es->thread, cpus, num);
    if (err != 0)
        return err;
    abti_store_relaxed(&some_are_bound, true); /* relaxed: see above */
    if (abti_es_is_primary(es))
        abti_store_relaxed(&primary_is_bound, true); /* relaxed: see above */
    abti_carriers_rebind(es);
    return 0;
}

void abti_esaffinity_bind(abti_es *es, struct abti_cpuset *cpus)
{
    if (cpus->num > 0 && abti_rt.config.binds)
        (void)!abti_esaffinity_set(es, cpus->cpus, cpus->num);
    else if (cpus->num > 0) /* of a new stream, which nobody has bound, and which has no spare threads yet */
        (void)!abti_affinity_set(es->thread, cpus->cpus, cpus->num);
    abti_cpuset_fini(cpus);
}

bool abti_esaffinity_is_bound(const abti_es *es)
{
    return abti_load_relaxed(&es->carried.bindings) !=
           0; /* relaxed: the callers that bind and ask see to their order */
}

bool abti_esaffinity_is_on(void)
{
    return abti_rt.config.affinity && (abti_rt.config.binds || abti_load_relaxed(&some_are_bound));
}

const struct abti_cpuset *abti_esaffinity_allowed(void)
{
    abti_assert(abti_rt.config.affinity && allowed.num > 0);
    return &allowed;
}

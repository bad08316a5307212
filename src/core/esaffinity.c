#include "core/esaffinity.h"

#include "core/rt.h"

/* Written by ABT_init and ABT_finalize only. */
static struct abti_cpuset allowed;

void abti_esaffinity_init(void)
{
    if (!abti_rt.config.affinity)
        return;
    abti_rt.config.affinity = abti_affinity_get(pthread_self(), &allowed) == 0;
    if (abti_rt.config.affinity && allowed.num == 0) {
        abti_cpuset_fini(&allowed);
        abti_rt.config.affinity = false;
    }
}

void abti_esaffinity_fini(void)
{
    if (!abti_rt.config.affinity)
        return;
    /* The system may have taken these CPUs away: then it has chosen others. */
    (void)!abti_affinity_set(pthread_self(), allowed.cpus, allowed.num);
    abti_cpuset_fini(&allowed);
}

void abti_esaffinity_apply(abti_es *es, int rank)
{
    if (!abti_rt.config.affinity)
        return;
    struct abti_cpu_range nth = {.first = rank, .num = 1, .stride = 1};
    struct abti_cpu_entry entry = {.ranges = &nth, .num_ranges = 1};
    if (abti_rt.config.cpu_list)
        entry = abti_cpu_list_entry(abti_rt.config.cpu_list, (uint64_t)rank);
    struct abti_cpuset set;
    if (abti_affinity_entry(&entry, &allowed, &set) != 0)
        return;
    (void)!abti_affinity_set(es->thread, set.cpus, set.num);
    abti_cpuset_fini(&set);
}

const struct abti_cpuset *abti_esaffinity_allowed(void)
{
    return &allowed;
}

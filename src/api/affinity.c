/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_xstream_*: the CPUs that an execution stream may use, by the numbers of the operating system. */
#include <errno.h>
#include <stdlib.h>
#include "api/handles.h"
#include "stream/affinity.h"

static int code_of(int err)
{
    return err == 0 ? ABT_SUCCESS : err == -ENOMEM ? ABT_ERR_MEM : ABT_ERR_SYS;
}

/* A set that the system does not accept is an error of the system. */
static int bind_to(abti_es *es, const int *cpus, size_t num)
{
    return abti_error(code_of(abti_esaffinity_set(es, cpus, num)));
}

int ABT_xstream_set_cpubind(ABT_xstream xstream, int cpuid)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    ABTI_FAIL_IF(!abti_rt.config.affinity, ABT_ERR_FEATURE_NA);
    int cpu = abti_affinity_wrap(cpuid);
    return bind_to(xstream, &cpu, 1);
}

/*
 * Where nothing is bound by default, a stream that nobody has bound is like one of a library that cannot bind. Programs
 * bind a stream to the CPU that they get here: all streams to one, if it were the first of all. They store the list,
 * and bind streams to it when they are started again, though they may use other CPUs then.
 */
static int cpus_of(abti_es *es, struct abti_cpuset *set)
{
    if (!abti_rt.config.affinity || (!abti_rt.config.binds && !abti_esaffinity_is_bound(es)))
        return ABT_ERR_FEATURE_NA;
    return code_of(abti_affinity_get(es->thread, set));
}

int ABT_xstream_get_cpubind(ABT_xstream xstream, int *cpuid)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    struct abti_cpuset set;
    int code = cpus_of(xstream, &set);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    if (set.num == 0)
        code = ABT_ERR_CPUID;
    else
        *cpuid = set.cpus[0];
    abti_cpuset_fini(&set);
    return code == ABT_SUCCESS ? code : abti_error(code);
}

int ABT_xstream_set_affinity(ABT_xstream xstream, int num_cpuids, int *cpuids)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    ABTI_REFUSE_IF(num_cpuids < 0, ABT_ERR_INV_ARG);
    ABTI_FAIL_IF(!abti_rt.config.affinity, ABT_ERR_FEATURE_NA);
    if (num_cpuids == 0) {
        const struct abti_cpuset *allowed = abti_esaffinity_allowed();
        return bind_to(xstream, allowed->cpus, allowed->num);
    }
    int *cpus = malloc((size_t)num_cpuids * sizeof(*cpus));
    ABTI_FAIL_IF(!cpus, ABT_ERR_MEM);
    for (int i = 0; i < num_cpuids; i++)
        cpus[i] = abti_affinity_wrap(cpuids[i]);
    int code = bind_to(xstream, cpus, (size_t)num_cpuids);
    free(cpus);
    return code;
}

int ABT_xstream_get_affinity(ABT_xstream xstream, int max_cpuids, int *cpuids, int *num_cpuids)
{
    ABTI_REFUSE_IF(ABTI_XSTREAM_IS_BAD(xstream), ABT_ERR_INV_XSTREAM);
    ABTI_REFUSE_IF(max_cpuids < 0, ABT_ERR_INV_ARG);
    struct abti_cpuset set;
    int code = cpus_of(xstream, &set);
    ABTI_FAIL_IF(code != ABT_SUCCESS, code);
    for (int i = 0; i < max_cpuids && (size_t)i < set.num; i++)
        cpuids[i] = set.cpus[i];
    if (num_cpuids)
        *num_cpuids = (int)set.num;
    abti_cpuset_fini(&set);
    return ABT_SUCCESS;
}

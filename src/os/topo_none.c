/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/topo.h"

bool abti_topo_bind(pthread_t thread, const int *cpus, size_t num)
{
    (void)thread;
    (void)cpus;
    (void)num;
    return false;
}

bool abti_topo_visit_nodes(void (*put)(int cpu), void (*next)(void))
{
    (void)put;
    (void)next;
    return false;
}

bool abti_topo_is_described(void)
{
    return false;
}

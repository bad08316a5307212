/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NUMA nodes of the machine: groups of CPUs that are near one memory, and one another. A thread is in the node of
 * the CPU on which it runs now. Nodes without CPUs do not count, nor do those whose CPUs the process may not use. All
 * is one node where the process may have memory of one only. Where there is one, or what the system says cannot be
 * read, all of this is one comparison.
 */
#ifndef ABTI_OS_NODES_H
#define ABTI_OS_NODES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "base/parse.h"
#include "os/affinity.h"

/* Of more nodes, which no machine of today has, several count as one. */
enum { ABTI_NODES_MOST = 64 };

/* How many there are, at least 1. abti_nodes_init sets it, while no other thread uses the library. */
extern uint32_t abti_num_nodes ABTI_HIDDEN;

/*
 * Asks the system, and leaves out what the calling thread, which stands for the process, may not use. With a list,
 * entry i of that is what CPUs the i-th node has, whatever the machine has. All is one node if nodes are not `wanted`,
 * or the system's files are not understood.
 */
void abti_nodes_init(bool wanted, const struct abti_cpu_list *list);

/* Reads a directory like Linux' /sys/devices/system/node. False, and one node, if it says something else. */
bool abti_nodes_read(const char *directory) ABTI_MUST_CHECK;

/* Leaves out the nodes that have none of these CPUs. */
void abti_nodes_restrict(const int *cpus, size_t num);

/* The node of a CPU. One that is not known is in the first. */
uint32_t abti_nodes_of(int cpu);

/* The node in which the calling thread is. */
ABTI_INLINE uint32_t abti_nodes_here(void)
{
    return ABTI_LIKELY(abti_num_nodes == 1) ? 0 : abti_nodes_of(abti_affinity_here());
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binding, and NUMA nodes of a machine that the environment describes, through a library that knows the machine, hwloc
 * where the build has it. The topology is loaded when it is first needed, which takes milliseconds, and stays until the
 * process ends.
 */
#ifndef ABTI_OS_TOPO_H
#define ABTI_OS_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <pthread.h>

#include "base/compiler.h"

/*
 * Lets thread run on the num given CPUs only. False when the library cannot say that it has been done, nothing has
 * changed then and the kernel is to be asked: there is no library, or too little memory for it, it describes another
 * machine, it does not know one of the CPUs, or the system refuses.
 */
bool abti_topo_bind(pthread_t thread, const int *cpus, size_t num) ABTI_MUST_CHECK;

/*
 * Calls put for each CPU of a NUMA node, then next, and so on for all nodes, by their numbers. The machine may be one
 * that the environment has made the library describe. False when there is no library, or too little memory for it.
 */
bool abti_topo_visit_nodes(void (*put)(int cpu), void (*next)(void)) ABTI_MUST_CHECK;

/* Whether the environment makes the library describe a machine, which need not be this one. */
bool abti_topo_is_described(void);

#endif

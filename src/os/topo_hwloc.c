/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/topo.h"

#include <hwloc.h>
#include <stdlib.h>
#include <unistd.h>
#include "os/vm.h"

/* It is read-only once it is loaded. NULL: it cannot be used. */
static hwloc_topology_t topology;

/* It describes this machine. HWLOC_XMLFILE and the like may have made it describe another one: then hwloc binds nothing
 * and calls it a success. Read-only, as well. */
static bool is_this_machine;

/*
 * All that we need are the numbers of the CPUs, also of those that the process may not use now, and the NUMA nodes. A
 * node has the CPUs of the object that it belongs to, so that these objects have to stay: without them each node has
 * all CPUs.
 */
static int topology_filter(hwloc_topology_t made)
{
    return hwloc_topology_set_all_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE) ||
           hwloc_topology_set_type_filter(made, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_STRUCTURE) ||
           hwloc_topology_set_type_filter(made, HWLOC_OBJ_DIE, HWLOC_TYPE_FILTER_KEEP_STRUCTURE) ||
           hwloc_topology_set_type_filter(made, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
}

/* The x86 part of hwloc is left out: it would move the calling thread from CPU to CPU to look at each. */
static int topology_load(hwloc_topology_t made)
{
    if (topology_filter(made) || hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
        hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86"))
        return -1;
    return hwloc_topology_load(made);
}

static void topology_make(void)
{
    hwloc_topology_t made;
    if (hwloc_topology_init(&made))
        return;
    if (topology_load(made)) {
        hwloc_topology_destroy(made);
        return;
    }
    topology = made;
    is_this_machine = hwloc_topology_is_thissystem(made);
}

static bool topo_fill(hwloc_bitmap_t set, const int *cpus, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        if (cpus[i] < 0 || hwloc_bitmap_set(set, (unsigned)cpus[i]))
            return false;
    }
    return hwloc_bitmap_isincluded(set, hwloc_topology_get_complete_cpuset(topology));
}

/*
 * hwloc does not look whether it gets what it asks for: it is called only if there is more than it could need. It takes
 * 170 KiB on a machine with two CPUs, 2 KiB for each of thousands, and what its plugins load. That others may take the
 * memory in between is left to the margin.
 */
static bool has_room(void)
{
    enum { ROOM = 8 << 20, CPUS = 1024, ROOM_PER_CPUS = CPUS * (8 << 10) };
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    size_t size = ROOM + (cpus > CPUS ? (size_t)(cpus / CPUS) * ROOM_PER_CPUS : 0);
    void *room = abti_vm_map(size);
    abti_vm_unmap(room, size);
    return room != NULL;
}

/* Whether there is a topology, and memory for a call of hwloc. */
static bool topo_is_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return has_room() && pthread_once(&once, topology_make) == 0 && topology;
}

bool abti_topo_visit_nodes(void (*put)(int cpu), void (*next)(void))
{
    if (!topo_is_ready())
        return false;
    for (hwloc_obj_t node = NULL; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL;) {
        for (int cpu = -1; (cpu = hwloc_bitmap_next(node->cpuset, cpu)) >= 0;)
            put(cpu);
        next();
    }
    return true;
}

bool abti_topo_is_described(void)
{
    return getenv("HWLOC_SYNTHETIC") || getenv("HWLOC_XMLFILE");
}

bool abti_topo_bind(pthread_t thread, const int *cpus, size_t num)
{
    if (!topo_is_ready() || !is_this_machine)
        return false;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    bool done = set && topo_fill(set, cpus, num) && hwloc_set_thread_cpubind(topology, thread, set, 0) == 0;
    hwloc_bitmap_free(set);
    return done;
}

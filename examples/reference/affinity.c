/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On which CPUs does a stream run? By default on any, and it gives none when asked. It may be bound to one or to a set;
 * ABT_SET_AFFINITY=yes in the environment binds all streams, one to each CPU.
 *
 *   cc affinity.c $(pkg-config --cflags --libs argobots) -o affinity
 */
#include <abt.h>
#include <stdio.h>

enum { MOST = 64 };

int main(int argc, char **argv)
{
    ABT_xstream stream;
    int cpus[MOST], count = 0, bound = -1, after = 0, code;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    code = ABT_xstream_set_affinity(stream, 0, NULL); /* to the CPUs that the process had at the start */
    if (code != ABT_SUCCESS) {
        printf("streams cannot be bound here: %s\n",
               code == ABT_ERR_FEATURE_NA ? "the library was configured without" : "the system says no");
    } else {
        ABT_xstream_get_affinity(stream, MOST, cpus, &count); /* count may be larger than MOST */
        printf("the stream may run on %d CPUs, the first is %d\n", count, cpus[0]);
        code = ABT_xstream_set_cpubind(stream, cpus[0]);
        ABT_xstream_get_cpubind(stream, &bound);
        ABT_xstream_get_affinity(stream, 0, NULL, &after); /* how many there are, and no list */
        printf("bound to CPU %d: it may run on %d\n", bound, after);
        ABT_xstream_set_affinity(stream, count < MOST ? count : MOST, cpus); /* back to the set */
    }
    ABT_xstream_free(&stream);
    ABT_finalize();
    return count > 0 && code == ABT_SUCCESS && (bound != cpus[0] || after != 1);
}

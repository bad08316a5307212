/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of OMP_PLACES, which are sets of processors, and the threads that are bound to them. */
#ifndef ABTOMP_PLACES_H
#define ABTOMP_PLACES_H

#include <sched.h>
#include <stdbool.h>

/* As many processors as a kernel can have on x86. A smaller set is refused where the kernel could have more. */
enum { ABTOMP_NUM_CPUS = 8192 };

typedef struct abtomp_cpus {
    cpu_set_t words[ABTOMP_NUM_CPUS / CPU_SETSIZE];
} abtomp_cpus;

typedef struct abtomp_places {
    int num;
    abtomp_cpus *sets;
} abtomp_places;

/* A part of the list, which begins at first and may go around its end. */
typedef struct abtomp_partition {
    int first, num;
} abtomp_partition;

extern abtomp_places abtomp_place_list;

static inline bool abtomp_cpus_have(const abtomp_cpus *cpus, int cpu)
{
    return CPU_ISSET_S((size_t)cpu, sizeof(*cpus), cpus->words);
}

static inline int abtomp_cpus_count(const abtomp_cpus *cpus)
{
    return CPU_COUNT_S(sizeof(*cpus), cpus->words);
}

/* The processors that the caller may use; false: the system does not say. */
static inline bool abtomp_cpus_allowed(abtomp_cpus *cpus)
{
    *cpus = (abtomp_cpus){0};
    return sched_getaffinity(0, sizeof(*cpus), cpus->words) == 0;
}

/*
 * The processors that the calling thread, or the initial one, may use when the library is loaded: those of the process.
 * None: the system does not say.
 */
void abtomp_cpus_note(void);
abtomp_cpus abtomp_cpus_noted(void);

/* Whether the text is a list of places, as in OMP_PLACES, which is then in use. Processors that are not there are left
 * out. */
bool abtomp_places_parse(const char *text);
/* The same for GOMP_CPU_AFFINITY: numbers and ranges, a place for each. */
bool abtomp_places_parse_cpus(const char *text);
/* A place for each processor that may be used, for OMP_PROC_BIND without OMP_PLACES. */
void abtomp_places_default(void);

/*
 * The place of member `member` of a team of num, by a policy of icv.h, and the part of the list that it may use for its
 * own teams. The primary member is at place `at` and may use *part, or the whole list.
 */
int abtomp_places_assign(int policy, int member, int num, int at, abtomp_partition *part);

/* The processor with that index in the place, or -1. */
int abtomp_place_processor(int place, int index);

#endif

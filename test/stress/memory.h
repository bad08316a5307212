/* How much memory the process has. */
#ifndef TEST_STRESS_MEMORY_H
#define TEST_STRESS_MEMORY_H

#include <stdio.h>
#include <unistd.h>

static inline long resident_kib(void)
{
    long pages = 0, all;
    FILE *statm = fopen("/proc/self/statm", "r");

    if (statm && fscanf(statm, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (statm)
        fclose(statm);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

#endif

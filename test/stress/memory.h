/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory the process has. */
#ifndef TEST_STRESS_MEMORY_H
#define TEST_STRESS_MEMORY_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulated.h"
#include "tap.h"

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

/* The first thing of a test that does nothing but measure the memory of the process. */
static inline void need_own_memory(void)
{
    const char *check = getenv("ABT_CHECK");

    if (is_emulated())
        skip_all("the memory of the process is the emulator's, too");
    /* Each object has a note of some 200 bytes then, and goes only when many others have been freed. */
    if (check && (!strcmp(check, "1") || !strcmp(check, "abort")))
        skip_all("freed objects are kept back while misuse is looked for");
}

/* The first thing of a test that measures what comes back: a filter of system calls may keep the library from it. */
static inline void need_madvise(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *probe = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (probe != MAP_FAILED && madvise(probe, page, MADV_DONTNEED) != 0)
        skip_all("the system does not let go of memory on request");
    munmap(probe, page);
}

#endif

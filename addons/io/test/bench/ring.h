/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs that count operations of a ring have in common.
 *
 *     PROGRAM nop DEPTH OPERATIONS          reads /dev/null, which ends at once
 *     PROGRAM read DEPTH OPERATIONS FILE    reads 4 KiB pages of a file, in random order, past the page cache
 *
 * DEPTH operations are under way at a time. Prints a line of JSON: wall and CPU time of an operation in nanoseconds.
 */
#ifndef RING_H_INCLUDED
#define RING_H_INCLUDED

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PAGE = 4096, MAX_DEPTH = 4096 };

struct job {
    int fd, depth;
    long operations;
    size_t size;    /* of one read */
    uint64_t pages; /* of the file; 0: all reads are at offset 0 */
    int expected;   /* the result of each */
    char *buffers;  /* a page for each that is under way */
};

static inline void expect(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "failed: %s\n", what);
        exit(1);
    }
}

static inline struct job read_job(int argc, char **argv)
{
    struct job job = {.size = 1};
    int reads = argc == 5 && !strcmp(argv[1], "read");
    expect(reads || (argc == 4 && !strcmp(argv[1], "nop")),
           "usage: nop DEPTH OPERATIONS or read DEPTH OPERATIONS FILE");
    job.depth = atoi(argv[2]);
    job.operations = atol(argv[3]) / job.depth * job.depth;
    expect(job.depth > 0 && job.depth <= MAX_DEPTH && job.operations > 0, "depth and operations");
    job.fd = open(reads ? argv[4] : "/dev/null", reads ? O_RDONLY | O_DIRECT : O_RDONLY);
    expect(job.fd >= 0 && !posix_memalign((void **)&job.buffers, PAGE, (size_t)job.depth * PAGE), "open");
    if (reads) {
        struct stat status;
        expect(!fstat(job.fd, &status) && status.st_size >= PAGE, "a file of some pages");
        job.pages = (uint64_t)status.st_size / PAGE;
        job.size = PAGE;
        job.expected = PAGE;
    }
    return job;
}

/* Where the next read is; the state is one of the caller's. */
static inline off_t next_offset(const struct job *job, uint64_t *state)
{
    if (job->pages == 0)
        return 0;
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (off_t)((*state >> 33) % job->pages * PAGE);
}

struct times {
    double wall, cpu;
};

static inline double seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static inline struct times times_now(void)
{
    return (struct times){seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
}

static inline void report(struct times start, long operations)
{
    struct times end = times_now();
    printf("{\"ns\": %.1f, \"cpu_ns\": %.1f}\n", (end.wall - start.wall) * 1e9 / (double)operations,
           (end.cpu - start.cpu) * 1e9 / (double)operations);
}

#endif

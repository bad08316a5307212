/* SPDX-License-Identifier: BSD-3-Clause */
/* The same reads as those of ring_plain.c by ULTs that each wait for one after the other, on one execution stream. */
#include <abt.h>
#include <abtio.h>

#include "ring.h"

static struct job job;

static void work(void *arg)
{
    uint64_t slot = (uintptr_t)arg, state = slot * 77 + 1;
    char *buffer = job.buffers + slot * PAGE;
    for (long left = job.operations / job.depth; left > 0; left--)
        expect(abtio_pread(job.fd, buffer, job.size, next_offset(&job, &state), ABTIO_FOREVER) == job.expected,
               "a read");
}

int main(int argc, char **argv)
{
    static ABT_thread threads[MAX_DEPTH];
    ABT_xstream stream;
    ABT_pool pool;
    job = read_job(argc, argv);
    expect(!ABT_init(0, NULL) && !ABT_xstream_self(&stream) && !ABT_xstream_get_main_pools(stream, 1, &pool),
           "ABT_init");
    expect(!abtio_init(NULL), "abtio_init");
    struct times start = times_now();
    for (int i = 0; i < job.depth; i++)
        expect(!ABT_thread_create(pool, work, (void *)(intptr_t)i, ABT_THREAD_ATTR_NULL, &threads[i]),
               "ABT_thread_create");
    for (int i = 0; i < job.depth; i++)
        expect(!ABT_thread_free(&threads[i]), "ABT_thread_free");
    report(start, job.operations);
    expect(!abtio_finalize() && !ABT_finalize(), "the end");
    return 0;
}

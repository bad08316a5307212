/* SPDX-License-Identifier: BSD-3-Clause */
/* What constructor.c opens. */
#include <abt.h>

enum { MEMBERS = 3, UNITS = 2 };

extern int library_members, library_units;
int library_members, library_units;

static __thread int own_calls;

__attribute__((visibility("default"))) void library_count(void *num)
{
    if (own_calls++ == 0)
        __atomic_fetch_add((int *)num, 1, __ATOMIC_RELAXED);
}

static void count_unit(void *arg)
{
    __atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
}

/* Each stream is a native thread of its own, which runs a unit. */
static void run_unit(void)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread thread;
    if (ABT_xstream_create(ABT_SCHED_NULL, &stream) != ABT_SUCCESS)
        return;
    if (ABT_xstream_get_main_pools(stream, 1, &pool) == ABT_SUCCESS &&
        ABT_thread_create(pool, count_unit, &library_units, ABT_THREAD_ATTR_NULL, &thread) == ABT_SUCCESS)
        ABT_thread_free(&thread);
    ABT_xstream_free(&stream);
}

__attribute__((constructor)) static void begin(void)
{
#pragma omp parallel num_threads(MEMBERS) reduction(+ : library_members)
    library_members++;
    if (ABT_init(0, NULL) != ABT_SUCCESS)
        return;
    for (int i = 0; i < UNITS; i++)
        run_unit();
    ABT_finalize();
}

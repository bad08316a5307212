/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library takes of the machine: page faults to start and end, bytes for a unit that has not run and for one
 * that is blocked.
 */
#include <sys/resource.h>

#include "memory.h"
#include "stress.h"

enum { MANY = SCALED(100000, 10000, 1000), MAX_FAULTS = 120, MAX_BYTES = 128 };

/* Assertions are code, too, and their texts are data. */
enum { MORE_CODE = ABTI_BUILD_ASSERT ? 20 : 0 };

static ABT_thread *threads;

static long page_faults(void)
{
    struct rusage usage;
    must(getrusage(RUSAGE_SELF, &usage));
    return usage.ru_minflt + usage.ru_majflt;
}

static void start_and_end(const char *when)
{
    long faults = page_faults();
    must(ABT_init(0, NULL));
    must(ABT_finalize());
    faults = page_faults() - faults;
    if (UNDER_ASAN || UNDER_TSAN)
        pass("%s: %ld page faults", when, faults);
    else
        ok(faults < MAX_FAULTS + MORE_CODE, "%s: %ld page faults", when, faults);
}

static void is_at_most(long kib, double limit, const char *what)
{
    double bytes = (double)kib * 1024 / MANY;
    if (!ABTI_BUILD_FCONTEXT)
        limit += 4096; /* contexts of the C library's are large */

    if (UNDER_ASAN || UNDER_TSAN)
        pass("%s: %.1f bytes each", what, bytes);
    else
        ok(bytes <= limit, "%s: %.1f bytes each, at most %.0f", what, bytes, limit);
}

static void create_and_block(void)
{
    size_t left;
    must(ABT_init(0, NULL));
    ABT_pool pool = main_pool();
    long before = resident_kib();
    for (int i = 0; i < MANY; i++)
        must(ABT_thread_create(pool, unit_suspends, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    is_at_most(resident_kib() - before, MAX_BYTES, "units that have not run");
    do {
        must(ABT_self_yield());
        must(ABT_pool_get_size(pool, &left));
    } while (left > 0);
    is_at_most(resident_kib() - before, MAX_BYTES + (double)sysconf(_SC_PAGESIZE), "units that are blocked");
    for (int i = 0; i < MANY; i++)
        must(ABT_thread_resume(threads[i]));
    must(ABT_thread_free_many(MANY, threads));
    must(ABT_finalize());
}

int main(void)
{
    need_own_memory();
    need_madvise();
    stress_begin();
    start_and_end("the first time, with those of the code");
    start_and_end("later");
    threads = malloc(MANY * sizeof(*threads));
    memset(threads, 1, MANY * sizeof(*threads));
    create_and_block();
    free(threads);
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guard pages of very many stacks: 100,000 ULTs that are suspended at once, each on a guarded stack, and what that
 * costs in mappings and in memory.
 */
#include <stdio.h>
#include <sys/mman.h>
#include "memory.h"
#include "stress.h"

enum { MASS = SCALED(100000, 10000, 1000) };

/* The frames of a suspended unit fit into a page then. */
#if defined(__OPTIMIZE__)
enum { OPTIMISED = !UNDER_ASAN && !UNDER_TSAN };
#else
enum { OPTIMISED = 0 };
#endif

static int num_mappings(void)
{
    int lines = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int c; maps && (c = getc(maps)) != EOF;)
        lines += c == '\n';
    if (maps)
        fclose(maps);
    return lines;
}

/* The kernel's own guards, which cost no mapping. An emulator says yes to all advice. */
static bool kernel_guards(void)
{
    long page = sysconf(_SC_PAGESIZE);
    void *probe = aligned_alloc((size_t)page, (size_t)page);
    bool has = probe && !is_emulated() && madvise(probe, (size_t)page, 102) == 0;
    if (has)
        madvise(probe, (size_t)page, 103);
    free(probe);
    return has;
}

static void mass(const char *check)
{
    ABT_thread *threads = malloc(MASS * sizeof(*threads));
    setenv("ABT_STACK_OVERFLOW_CHECK", check, 1);
    must(ABT_init(0, NULL));
    ABT_pool pool = main_pool();
    int mappings = num_mappings();
    long resident = resident_kib();
    for (int i = 0; i < MASS; i++)
        must(ABT_thread_create(pool, unit_suspends, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    must(ABT_self_yield());
    must(ABT_self_yield());
    size_t size;
    while (ABT_pool_get_size(pool, &size) == ABT_SUCCESS && size > 0)
        must(ABT_self_yield());
    mappings = num_mappings() - mappings;
    double bytes = (double)(resident_kib() - resident) * 1024 / MASS;
    pass("%s: %d suspended ULTs, %d mappings more, %.0f bytes each", check, MASS, mappings, bytes);
    if (is_emulated())
        skip(1, "the memory of the process is the emulator's, too");
    else if (OPTIMISED)
        ok(bytes < (ABTI_BUILD_FCONTEXT ? 1 : 2) * 4096 + 128 + 160, "a page of stack and a descriptor each, or two");
    if (!UNDER_ASAN && !UNDER_TSAN) {
        if (!strcmp(check, "auto") && kernel_guards())
            ok(mappings < 100, "few mappings");
        else
            ok(mappings < 65530 / 2, "the mappings of the process are not used up");
    }
    for (int i = 0; i < MASS; i++)
        must(ABT_thread_resume(threads[i]));
    must(ABT_thread_free_many(MASS, threads));
    must(ABT_finalize());
    free(threads);
}

int main(void)
{
    need_madvise();
    stress_begin();
    mass("auto");
    mass("none");
    mass("mprotect");
    return done_testing();
}

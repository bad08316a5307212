/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With less address space left than a chunk of stacks has, 8 MiB, no ULT ran, though there was room for its stack. What
 * is mapped is as small as it has to be there: in chunks, and for each stack.
 */
#include <string.h>
#include <sys/resource.h>
#include "child.h"
#include "emulated.h"
#include "regress.h"
#include "sanitizers.h"

enum { KIB = 1024, MIB = 1024 * KIB };

static struct rlimit unlimited;

static size_t space_in_use(void)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    if (!statm || fscanf(statm, "%ld", &pages) != 1)
        _exit(9);
    fclose(statm);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void leave_space(size_t bytes)
{
    must(setrlimit(RLIMIT_AS, &(struct rlimit){space_in_use() + bytes, unlimited.rlim_max}));
}

static int ran;

static void yield_once(void *arg)
{
    must(ABT_self_yield());
    ran++;
}

static ABT_thread create(ABT_pool pool, size_t stack_size)
{
    ABT_thread thread;
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;

    if (stack_size > 0) {
        must(ABT_thread_attr_create(&attr));
        must(ABT_thread_attr_set_stacksize(attr, stack_size));
    }
    must(ABT_thread_create(pool, yield_once, NULL, attr, &thread));
    if (stack_size > 0)
        must(ABT_thread_attr_free(&attr));
    return thread;
}

/* So many ULTs at a time, some times over. Returns 0 if all have run. */
static int run_some(int at_a_time, size_t stack_size)
{
    enum { ROUNDS = 20, MOST = 64 };
    ABT_thread threads[MOST];

    ABT_pool pool = main_pool();
    ran = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < at_a_time; i++)
            threads[i] = create(pool, stack_size);
        must(ABT_thread_free_many(at_a_time, threads));
    }
    return ran == ROUNDS * at_a_time ? 0 : 1;
}

static const struct way {
    size_t left;
    int at_a_time;
    size_t stack_size; /* 0: the default */
    const char *chunks;
    bool keeps; /* the C library keeps memory for itself */
} ways[] = {
    {7 * MIB, 1, 0, NULL, false},       {MIB, 1, 0, NULL, false},        {300 * KIB, 1, 0, NULL, false},
    {100 * KIB, 1, 0, NULL, false},     {48 * KIB, 1, 0, NULL, false},   {MIB, 20, 0, NULL, false},
    {7 * MIB, 60, 0, NULL, false},      {MIB, 1, 64 * KIB, NULL, false}, {200 * KIB, 1, 64 * KIB, NULL, false},
    {6 * MIB, 1, 4 * MIB, NULL, false}, {300 * KIB, 1, 0, "thp", false}, {300 * KIB, 1, 0, "mmap_hp_thp", false},
    {2 * MIB, 4, 0, "malloc", true},
};

/* The space is short when the library is there, and when it has gone nothing of it is left. */
static int run_way(void *arg)
{
    const struct way *way = arg;

    if (way->chunks)
        setenv("ABT_MEM_LP_ALLOC", way->chunks, 1);
    must(ABT_init(0, NULL));
    must(ABT_finalize());
    size_t before = space_in_use();
    must(ABT_init(0, NULL));
    leave_space(way->left);
    int wrong = run_some(way->at_a_time, way->stack_size);
    must(setrlimit(RLIMIT_AS, &unlimited));
    wrong |= run_some(20, 0);
    must(ABT_finalize());
    size_t after = space_in_use();
    return wrong ? 1 : after > before && !way->keeps ? 2 : 0;
}

/* The stack of the main scheduler alone has 4 MiB. */
static int init_with(void *arg)
{
    leave_space(*(size_t *)arg);
    must(ABT_init(0, NULL));
    int wrong = run_some(2, 0);
    must(ABT_finalize());
    return wrong;
}

int main(void)
{
    size_t spaces[] = {(size_t)12 * MIB, (size_t)7 * MIB};
    char words[2048];

    regress_begin();
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("a sanitizer needs all address space");
    if (is_emulated())
        skip_all("an emulator does not keep limits of the address space");
    if (sysconf(_SC_PAGESIZE) > 4096)
        skip_all("the numbers are for small pages");
    must(getrlimit(RLIMIT_AS, &unlimited));
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        is_int(child_run(run_way, (void *)(uintptr_t)&ways[i], words, sizeof(words)), 0,
               "with %zu KiB left, %d ULTs at a time, %zu bytes of stack, %s", ways[i].left / KIB, ways[i].at_a_time,
               ways[i].stack_size, ways[i].chunks ? ways[i].chunks : "pages");
        is_str(words, "", "and nothing is said");
    }
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        is_int(child_run(init_with, &spaces[i], words, sizeof(words)), 0, "ABT_init with %zu MiB left",
               spaces[i] / MIB);
        is_str(words, "", "and nothing is said");
    }
    return done_testing();
}

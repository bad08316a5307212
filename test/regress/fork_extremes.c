/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops over ranges whose length a ptrdiff_t does not hold: those that are empty called the body, and long ones forgot
 * the grain. abtx_invoke of thousands of functions took a frame for each of them and overflowed the stack.
 */
#include <abt_fork.h>

#include "regress.h"

enum { MANY = 100000 };

static const ptrdiff_t LEAST = PTRDIFF_MIN, MOST = PTRDIFF_MAX;
static ptrdiff_t grain;
static atomic_size_t calls, elements;
static atomic_bool too_long;

static void note_part(ptrdiff_t begin, ptrdiff_t end, void *unused)
{
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&elements, (size_t)end - (size_t)begin);
    if (begin >= end || (size_t)end - (size_t)begin > (size_t)grain)
        atomic_store(&too_long, true);
    if (calls < 4)
        ABT_thread_yield();
}

static void add_part(ptrdiff_t begin, ptrdiff_t end, void *sum, void *arg)
{
    *(size_t *)sum += (size_t)end - (size_t)begin;
    note_part(begin, end, arg);
}

static void add_sums(void *left, const void *right, void *unused)
{
    *(size_t *)left += *(const size_t *)right;
}

static void try_range(ptrdiff_t begin, ptrdiff_t end, size_t length, size_t most_calls)
{
    static const size_t none;
    const struct abtx_reduction how = {sizeof(size_t), &none, add_part, add_sums, NULL};
    size_t sum = 0;

    for (int reduces = 0; reduces < 2; reduces++) {
        atomic_store(&calls, 0);
        atomic_store(&elements, 0);
        atomic_store(&too_long, false);
        if (reduces)
            abtx_reduce(begin, end, grain, &how, &sum);
        else
            abtx_for(begin, end, grain, note_part, NULL);
        ok(atomic_load(&elements) == length && calls <= most_calls && !too_long, "%s from %td to %td: %zu parts",
           reduces ? "a reduction" : "a loop", begin, end, atomic_load(&calls));
    }
    ok(sum == length, "its sum");
}

static void try_invoke(int num)
{
    void (**funcs)(void *) = calloc((size_t)num, sizeof(*funcs));
    void **args = calloc((size_t)num, sizeof(*args));
    atomic_int *counters = calloc((size_t)num, sizeof(*counters));
    int good = 0;

    if (!funcs || !args || !counters)
        bail_out("no memory");
    for (int i = 0; i < num; i++) {
        funcs[i] = count_up;
        args[i] = &counters[i];
    }
    abtx_invoke(num, funcs, args);
    for (int i = 0; i < num; i++)
        good += atomic_load(&counters[i]) == 1;
    is_int(good, num, "each of %d functions side by side is called once", num);
    free(funcs);
    free(args);
    free(counters);
}

static void in_ult(void *unused)
{
    static const int nums[] = {0, 1, 2, 3, 7, 3000, MANY};

    grain = 1;
    try_range(MOST, LEAST, 0, 0);
    try_range(2, LEAST, 0, 0);
    try_range(MOST, -2, 0, 0);
    try_range(1, 0, 0, 0);
    try_range(MOST - 3, MOST, 3, 3);
    try_range(LEAST, LEAST + 3, 3, 3);
    grain = MOST / 8;
    try_range(LEAST, MOST, SIZE_MAX, 64);
    try_range(-1, MOST, (size_t)MOST + 1, 64);
    grain = MOST;
    try_range(LEAST, MOST, SIZE_MAX, 64);
    for (size_t i = 0; i < sizeof(nums) / sizeof(nums[0]); i++)
        try_invoke(nums[i]);
}

int main(void)
{
    ABT_xstream streams[2];
    ABT_pool pool;
    ABT_thread thread;

    regress_begin();
    must(ABT_init(0, NULL));
    must(ABT_self_get_xstream(&streams[0]));
    must(ABT_xstream_get_main_pools(streams[0], 1, &pool));
    must(ABT_xstream_create(ABT_SCHED_NULL, &streams[1]));
    for (int i = 0; i < 2; i++) { /* nobody takes tasks, and others do */
        must(ABT_thread_create(pool, in_ult, NULL, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
        must(ABTX_fork_start(2, streams));
    }
    must(ABTX_fork_stop());
    must(ABT_xstream_free(&streams[1]));
    must(ABT_finalize());
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs over an OpenMP runtime in the style of BOLT, see omp.h: regions of changing size, nested ones, tasks that
 * beget tasks, and an end at which nothing is left.
 */
#include "omp.h"

enum { REGIONS = 40, PHASES = 5, LOOP = 1000, NESTED = 4, FIB = 13 };

/* ---- A loop, and barriers ---- */

static struct {
    atomic_long sum;
    atomic_int numbers, arrived[PHASES], early;
} flat;

static void loop(void *arg)
{
    struct worker *self = omp_self();
    ABT_thread thread;
    ABT_bool same = ABT_TRUE;
    int size = self->team->size;
    long sum = 0;

    (void)arg;
    must(ABT_thread_self(&thread));
    if (self->number > 0)
        must(ABT_thread_equal(thread, self->thread, &same));
    atomic_fetch_or(&flat.numbers, same ? 1 << self->number : 0);
    for (int i = self->number; i < LOOP; i += size)
        sum += i;
    atomic_fetch_add(&flat.sum, sum);
    for (int i = 0; i < PHASES; i++) {
        atomic_fetch_add(&flat.arrived[i], 1);
        omp_barrier();
        atomic_fetch_add(&flat.early, atomic_load(&flat.arrived[i]) != size);
        omp_taskyield();
    }
}

static void test_regions(int max_size)
{
    int right = 0;
    long made = atomic_load(&workers_made);

    for (int i = 0; i < REGIONS; i++) {
        int size = 1 + i * 5 % max_size;
        memset(&flat, 0, sizeof(flat));
        omp_parallel(size, loop, NULL);
        right += atomic_load(&flat.sum) == LOOP * (LOOP - 1) / 2 && atomic_load(&flat.numbers) == (1 << size) - 1 &&
                 atomic_load(&flat.early) == 0;
    }
    is_int(right, REGIONS, "regions: each did its part, and nobody passed a barrier early");
    ok(atomic_load(&workers_made) - made < max_size, "the same workers served all regions, revived %ld times",
       atomic_load(&workers_revived));
}

/* ---- Regions in regions ---- */

static atomic_int leaves[MAX_TEAM][MAX_TEAM];

static void leaf(void *outer)
{
    omp_barrier();
    atomic_fetch_add(&leaves[((struct worker *)outer)->number][omp_self()->number], 1);
}

static void branch(void *arg)
{
    struct worker *self = omp_self();

    (void)arg;
    for (int i = 0; i < NESTED; i++) {
        omp_parallel(2 + (self->number + i) % 3, leaf, self);
        omp_barrier();
    }
}

static void test_nested(int size)
{
    int wrong = 0;

    omp_parallel(size, branch, NULL);
    for (int outer = 0; outer < size; outer++) {
        for (int inner = 0; inner < MAX_TEAM; inner++) {
            int expected = 0;
            for (int i = 0; i < NESTED; i++)
                expected += inner < 2 + (outer + i) % 3;
            wrong += atomic_load(&leaves[outer][inner]) != expected;
        }
    }
    is_int(wrong, 0, "nested regions: every worker of every team came by");
}

/* ---- Tasks ---- */

struct fib {
    int n;
    long value;
};

static atomic_long tasks_run;

static void fib(void *arg)
{
    struct fib *self = arg, parts[2] = {{self->n - 1, 0}, {self->n - 2, 0}};
    ABT_thread tasks[2];

    atomic_fetch_add(&tasks_run, 1);
    if (self->n < 2) {
        self->value = self->n;
        return;
    }
    tasks[0] = omp_task(fib, &parts[0]);
    tasks[1] = self->n % 3 ? omp_task(fib, &parts[1]) : omp_task_now(fib, &parts[1]);
    if (self->n % 4 == 0)
        omp_taskyield();
    omp_taskwait(tasks, 2);
    self->value = parts[0].value + parts[1].value;
}

static void fib_by_number(void *values)
{
    struct fib *value = (struct fib *)values + omp_self()->number;

    ABT_thread task = omp_task(fib, value);
    omp_taskwait(&task, 1);
}

static void test_tasks(int size)
{
    struct fib values[MAX_TEAM];
    int right = 0;

    for (int i = 0; i < size; i++)
        values[i] = (struct fib){FIB, 0};
    omp_parallel(size, fib_by_number, values);
    for (int i = 0; i < size; i++)
        right += values[i].value == 233;
    is_int(right, size, "tasks: the right answer in every worker");
    is_int(atomic_load(&tasks_run), 753L * size, "each was run once; %ld units were stolen", atomic_load(&stolen));
}

/* ---- What is never to end by itself ---- */

static void yield_for_ever(void *arg)
{
    atomic_store((atomic_bool *)arg, true);
    for (;;)
        must(ABT_thread_yield());
}

static void test_cancel(void)
{
    static atomic_bool runs;
    ABT_thread threads[2];

    for (int i = 0; i < 2; i++)
        must(
            ABT_thread_create(omp.pools[omp.num_places - 1], yield_for_ever, &runs, ABT_THREAD_ATTR_NULL, &threads[i]));
    ok(soon(atomic_load(&runs)), "it runs");
    for (int i = 0; i < 2; i++)
        must(ABT_thread_cancel(threads[i]));
    must(ABT_thread_free_many(2, threads));
    pass("and is cancelled");
}

static void run(int num_places, int max_size)
{
    int num, empty = 0;

    diag("%d places", num_places);
    atomic_store(&tasks_run, 0);
    memset(leaves, 0, sizeof(leaves));
    omp_begin(num_places);
    must(ABT_xstream_get_num(&num));
    is_int(num, num_places, "a stream for each place");
    test_regions(max_size);
    test_nested(max_size / 2);
    test_tasks(max_size / 2);
    test_cancel();
    for (int i = 0; i < num_places; i++)
        empty += settles_at(omp.pools[i], 0);
    is_int(empty, num_places, "nothing is left in the pools");
    omp_end();
    is_int(atomic_load(&place_units), 0, "no unit is left");
    is_int(atomic_load(&place_pools), 0, "no pool either");
}

int main(void)
{
    client_begin();
    need_cancel_and_migrate();
    run(1, 6);
    run(1 + client_streams(), MAX_TEAM);
    return done_testing();
}

/*
 * Libraries of lightweight threads that users may have installed, on the same work. ULTS_H says which: it has the type
 * ult_t and ult_init(streams), ult_fini(), ult_create(&ult, func, arg), ult_join(&ult) and ult_yield().
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include ULTS_H
#include "kernels.h"
#include "suite.h"

enum { MAX_ULTS = 16384, SWITCHES = 20000, TASKS = 1000 };

static ult_t ults[MAX_ULTS];
static long each;

static void nothing(void *arg)
{
    (void)arg;
}

static void yields(void *arg)
{
    (void)arg;
    for (long n = each; n > 0; n--)
        ult_yield();
}

static void batch(void *arg)
{
    const struct suite_work *work = arg;
    for (long i = 0; i < work->n; i++)
        ult_create(&ults[i], work->variant ? yields : nothing, NULL);
    for (long i = 0; i < work->n; i++)
        ult_join(&ults[i]);
}

static void run(const struct suite_work *work)
{
    each = work->variant ? SWITCHES / work->n : 1;
    ult_init(suite_streams);
    suite_run(batch, (void *)work, (double)(each * work->n));
    ult_fini();
}

static float vector[KERNEL_SCAL_N];
static float factor = 2;

static void scal_one(void *arg)
{
    int i = (int)(intptr_t)arg;
    kernel_scal(vector, i, i + 1, factor);
}

static void tasks_single(void *arg)
{
    (void)arg;
    for (int i = 0; i < TASKS; i++)
        ult_create(&ults[i], scal_one, (void *)(intptr_t)i);
    for (int i = 0; i < TASKS; i++)
        ult_join(&ults[i]);
    factor = 2.5F - factor;
}

static void run_tasks(const struct suite_work *work)
{
    (void)work;
    for (int i = 0; i < KERNEL_SCAL_N; i++)
        vector[i] = (float)(i % 7);
    ult_init(suite_streams);
    suite_run(tasks_single, NULL, 1);
    ult_fini();
    for (int i = 0; i < KERNEL_SCAL_N; i++)
        suite_expect((long)vector[i], i % 7 * (factor == 2 ? 1 : 2), "an element");
}

struct fib {
    int n;
    long result;
};

static void fib(void *arg)
{
    struct fib *f = arg, a, b;
    ult_t ult;
    if (f->n < 2) {
        f->result = f->n;
        return;
    }
    a.n = f->n - 1;
    b.n = f->n - 2;
    ult_create(&ult, fib, &a);
    fib(&b);
    ult_join(&ult);
    f->result = a.result + b.result;
}

static void fib_batch(void *arg)
{
    struct fib f = {KERNEL_FIB_N, 0};
    (void)arg;
    fib(&f);
    suite_expect(f.result, kernel_fib(KERNEL_FIB_N), "fib");
}

static void run_fib(const struct suite_work *work)
{
    (void)work;
    ult_init(suite_streams);
    suite_run(fib_batch, NULL, (double)kernel_fib_spawns(KERNEL_FIB_N));
    ult_fini();
}

static const struct suite_work works[] = {
    {"create-256", "", "1", run, 256, 0}, {"create-16384", "", "1", run, 16384, 0},
    {"yield-2", "", "1", run, 2, 1},      {"yield-256", "", "1", run, 256, 1},
    {"fib", "", "*", run_fib, 0, 0},      {"tasks-single", "", "*", run_tasks, 0, 0},
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}

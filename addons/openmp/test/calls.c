/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of LLVM's library as only some compilers call them: bounds of task loops between two iterations, tasks
 * without a function, the memory of all by its address, and loops whose chunks are whole vectors.
 */
#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "watchdog.h"

struct task {
    void *shareds;
    int (*routine)(int, struct task *);
    int part;
    void *data1, *data2;
    uint64_t lower, upper;
    int *to;
    int is_last;
};

struct dependence {
    uintptr_t address;
    size_t size;
    uint8_t flags; /* 1: in, 2: out */
};

static struct task *(*task_alloc)(void *, int, int, size_t, size_t, int (*)(int, struct task *));
static int (*task_with_deps)(void *, int, struct task *, int, const struct dependence *, int, const void *);
static void (*taskloop)(void *, int, struct task *, int, uint64_t *, uint64_t *, int64_t, int, int, uint64_t, void *);
static void (*loop_init)(void *, int, int, int, int, int, int);
static int (*loop_next)(void *, int, int *, int *, int *, int *);

static bool find(void *to, const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    memcpy(to, &function, sizeof(function));
    return function != NULL;
}

static int run_iterations(int thread, struct task *task)
{
    for (uint64_t i = task->lower; i <= task->upper; i += 3) {
        __atomic_fetch_add(&task->to[0], 1, __ATOMIC_RELAXED);
        if (task->is_last)
            task->to[1] = (int)i;
    }
    return thread - thread;
}

static void copy_task(struct task *to, const struct task *from, int is_last)
{
    to->to = from->to;
    to->is_last = is_last;
}

/* 0 to 118 by 3: the last iteration is 117. */
static void test_bounds(void)
{
    int found[2] = {0};
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        struct task *task = task_alloc(NULL, 0, 1, sizeof(*task), 0, run_iterations);
        task->lower = 0;
        task->upper = 118;
        task->to = found;
        taskloop(NULL, 0, task, 1, &task->lower, &task->upper, 3, 0, 2, 4, (void *)copy_task);
    }
    is_int(found[0], 40, "a task loop whose upper bound is between two iterations has all iterations");
    is_int(found[1], 117, "and knows the last one");
}

static int set_value(int thread, struct task *task)
{
    usleep(2000);
    __atomic_store_n(task->to, 1, __ATOMIC_RELAXED);
    return thread - thread;
}

static int look_at_value(int thread, struct task *task)
{
    task->to[1] = __atomic_load_n(task->to, __ATOMIC_RELAXED);
    return thread - thread;
}

static void make_task(int (*routine)(int, struct task *), int *to, uintptr_t address)
{
    struct dependence on = {address, 0, 2};
    struct task *task = task_alloc(NULL, 0, 1, sizeof(*task), 0, routine);
    task->to = to;
    task_with_deps(NULL, 0, task, 1, &on, 0, NULL);
}

static void test_all_memory(void)
{
    int found[2] = {0};
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        make_task(set_value, found, (uintptr_t)&found[0]);
        make_task(NULL, found, UINTPTR_MAX);
        make_task(look_at_value, found, (uintptr_t)&found[1]);
    }
    is_int(found[1], 1, "a task without a function on all memory is behind earlier tasks and before later ones");
}

enum { GUIDED_SIMD = 46, RUNTIME_SIMD = 47, VECTOR = 4, ITERATIONS = 26 };

/* How much is wrong with the chunks of a loop, which have a multiple of so many iterations. */
static int look_at_chunks(int kind, int multiple)
{
    int wrong = 0, sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : wrong, sum)
    {
        int lower, upper, step, is_last;
        loop_init(NULL, 0, kind, 0, ITERATIONS - 1, 1, VECTOR);
        while (loop_next(NULL, 0, &is_last, &lower, &upper, &step)) {
            wrong += lower % multiple != 0 || ((upper + 1) % multiple != 0 && !is_last);
            for (int i = lower; i <= upper; i++)
                sum += i;
        }
    }
    return wrong + (sum != ITERATIONS * (ITERATIONS - 1) / 2);
}

static void test_vectors(void)
{
    is_int(look_at_chunks(GUIDED_SIMD, VECTOR), 0, "chunks of a guided loop are whole vectors");
    omp_set_schedule(omp_sched_static, 0);
    is_int(look_at_chunks(RUNTIME_SIMD, VECTOR), 0, "and of a loop whose schedule is set, if it is static");
    omp_set_schedule(omp_sched_dynamic, 2);
    is_int(look_at_chunks(RUNTIME_SIMD, 2 * VECTOR), 0, "if it is dynamic by two vectors");
    omp_set_schedule(omp_sched_guided, 2);
    is_int(look_at_chunks(RUNTIME_SIMD, 2 * VECTOR), 0, "and if it is guided");
}

int main(void)
{
    watchdog_begin(0);
    if (!find(&task_alloc, "__kmpc_omp_task_alloc") || !find(&task_with_deps, "__kmpc_omp_task_with_deps") ||
        !find(&taskloop, "__kmpc_taskloop") || !find(&loop_init, "__kmpc_dispatch_init_4") ||
        !find(&loop_next, "__kmpc_dispatch_next_4"))
        bail_out("a function is missing");
    test_bounds();
    test_all_memory();
    test_vectors();
    return done_testing();
}

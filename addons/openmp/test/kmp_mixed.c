/* SPDX-License-Identifier: BSD-3-Clause */
/* What gcc's part of the test calls of clang's: a part of the library of kmp_library.c. */
#include <stddef.h>

#include "kmp.h"

extern int omp_get_max_threads(void);
extern void omp_set_lock(void *lock);
extern void omp_set_nest_lock(void *lock);
extern void omp_set_num_threads(int num);
extern void omp_unset_lock(void *lock);
extern void omp_unset_nest_lock(void *lock);

static void in_region(int num, void (*fn)(int *), int *arg)
{
#pragma omp parallel num_threads(num)
    fn(arg);
}

static void in_single(void (*fn)(int *), int *arg)
{
#pragma omp single
    fn(arg);
}

static void in_group(void (*fn)(int *), int *arg)
{
#pragma omp taskgroup
    fn(arg);
}

static void in_loop(int *sum)
{
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 20; i++) {
#pragma omp atomic
        *sum += 1;
    }
}

static void make_tasks(int *sum)
{
    for (int i = 0; i < 20; i++) {
#pragma omp task
        {
#pragma omp atomic
            *sum += 1;
        }
    }
}

static void wait_for_tasks(void)
{
#pragma omp taskwait
}

static void make_writer(int *value)
{
#pragma omp task depend(out : *value)
    *value = 7;
}

static void make_reader(int *value, int *seen)
{
#pragma omp task depend(in : *value)
    *seen = *value;
}

static void add_locked(void *lock, int *sum)
{
    omp_set_lock(lock);
    ++*sum;
    omp_unset_lock(lock);
}

static void add_nested(void *lock, int *sum)
{
    omp_set_nest_lock(lock);
    ++*sum;
    omp_unset_nest_lock(lock);
}

const struct kmp_mixed kmp_mixed = {
    in_region,   in_single,   in_group,   in_loop,    make_tasks,          wait_for_tasks,
    make_writer, make_reader, add_locked, add_nested, omp_set_num_threads, omp_get_max_threads,
};

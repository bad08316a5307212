/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructs that clang has compiled, in a process with some of gcc: both have the same teams, and the same locks. */
#include <dlfcn.h>
#include <libgen.h>
#include <omp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmp.h"
#include "tap.h"
#include "watchdog.h"

static const int sizes[] = {1, 2, 3, 7};

static void run(const struct kmp_check *checks)
{
    for (const struct kmp_check *each = checks; each->name; each++)
        for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            is_int(each->run(sizes[i]), 0, "%s by %d members", each->name, sizes[i]);
}

/* The library's constructs are those of members of this region, and its regions are inside. */
static void run_inside(int (*of_team)(int num))
{
    int wrong = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    {
        wrong += omp_get_num_threads() != 3;
        wrong += of_team(omp_get_num_threads());
    }
    is_int(wrong, 0, "constructs of clang in a region of gcc");
}

/* -- Constructs of gcc among those of clang -- */

static const struct kmp_mixed *mixed;

static void count_members(int *num)
{
#pragma omp atomic
    *num += omp_get_num_threads();
#pragma omp barrier
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
        *num += 100 * omp_get_num_threads();
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

static void make_and_wait(int *sum)
{
    make_tasks(sum);
    mixed->wait_for_tasks();
    if (*sum != 20)
        *sum = -1000;
    mixed->make_tasks(sum);
#pragma omp taskwait
}

static void mix_teams(void)
{
    int num = 0, sum = 0;
    omp_set_max_active_levels(2);
    mixed->in_region(3, count_members, &num);
    is_int(num, 3 * 3 + 3 * 2 * 200, "a region of gcc in one of clang");
#pragma omp parallel num_threads(3)
    for (int round = 0; round < 10; round++) {
        mixed->in_loop(&sum);
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 20; i++) {
#pragma omp atomic
            sum += 1;
        }
    }
    is_int(sum, 400, "loops of both without barriers");
    mixed->set_num_threads(3);
    is_int(omp_get_max_threads(), 3, "clang's number of threads is gcc's");
    omp_set_num_threads(4);
    is_int(mixed->get_max_threads(), 4, "gcc's number of threads is clang's");
}

static void mix_tasks(void)
{
    int sum = 0, group_sum = 0, own_sum = 0, value = 0, other = 0, seen = 0, other_seen = 0;
#pragma omp parallel num_threads(3)
    mixed->in_single(make_and_wait, &sum);
    is_int(sum, 40, "tasks of each waited for by the other");
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        mixed->in_group(make_tasks, &group_sum);
        is_int(group_sum, 20, "tasks of gcc in a group of clang");
#pragma omp taskgroup
        mixed->make_tasks(&own_sum);
        is_int(own_sum, 20, "tasks of clang in a group of gcc");
        mixed->make_writer(&value);
#pragma omp task depend(in : value) shared(seen, value)
        seen = value;
#pragma omp task depend(out : other) shared(other)
        other = 8;
        mixed->make_reader(&other, &other_seen);
    }
    is_int(seen, 7, "a task of gcc depends on one of clang");
    is_int(other_seen, 8, "a task of clang depends on one of gcc");
}

static void mix_locks(void)
{
    int sum = 0, nested_sum = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest_lock;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 1000; i++) {
        mixed->add_locked(&lock, &sum);
        omp_set_lock(&lock);
        sum++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest_lock);
        nested_sum++;
        mixed->add_nested(&nest_lock, &nested_sum);
        omp_unset_nest_lock(&nest_lock);
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest_lock);
    is_int(sum, 8000, "a lock of both");
    is_int(nested_sum, 8000, "a lock of gcc that clang takes inside");
}

/* In a process of its own a region is the first call of the library. */
static void begin_by_region(int (*first)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(first() < 1);
    waitpid(child, &status, 0);
    is_int(status, 0, "a region of clang is the first call of the process");
}

int main(int argc, char **argv)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/kmp_library.so", dirname(argv[0]));
    if (access(path, F_OK) != 0)
        skip_all("clang is not installed, or it is not for this machine");
    watchdog_begin(0);
    setenv("OMP_CANCELLATION", "true", 1);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "# %s\n", dlerror());
    ok(library != NULL, "the library of clang has all that it asks for");
    if (library) {
        begin_by_region((int (*)(void))dlsym(library, "kmp_first"));
        omp_set_dynamic(0);
        run(dlsym(library, "kmp_checks"));
        run(dlsym(library, "kmp_task_checks"));
        run_inside((int (*)(int))dlsym(library, "kmp_of_team"));
        mixed = dlsym(library, "kmp_mixed");
        mix_teams();
        mix_tasks();
        mix_locks();
    }
    return done_testing();
}

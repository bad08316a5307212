/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks, loops of tasks and their reductions; device constructs on the host. */
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include "emulated.h"
#include "tap.h"
#include "tasks.h"
#include "watchdog.h"

enum { MEMBERS = 4, NUM = 100, SUM = NUM * (NUM - 1) / 2 };

FIB_BY_TASKS(fib, final(n < 5))

static void tasks(void)
{
    int value = 0, finals = 0;
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
    {
        value = fib(15);
#pragma omp task final(1) shared(finals)
        finals = omp_get_num_threads();
#pragma omp taskwait
    }
    is_int(value, 610, "tasks compute a Fibonacci number");
    is_int(finals, MEMBERS, "a final task runs");
}

static void loops(void)
{
    int reduced = 0;
    long long far = 0;
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
    {
#pragma omp taskloop
        for (unsigned long long i = 1ULL << 63; i < (1ULL << 63) + NUM; i++)
            __atomic_fetch_add(&far, (long long)(i - (1ULL << 63)), __ATOMIC_RELAXED);
#pragma omp taskloop reduction(+ : reduced)
        for (int i = 0; i < NUM; i++)
            reduced += i;
    }
    is_int(far, SUM, "a loop of tasks of unsigned long long runs each iteration");
    is_int(reduced, SUM, "one with a reduction does");
}

static void reductions(void)
{
    int group = 0, region = 0, loop = 0, scope = 0, both = 1;
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : group) task_reduction(* : both)
        for (int i = 0; i < NUM; i++) {
#pragma omp task in_reduction(+ : group)
            group += i;
            if (i < 5) {
#pragma omp task in_reduction(* : both)
                both *= 2;
            }
        }
    }
    is_int(group, SUM, "a task group reduces");
    is_int(both, 32, "it reduces a second variable");
#pragma omp parallel num_threads(MEMBERS) reduction(task, + : region)
    {
#pragma omp task in_reduction(+ : region)
        region += 5;
    }
    is_int(region, 5 * MEMBERS, "a region reduces with its tasks");
#pragma omp parallel num_threads(MEMBERS)
    for (int k = 0; k < 20; k++) {
#pragma omp for reduction(task, + : loop)
        for (int i = 0; i < NUM; i++) {
#pragma omp task in_reduction(+ : loop)
            loop += i;
        }
#pragma omp scope reduction(task, + : scope)
        {
#pragma omp task in_reduction(+ : scope)
            scope += 3;
        }
    }
    is_int(loop, 20 * SUM, "loops reduce with their tasks");
    is_int(scope, 20 * 3 * MEMBERS, "scopes reduce with their tasks");
}

struct wide {
    long values[9];
};

static void device(void)
{
    struct wide wide = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
    long sum = 0, threads = 0;
    short small = 3;
    int last = 0;
#pragma omp target firstprivate(wide, small) map(tofrom : sum, threads)
    {
        wide.values[0] += small;
        small = 9;
        for (int i = 0; i < 9; i++)
            sum += wide.values[i];
        threads = omp_get_num_threads();
    }
    is_int(sum, 48, "a target region runs");
    is_int(wide.values[0] + small, 4, "its private variables are copies");
    is_int(threads, 1, "it is an initial task");
#pragma omp teams num_teams(3) reduction(+ : last)
    last++;
    ok(last >= 1, "teams run on the host");
}

/* The maker waits for its tasks without a construct, so that others have to run them all. */
static void away(void)
{
    enum { ROUNDS = 20, TASKS = 50 };
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int ran = 0, num = 1 + round * TASKS / ROUNDS;
#pragma omp parallel num_threads(2 + round % 3)
#pragma omp single
        {
            for (int i = 0; i < num; i++) {
#pragma omp task shared(ran)
                __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
            }
            while (__atomic_load_n(&ran, __ATOMIC_RELAXED) < num)
                sched_yield();
        }
        wrong += ran != num;
    }
    is_int(wrong, 0, "other members run the tasks of one that does not come by, but in %d rounds", wrong);
}

/* Each member makes and runs small tasks, and is away for short times, in which others take what it has kept. */
static void away_shortly(void)
{
    enum { ROUNDS = 3000 };
    int ran = 0;
#pragma omp parallel num_threads(4) shared(ran)
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < round % 7; i++) {
#pragma omp task shared(ran)
            __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
        }
        if (round % 16 == omp_get_thread_num())
            usleep(1);
        if (round % 3 == 0) {
#pragma omp taskwait
        }
        if (round % 100 == 99) {
#pragma omp barrier
        }
    }
    int expected = 0;
    for (int round = 0; round < ROUNDS; round++)
        expected += 4 * (round % 7);
    is_int(ran, expected, "each task runs once while others take what a member keeps");
}

int main(void)
{
    watchdog_begin(0);
    if (is_emulated())
        skip(1, "an emulator has no barrier for all threads");
    else
        away();
    away_shortly();
    tasks();
    loops();
    reductions();
    device();
    return done_testing();
}

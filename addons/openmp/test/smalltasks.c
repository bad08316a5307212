/* SPDX-License-Identifier: BSD-3-Clause */
/* Many small tasks, for which members rest: none is lost, waits end, and members still come for large ones. */
#include <omp.h>
#include <sched.h>

#include "tap.h"
#include "tasks.h"
#include "watchdog.h"

enum { MOST_MEMBERS = 8, NUM = 2000, ROUNDS = 40 };

/* 2 to MOST_MEMBERS, one after another. */
static int members_of(int round)
{
    return 2 + round % (MOST_MEMBERS - 1);
}

FIB_BY_TASKS(fib)

static void trees(void)
{
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(members_of(round))
#pragma omp single
        add(&wrong, fib(14) != 377);
    }
    is_int(wrong, 0, "trees of small tasks are computed");
}

/* The creator waits now and then, for its tasks or those of a group, or gives others time to sleep. */
static void one_creator(void)
{
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int run = 0;
#pragma omp parallel num_threads(members_of(round)) shared(run)
#pragma omp single
        for (int i = 1; i <= NUM; i++) {
#pragma omp task shared(run)
            add(&run, 1);
            if (i % 97 == 0) {
#pragma omp taskwait
                add(&wrong, get(&run) != i);
            }
            if (i % 50 == 0)
                sched_yield();
        }
        add(&wrong, run != NUM);
        run = 0;
#pragma omp parallel num_threads(members_of(round)) shared(run)
#pragma omp masked
        for (int i = 0; i < NUM / 20; i++) {
#pragma omp taskgroup
            for (int k = 0; k < 20; k++) {
#pragma omp task shared(run)
                {
#pragma omp task shared(run)
                    add(&run, 1);
                }
            }
            add(&wrong, get(&run) != 20 * (i + 1));
        }
    }
    is_int(wrong, 0, "small tasks of one creator run, and are waited for");
}

/* Each member makes tasks, and waits for them; those of others come between. */
static void all_create(void)
{
    int wrong = 0, run = 0, expected = 0;
    for (int round = 0; round < ROUNDS; round++) {
        expected += 30 * 7 * members_of(round);
#pragma omp parallel num_threads(members_of(round))
        for (int i = 0; i < 30; i++) {
            int mine = 0;
            for (int k = 0; k < 7; k++) {
#pragma omp task shared(mine, run)
                {
                    add(&mine, 1);
                    add(&run, 1);
                }
            }
            if (i % 3 != 0) {
#pragma omp taskwait
                add(&wrong, get(&mine) != 7);
            } else {
#pragma omp barrier
            }
        }
    }
    is_int(wrong, 0, "each member waits for its own tasks");
    is_int(run, expected, "all run");
}

/* A chain that others catch up with; a wait for a link of it. */
static void chains(void)
{
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int link = 0, other = 0;
#pragma omp parallel num_threads(members_of(round)) shared(link, other)
#pragma omp single
        for (int i = 0; i < NUM; i++) {
#pragma omp task depend(inout : link) shared(link, wrong)
            if (link++ != i)
                add(&wrong, 1);
            if (i % 100 == 99) {
#pragma omp task depend(in : link) depend(out : other) shared(link, other)
                other = link;
#pragma omp taskwait depend(in : other)
                add(&wrong, other != i + 1);
            }
            if (i % 70 == 0)
                sched_yield();
        }
        add(&wrong, link != NUM);
    }
    is_int(wrong, 0, "chains of small tasks run in order");
}

/* Tasks that wait for each other, right after small ones: all members have to come. */
static void large_after_small(void)
{
    int late = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int come = 0, members = members_of(round);
#pragma omp parallel num_threads(members) shared(come)
#pragma omp single
        {
            for (int i = 0; i < NUM; i++) {
#pragma omp task shared(late)
                add(&late, 0);
            }
#pragma omp taskwait
            for (int i = 0; i < members; i++) {
#pragma omp task shared(come)
                {
                    add(&come, 1);
                    while (get(&come) < members)
                        sched_yield();
                }
            }
        }
    }
    is_int(late, 0, "members that have had small tasks run large ones at the same time");
}

/* -- Loops -- */

static int is_once(const int *runs, int num)
{
    for (int i = 0; i < num; i++)
        if (runs[i] != 1)
            return 0;
    return 1;
}

static void loops(void)
{
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int num = 1 + round * 17, plain[NUM] = {0}, grains[NUM] = {0}, late[NUM] = {0}, copied[NUM] = {0};
        int numbers[num];
        for (int i = 0; i < num; i++)
            numbers[i] = i;
#pragma omp parallel num_threads(members_of(round)) shared(plain, grains, late, copied)
#pragma omp single
        {
#pragma omp taskloop num_tasks(1 + num / 2)
            for (int i = 0; i < num; i++)
                add(&plain[i], 1);
            add(&wrong, !is_once(plain, num));
#pragma omp taskloop grainsize(3)
            for (int i = 0; i < num; i++)
                add(&grains[i], 1);
#pragma omp taskloop num_tasks(num) nogroup
            for (int i = num - 1; i >= 0; i--)
                add(&late[i], 1);
                /* An array whose size is not known is copied by a function of the program. */
#pragma omp taskloop num_tasks(num) nogroup firstprivate(numbers)
            for (int i = 0; i < num; i++) {
                add(&copied[numbers[i]], 1);
                for (int k = 0; k < num; k++)
                    numbers[k] = -1000000;
            }
#pragma omp taskwait
            for (int i = 0; i < num; i++)
                numbers[i] = -1000000;
            add(&wrong, !is_once(late, num) || !is_once(copied, num));
        }
        add(&wrong, !is_once(grains, num));
    }
    is_int(wrong, 0, "loops of tasks run each iteration once, with copies of their data");
}

/* What one task of a loop does is not seen by the next: its children, and its control variables. */
static void separate_parts(void)
{
    int wrong = 0, children = 0;
    for (int round = 0; round < ROUNDS; round++) {
        omp_set_num_threads(3);
#pragma omp parallel num_threads(1 + round % MOST_MEMBERS)
#pragma omp single
#pragma omp taskloop num_tasks(60) shared(wrong, children)
        for (int i = 0; i < 60; i++) {
            int mine = 0;
            add(&wrong, omp_get_max_threads() != 3);
            if (i % 2)
                omp_set_num_threads(5);
            for (int k = 0; k < i % 3; k++) {
#pragma omp task shared(mine, children) if (i % 3 == 1)
                {
                    add(&mine, 1);
                    add(&children, 1);
                }
            }
            if (i % 3 == 1) {
#pragma omp taskwait
            }
            add(&wrong, get(&mine) != i % 3);
            if (i % 5 == 0) { /* left behind */
#pragma omp task shared(children)
                add(&children, 1);
            }
        }
    }
    is_int(wrong, 0, "each task of a loop is one of its own");
    is_int(children, ROUNDS * (60 + 12), "its children run");
}

int main(void)
{
    watchdog_begin(0);
    trees();
    one_creator();
    all_create();
    chains();
    large_after_small();
    loops();
    separate_parts();
    return done_testing();
}

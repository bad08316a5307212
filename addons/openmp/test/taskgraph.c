/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks by several members: who runs them, which waits wait for them, in which order those with dependences run. */
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "tasks.h"
#include "watchdog.h"

enum { MEMBERS = 4, NUM = 1000, ROUNDS = 30 };

/* Comes, and waits until `num` have come. */
static void meet(int *come, int num)
{
    __atomic_fetch_add(come, 1, __ATOMIC_RELEASE);
    while (get(come) < num)
        sched_yield();
}

/* Each task waits for the others, so that they have to run at the same time. */
static void together(void)
{
    int at_barrier = 0, at_end = 0, in_wait = 0;
#pragma omp parallel num_threads(MEMBERS)
    {
#pragma omp single
        for (int i = 0; i < MEMBERS; i++) {
#pragma omp task shared(at_barrier)
            meet(&at_barrier, MEMBERS);
        }
#pragma omp single nowait
        for (int i = 0; i < MEMBERS; i++) {
#pragma omp task shared(in_wait)
            meet(&in_wait, MEMBERS);
            if (i == MEMBERS - 1) {
#pragma omp taskwait
            }
        }
    }
#pragma omp parallel num_threads(MEMBERS)
#pragma omp masked
    for (int i = 0; i < MEMBERS; i++) {
#pragma omp task shared(at_end)
        meet(&at_end, MEMBERS);
    }
    is_int(at_barrier, MEMBERS, "members at a barrier run tasks");
    is_int(in_wait, MEMBERS, "a member that waits for its tasks runs them");
    is_int(at_end, MEMBERS, "members that have left the region run tasks");
}

/* A tree of tasks, of which some end before their children. */
static void tree(int depth, int *leaves, int waits)
{
    if (depth == 0) {
        add(leaves, 1);
        return;
    }
    for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(depth)
        tree(depth - 1, leaves, waits);
    }
    if (waits) {
#pragma omp taskwait
    }
}

static void trees(void)
{
    int waited = 0, orphans = 0, grouped = 0, early = 0, many = 0;
    for (int round = 1; round <= ROUNDS; round++) {
#pragma omp parallel num_threads(1 + round % MEMBERS)
#pragma omp single
        {
            tree(4, &waited, 1);
            tree(4, &orphans, 0);
#pragma omp taskgroup
            tree(4, &grouped, 0);
            early += get(&grouped) != 256 * round;
        }
#pragma omp parallel num_threads(1 + round % MEMBERS)
        {
            tree(3, &many, 0);
#pragma omp barrier
            tree(3, &many, 1);
        }
    }
    int expected = 0;
    for (int round = 1; round <= ROUNDS; round++)
        expected += 128 * (1 + round % MEMBERS);
    is_int(waited, 256 * ROUNDS, "all tasks that are waited for run");
    is_int(orphans, 256 * ROUNDS, "all tasks whose parents have ended run");
    is_int(grouped, 256 * ROUNDS, "all tasks of groups run");
    is_int(early, 0, "a group ends when all tasks in it have, children of children, too");
    is_int(many, expected, "all tasks of all members run");
}

struct big {
    char bytes[3000];
};

static void data(void)
{
    int wrong = 0, threads = 0;
    struct big big;
    omp_set_num_threads(3);
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
    for (int i = 0; i < NUM; i++) {
        memset(&big, i, sizeof(big));
#pragma omp task firstprivate(big) shared(wrong, threads)
        {
            for (size_t k = 0; k < sizeof(big.bytes); k++)
                if (big.bytes[k] != (char)i)
                    add(&wrong, 1);
            if (omp_get_max_threads() != 3)
                add(&threads, 1);
            omp_set_num_threads(5);
        }
    }
    is_int(wrong, 0, "tasks have copies of their data");
    is_int(threads, 0, "tasks begin with the control variables of their makers");
}

/* Tasks whose makers have changed control variables: deferred and undeferred ones, and those of other tasks. */
static void variables(void)
{
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        omp_set_num_threads(3);
#pragma omp parallel num_threads(1 + round % MEMBERS)
#pragma omp single
        for (int i = 0; i < 10; i++) {
            omp_set_num_threads(10 + i);
#pragma omp task firstprivate(i) shared(wrong)
            {
                add(&wrong, omp_get_max_threads() != 10 + i);
                for (int k = 0; k < 3; k++) {
                    omp_set_num_threads(100 + k);
#pragma omp task firstprivate(k) shared(wrong)
                    {
                        add(&wrong, omp_get_max_threads() != 100 + k);
                        omp_set_num_threads(7);
                    }
                }
#pragma omp task if (0) shared(wrong)
                {
                    add(&wrong, omp_get_max_threads() != 102);
                    omp_set_num_threads(8);
                }
#pragma omp taskwait
                add(&wrong, omp_get_max_threads() != 102);
            }
            add(&wrong, omp_get_max_threads() != 10 + i);
        }
        add(&wrong, omp_get_max_threads() != 3);
    }
    is_int(wrong, 0, "a task changes its own control variables, and those of tasks that it makes then");
}

/* -- Dependences -- */

static void chains(void)
{
    static int last[8];
    int wrong = 0;
    memset(last, 0, sizeof(last));
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
    for (int i = 0; i < NUM; i++) {
        for (int c = 0; c < 8; c++) {
#pragma omp task depend(inout : last[c]) shared(wrong)
            if (last[c]++ != i)
                add(&wrong, 1);
        }
    }
    is_int(wrong, 0, "tasks with inout run in order");
}

/* Readers between writers; sets of inoutset and mutexinoutset; by objects, and by iterators. */
static void kinds(void)
{
    int value = 0, set = 0, mutex = 0, wrong = 0, x = 0, inside = 0;
    omp_depend_t object, in_set;
    void *use = (void *)5; /* inoutset, which gcc 12 does not know: its word in the object */
#pragma omp depobj(object) depend(inout : x)
#pragma omp depobj(in_set) depend(inout : x)
    memcpy((char *)&in_set + sizeof(void *), &use, sizeof(use));
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp task depend(depobj : object) shared(value)
        value++;
        for (int k = 0; k < 5; k++) {
#pragma omp task depend(in : x) shared(value, wrong)
            if (value != i + 1)
                add(&wrong, 1);
        }
        for (int k = 0; k < 5; k++) {
#pragma omp task depend(mutexinoutset : x) shared(mutex, inside, wrong)
            {
                if (inside++ != 0)
                    add(&wrong, 1);
                mutex++;
                inside--;
            }
        }
        for (int k = 0; k < 5; k++) {
#pragma omp task depend(depobj : in_set) shared(set, mutex, wrong)
            {
                if (mutex != 5 * (i + 1))
                    add(&wrong, 1);
                add(&set, 1);
            }
        }
#pragma omp task depend(out : x) shared(set, wrong)
        if (set != 5 * (i + 1))
            add(&wrong, 1);
    }
#pragma omp depobj(object) destroy
    is_int(wrong, 0, "each kind of dependence orders");
    is_int(value + mutex + set + x, 11 * ROUNDS, "all these tasks run");
}

static void iterators(void)
{
    static int values[NUM];
    int wrong = 0, sum = 0, before = -1;
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
    {
        for (int i = 0; i < NUM; i++) {
#pragma omp task depend(out : values[i])
            values[i] = i;
        }
#pragma omp task depend(iterator(k = 0 : NUM), in : values[k]) shared(sum)
        for (int i = 0; i < NUM; i++)
            sum += values[i];
#pragma omp task depend(iterator(k = 0 : NUM), in : values[k]) depend(out : sum) shared(wrong)
        for (int i = 0; i < NUM; i++)
            if (values[i] != i)
                add(&wrong, 1);
#pragma omp taskwait depend(in : values[NUM - 1])
        before = values[NUM - 1];
#pragma omp task if (0) depend(inout : sum) shared(wrong)
        wrong += values[0];
    }
    is_int(sum, NUM * (NUM - 1) / 2, "a task depends on many others");
    is_int(before, NUM - 1, "taskwait with depend waits");
    is_int(wrong, 0, "an undeferred task waits for its dependences");
}

/* -- Events -- */

static void events(int members)
{
    int order = 0, wrong = 0, waited = 0;
    for (int i = 0; i < ROUNDS; i++) {
        omp_event_handle_t event, other;
#pragma omp parallel num_threads(members)
#pragma omp single
        {
#pragma omp task detach(event) depend(out : order) shared(order)
            add(&order, 1);
#pragma omp task depend(inout : order) shared(order, wrong)
            if (order++ != 2)
                add(&wrong, 1);
#pragma omp task detach(other) shared(waited)
            add(&waited, 1);
            omp_fulfill_event(other);
#pragma omp task if (0) shared(order)
            {
                while (get(&order) != 1)
                    sched_yield();
                add(&order, 1);
                omp_fulfill_event(event);
            }
#pragma omp taskwait
            if (order != 3 || waited != i + 1)
                add(&wrong, 1);
            order = 0;
        }
    }
    is_int(wrong, 0, "a task ends when its event is fulfilled, with %d members", members);
}

/* The event is fulfilled by a member that has the task, when the region is about to end. */
static void late_event(void)
{
    int ended = 0;
    for (int i = 0; i < ROUNDS; i++) {
        omp_event_handle_t event;
#pragma omp parallel num_threads(2)
        {
#pragma omp single
            {
#pragma omp task detach(event)
                sched_yield();
#pragma omp task firstprivate(event)
                omp_fulfill_event(event);
            }
        }
        ended++;
    }
    is_int(ended, ROUNDS, "a region waits for events");
}

/* The event is fulfilled when the body ends on another member. The next task has the memory of this one. */
static void raced_event(void)
{
    int ran = 0;
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
    for (int i = 0; i < 10 * ROUNDS; i++) {
        omp_event_handle_t event;
#pragma omp task detach(event) shared(ran)
        add(&ran, 1);
        while (get(&ran) == i)
            sched_yield();
        omp_fulfill_event(event);
#pragma omp taskwait
    }
    is_int(ran, 10 * ROUNDS, "an event is fulfilled while the task's body ends");
}

int main(void)
{
    watchdog_begin(0);
    together();
    trees();
    data();
    variables();
    chains();
    kinds();
    iterators();
    events(1);
    events(MEMBERS);
    late_event();
    raced_event();
    return done_testing();
}

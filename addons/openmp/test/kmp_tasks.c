/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks for clang: a part of the library of kmp_library.c. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "kmp.h"

typedef uintptr_t omp_event_handle_t;
typedef void *omp_depend_t;
extern int omp_get_num_threads(void);
extern int omp_get_thread_num(void);
extern int omp_in_final(void);
extern void omp_fulfill_event(omp_event_handle_t event);

/* Each kind of task in it: deferred, undeferred, final. */
static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a) firstprivate(n) if (n % 3 > 0)
    a = fib(n - 1);
#pragma omp task shared(b) firstprivate(n) final(n < 5)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static int plain_tasks(int num)
{
    long value = 0;
    int final = 0, not_final = 0;
#pragma omp parallel num_threads(num)
#pragma omp single
    {
        value = fib(16);
#pragma omp task final(1) shared(final)
        final = omp_in_final();
#pragma omp task final(num < 0) shared(not_final)
        not_final = !omp_in_final();
    }
    return (value != 987) + (final != 1) + (not_final != 1);
}

/* An untied task is called again at each of its scheduling points. */
static int untied_tasks(int num)
{
    int sum = 0, wrong = 0;
#pragma omp parallel num_threads(num)
#pragma omp single
    {
        for (int i = 0; i < 20; i++) {
#pragma omp task untied shared(sum, wrong) firstprivate(i) if (i % 4 > 0)
            {
                int before = i;
#pragma omp task shared(sum)
                {
#pragma omp atomic
                    sum += 1;
                }
#pragma omp taskyield
#pragma omp task shared(sum)
                {
#pragma omp atomic
                    sum += 10;
                }
#pragma omp taskwait
                if (before != i) {
#pragma omp atomic
                    wrong++;
                }
            }
        }
    }
    return wrong + (sum != 220);
}

static int task_dependences(int num)
{
    enum { STEPS = 40 };
    int wrong = 0, x = 0, y[20] = {0}, seen = 0, readers = 0;
#pragma omp parallel num_threads(num)
#pragma omp single
    {
        for (int i = 0; i < STEPS; i++) {
#pragma omp task depend(inout : x) shared(x, wrong, readers) firstprivate(i)
            wrong += x++ != i || (i > 0 && readers != 2 * i);
            for (int j = 0; j < 2; j++) {
#pragma omp task depend(in : x) shared(x, readers)
                {
#pragma omp atomic
                    readers++;
                }
            }
        }
#pragma omp task depend(in : x) if (0) shared(seen)
        seen = x;
        wrong += seen != STEPS;
        for (int i = 0; i < 20; i++) {
#pragma omp task depend(out : y[i]) shared(y)
            y[i] = i;
        }
        int sum = 0;
#pragma omp task depend(iterator(i = 0 : 20), in : y[i]) depend(out : sum) shared(y, sum)
        for (int i = 0; i < 20; i++)
            sum += y[i];
        omp_depend_t object;
#pragma omp depobj(object) depend(in : sum)
#pragma omp task depend(depobj : object) shared(sum, wrong)
        wrong += sum != 190;
#pragma omp taskwait depend(in : sum)
        wrong += sum != 190;
#pragma omp taskwait
#pragma omp depobj(object) destroy
        for (int i = 0; i < 30; i++) {
#pragma omp task depend(mutexinoutset : sum) shared(sum)
            sum++;
        }
#pragma omp taskwait
        wrong += sum != 220;
    }
    return wrong;
}

static int detached_tasks(int num)
{
    int wrong = 0, done = 0;
#pragma omp parallel num_threads(num)
#pragma omp single
    for (int i = 0; i < 20; i++) {
        int after = 0, x = 0;
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x) shared(x)
        x = 1;
#pragma omp task depend(in : x) shared(x, after, wrong, done)
        {
            after = 1;
            wrong += done == 0 || x != 1;
        }
#pragma omp task shared(done) firstprivate(event)
        {
            done = 1;
            omp_fulfill_event(event);
        }
#pragma omp taskwait
        wrong += after != 1;
        done = 0;
    }
    return wrong;
}

/* The body of a task runs at once, and its event comes when the maker goes on. */
static int detached_at_once(int num)
{
    int wrong = 0;
#pragma omp parallel num_threads(num) reduction(+ : wrong)
    {
        int x = 0, after = 0;
        omp_event_handle_t event, *at = NULL;
#pragma omp task detach(event) if (0) shared(x, at)
        {
            x = 1;
            at = &event;
        }
        wrong += x != 1;
#pragma omp task shared(x, after)
        after = x;
        omp_fulfill_event(*at);
#pragma omp taskwait
        wrong += after != 1;
    }
    return wrong;
}

static int task_groups(int num)
{
    int wrong = 0;
#pragma omp parallel num_threads(num)
#pragma omp single
    for (int round = 0; round < 10; round++) {
        int ended = 0, sum = 0;
        double product = 1;
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(* : product)
        {
            for (int i = 0; i < 20; i++) {
#pragma omp task shared(ended) in_reduction(+ : sum) in_reduction(* : product)
                {
                    sum += i;
                    product *= i == 7 ? 3 : 1;
#pragma omp task shared(ended) in_reduction(+ : sum)
                    {
                        sum += 100;
#pragma omp atomic
                        ended++;
                    }
                }
            }
        }
        wrong += (ended != 20) + (sum != 2190) + (product < 2.9 || product > 3.1);
    }
    return wrong;
}

static int cancelled_groups(int num)
{
    int ran = 0, after = 0;
#pragma omp parallel num_threads(num)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task shared(ran)
            {
#pragma omp cancel taskgroup
                ran++;
            }
#pragma omp taskwait
            for (int i = 0; i < 50; i++) {
#pragma omp task shared(ran)
                {
#pragma omp atomic
                    ran++;
                }
            }
        }
#pragma omp task shared(after)
        after++;
    }
    return (ran != 0) + (after != 1);
}

/* Events of tasks that are discarded, since their group is cancelled, come when the thread that made them has ended. */
static omp_event_handle_t events[8];
static int discarded_ran;

static void *discard_tasks(void *num)
{
#pragma omp parallel num_threads(*(int *)num)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task
        {
#pragma omp cancel taskgroup
        }
#pragma omp taskwait
        for (int i = 0; i < 8; i++) {
            omp_event_handle_t event;
#pragma omp task detach(event)
            discarded_ran++;
            events[i] = event;
        }
    }
    return NULL;
}

static int discarded_events(int num)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, discard_tasks, &num) != 0 || pthread_join(thread, NULL) != 0)
        return -1;
    for (int i = 0; i < 8; i++)
        omp_fulfill_event(events[i]);
    return discarded_ran;
}

/* What members add by tasks, and by themselves. */
static int modified_reductions(int num)
{
    int sum = 0, loop_sum = 0;
#pragma omp parallel num_threads(num) reduction(task, + : sum)
    {
        sum++;
#pragma omp task in_reduction(+ : sum)
        sum += 10;
    }
#pragma omp parallel num_threads(num)
#pragma omp for reduction(task, + : loop_sum)
    for (int i = 0; i < 30; i++) {
#pragma omp task in_reduction(+ : loop_sum)
        loop_sum += 2;
        loop_sum++;
    }
    return (sum != 11 * num) + (loop_sum != 90);
}

static int task_loops(int num)
{
    enum { NUM = 300 };
    int seen[NUM] = {0}, wrong = 0, last = -1, sum = 0, parts = 0;
#pragma omp parallel num_threads(num)
#pragma omp single
    {
        int first = 5;
#pragma omp taskloop firstprivate(first) lastprivate(last) shared(seen)
        for (int i = 0; i < NUM; i++) {
#pragma omp atomic
            seen[i] += first;
            last = i;
        }
        wrong += last != NUM - 1;
#pragma omp taskloop grainsize(7) reduction(+ : sum)
        for (unsigned long i = 0; i < NUM; i++)
            sum += (int)i;
        wrong += sum != NUM * (NUM - 1) / 2;
#pragma omp taskloop num_tasks(11) shared(seen) nogroup
        for (int i = NUM - 1; i >= 0; i -= 2) {
#pragma omp atomic
            seen[i]++;
        }
#pragma omp taskloop if (0) shared(parts)
        for (int i = 0; i < num - num; i++)
            parts++;
#pragma omp taskloop collapse(2) final(1) shared(parts)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 3; j++) {
#pragma omp atomic
                parts++;
            }
        first = 1;
#pragma omp taskloop num_tasks(NUM) firstprivate(first) shared(parts)
        for (int i = 0; i < NUM; i++) {
#pragma omp atomic
            parts += first;
            first = 9; /* the next task has what it was */
        }
    }
    for (int i = 0; i < NUM; i++)
        wrong += seen[i] != 5 + i % 2;
    return wrong + (parts != 12 + NUM);
}

static int ordered_by_priority(int num)
{
    int sum = 0;
#pragma omp parallel num_threads(num)
#pragma omp single
    for (int i = 0; i < 40; i++) {
#pragma omp task priority(i % 4) firstprivate(i) shared(sum)
        {
#pragma omp atomic
            sum += i;
        }
    }
    return sum != 780;
}

const struct kmp_check kmp_task_checks[] = {
    {"tasks", plain_tasks},
    {"untied tasks", untied_tasks},
    {"dependences", task_dependences},
    {"detached tasks", detached_tasks},
    {"detached tasks with if(0)", detached_at_once},
    {"task groups with reductions", task_groups},
    {"cancelled task groups", cancelled_groups},
    {"events of discarded tasks", discarded_events},
    {"reductions of regions by tasks", modified_reductions},
    {"loops of tasks", task_loops},
    {"tasks with priorities", ordered_by_priority},
    {NULL, NULL},
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Cancellation of regions, loops, sections and task groups. The program runs itself again, with OMP_CANCELLATION. */
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"
#include "tasks.h"
#include "watchdog.h"

enum { MEMBERS = 4, NUM = 1000, ROUNDS = 50 };

/* One member cancels; others wait at a barrier, come to one later, or look. */
static void regions(void)
{
    int behind = 0, after = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int come = 0;
#pragma omp parallel num_threads(MEMBERS) shared(come)
        {
            if (omp_get_thread_num() == i % MEMBERS) {
                if (i % 2) {
                    while (get(&come) < MEMBERS - 1)
                        sched_yield();
                }
#pragma omp cancel parallel
            }
            add(&come, 1);
            if (omp_get_thread_num() % 2) {
#pragma omp cancellation point parallel
            }
#pragma omp barrier
            add(&behind, 1);
        }
#pragma omp parallel num_threads(1 + i % MEMBERS)
        {
#pragma omp barrier
#pragma omp for
            for (int k = 0; k < NUM; k++)
                add(&after, 1);
        }
    }
    is_int(behind, 0, "nobody passes a barrier of a cancelled region");
    is_int(after, NUM * ROUNDS, "the next region is not cancelled");
}

/* A region whose tasks are waiting at that time. */
static void regions_with_tasks(void)
{
    int behind = 0, run = 0;
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel num_threads(MEMBERS)
        {
            for (int k = 0; k < 20; k++) {
#pragma omp task shared(run)
                add(&run, 1);
            }
            if (omp_get_thread_num() == i % MEMBERS) {
#pragma omp cancel parallel
            }
#pragma omp barrier
            add(&behind, 1);
        }
    }
    is_int(behind, 0, "nobody passes the barrier if there are tasks");
    ok(run >= 0 && run <= ROUNDS * MEMBERS * 20, "tasks may be dropped");
}

static void loops(void)
{
    int rest = 0, whole = 0, sections = 0;
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel num_threads(MEMBERS)
        {
#pragma omp for schedule(dynamic, 1)
            for (int k = 0; k < NUM; k++) {
#pragma omp cancel for
                add(&rest, 1);
            }
#pragma omp for
            for (int k = 0; k < NUM; k++) {
#pragma omp cancellation point for
                add(&whole, 1);
            }
#pragma omp sections
            {
#pragma omp section
                {
#pragma omp cancel sections
                    add(&sections, 1);
                }
#pragma omp section
                {
#pragma omp cancel sections
                    add(&sections, 1);
                }
            }
        }
    }
    is_int(rest, 0, "a cancelled loop ends");
    is_int(whole, NUM * ROUNDS, "the next loop is not cancelled");
    is_int(sections, 0, "cancelled sections end");
}

static void groups(void)
{
    int late = 0, outside = 0, wrong = 0;
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
    for (int i = 0; i < ROUNDS; i++) {
        int before = get(&outside);
#pragma omp task shared(outside)
        add(&outside, 1);
#pragma omp taskgroup
        {
#pragma omp task if (0)
            {
#pragma omp cancel taskgroup
            }
            for (int k = 0; k < 20; k++) {
#pragma omp task shared(late)
                add(&late, 1);
            }
        }
#pragma omp taskwait
        wrong += get(&outside) != before + 1;
    }
    is_int(late, 0, "tasks of a cancelled group are dropped");
    is_int(wrong, 0, "others are not");
}

/* Members go on without the one that cancels, through more constructs than a team has places for. */
static void ahead(void)
{
    enum { LOOPS = 30 };
    int run = 0;
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel num_threads(MEMBERS - 1)
        for (int k = 0; k < LOOPS; k++) {
            if (omp_get_thread_num() == i % (MEMBERS - 1) && k == i % LOOPS) {
#pragma omp cancel parallel
            }
#pragma omp for schedule(dynamic, 1) nowait
            for (int m = 0; m < MEMBERS; m++)
                add(&run, 1);
        }
    }
    is_int(run, ROUNDS * LOOPS * MEMBERS, "members of a cancelled region go on up to a barrier");
}

/*
 * Members leave a construct with reductions of tasks before others have come, or while its tasks run. In every second
 * round the region is cancelled before there are tasks.
 */
static void reductions(void)
{
    int behind = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int sum = 0, begun = i % 2;
#pragma omp parallel num_threads(MEMBERS) shared(sum, begun)
        {
            if (omp_get_thread_num() == 1 + i % (MEMBERS - 1)) {
                while (get(&begun) == 0)
                    sched_yield();
#pragma omp cancel parallel
            }
            if (omp_get_thread_num() == i % MEMBERS)
                sched_yield();
#pragma omp for reduction(task, + : sum)
            for (int k = 0; k < 3 * MEMBERS; k++) {
#pragma omp task in_reduction(+ : sum) shared(begun)
                {
                    add(&begun, 1);
                    if (k % 3 == 0)
                        sched_yield();
                    sum++;
                }
            }
            add(&behind, 1);
        }
    }
    is_int(behind, 0, "nobody passes a loop of a cancelled region that reduces with its tasks");
}

static int compare(const void *a, const void *b)
{
    unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;
    return x < y ? -1 : x > y;
}

/* A loop of more tasks than 32 bits can count. It ends when some have run. */
static void very_many(void)
{
    enum { KEPT = 4 * NUM };
    static const unsigned long num = 5UL << 32;
    static unsigned long seen[KEPT];
    int runs = 0, twice = 0;
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
#pragma omp taskloop num_tasks(num)
    for (unsigned long i = 0; i < num; i++) {
        int run = __atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
        if (run < KEPT)
            seen[run] = i;
        if (run >= NUM) {
#pragma omp cancel taskgroup
        }
    }
    int kept = runs < KEPT ? runs : KEPT;
    qsort(seen, (size_t)kept, sizeof(seen[0]), compare);
    for (int i = 1; i < kept; i++)
        twice += seen[i] == seen[i - 1];
    ok(runs > NUM && runs < 100 * NUM, "a loop of %lu tasks ends soon after its cancel (%d)", num, runs);
    is_int(twice, 0, "no iteration runs twice");
    ok(seen[kept - 1] < num, "all are of the loop");
}

/* Tasks with events are cancelled before they run, or are not: their bodies, their maker or nobody fulfils them. */
static void events(void)
{
    int cancelled = 0;
    for (int i = 0; i < ROUNDS; i++) {
        omp_event_handle_t early, own;
        int ran = 0, x __attribute__((unused)) = 0;
#pragma omp parallel num_threads(1 + i % MEMBERS) shared(early, own)
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task shared(early, own)
            {
#pragma omp task detach(early) depend(out : x)
                sched_yield();
#pragma omp task detach(own) depend(in : x) shared(ran)
                {
                    ran = 1;
                    omp_fulfill_event(own);
                }
                omp_fulfill_event(early);
#pragma omp cancel taskgroup
            }
        }
        cancelled += !ran;
        if (!ran)
            omp_fulfill_event(own);
    }
    ok(cancelled >= ROUNDS / MEMBERS, "groups end without the events of cancelled tasks (%d)", cancelled);
}

int main(int argc, char **argv)
{
    if (!omp_get_cancellation()) {
        setenv("OMP_CANCELLATION", "true", 1);
        execv("/proc/self/exe", argv);
        return 1;
    }
    watchdog_begin(0);
    regions();
    regions_with_tasks();
    loops();
    groups();
    events();
    ahead();
    reductions();
    very_many();
    return done_testing();
}

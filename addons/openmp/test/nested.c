/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions in regions. With ABT_OMP_NESTED=u their members run one after another until one waits, with t each has a
 * thread, and all that OpenMP promises holds in the same way.
 */
#include "child.h"
#include "modes.h"
#include "sanitizers.h"
#include "tasks.h"

enum { MOST = 9, ROUNDS = 20 };

/* Runs a function in each member of a region, so that all regions in it are nested, and with several numbers. */
static void in_region(void (*run)(int num), const char *what)
{
    int before = num_wrong;
    for (int i = 0; i < ROUNDS && num_wrong == before; i++) {
#pragma omp parallel num_threads(num_outer)
        run(2 + i % (MOST - 2));
    }
    if (num_wrong != before)
        fprintf(stderr, "# %s: %s\n", current_mode, what);
}

/* `check` counts without atomic accesses: one member calls it. */
static void expect(bool holds, const char *what)
{
    if (!holds) {
#pragma omp critical(expect)
        check(false, what);
    }
}

/* -- Who is where -- */

static void numbers(int num)
{
    int outer = omp_get_thread_num(), runs[MOST] = {0}, wrong = 0;
#pragma omp parallel num_threads(num) reduction(+ : wrong)
    {
        __atomic_fetch_add(&runs[omp_get_thread_num()], 1, __ATOMIC_RELAXED);
        wrong += omp_get_level() != 2 || omp_get_active_level() != 2 || omp_get_num_threads() != num;
        wrong += omp_get_ancestor_thread_num(1) != outer || omp_get_ancestor_thread_num(2) != omp_get_thread_num();
        wrong += omp_get_team_size(1) != num_outer || omp_get_team_size(2) != num || !omp_in_parallel();
    }
    for (int i = 0; i < num; i++)
        wrong += runs[i] != 1;
    wrong += omp_get_thread_num() != outer || omp_get_level() != 1;
    expect(wrong == 0, "each member runs once, and knows where it is");
}

static void third_level(int num)
{
    int runs = 0, wrong = 0;
#pragma omp parallel num_threads(num) reduction(+ : wrong)
    {
        int middle = omp_get_thread_num();
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        {
            __atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
            wrong += omp_get_level() != 3 || omp_get_ancestor_thread_num(2) != middle;
        }
        wrong += omp_get_thread_num() != middle;
#pragma omp parallel num_threads(3) if (0) reduction(+ : wrong)
        wrong += omp_get_num_threads() != 1 || omp_get_level() != 3 || omp_get_active_level() != 2;
    }
    expect(wrong == 0 && runs == 2 * num, "a third level");
}

/* Threads that have run the members of the last region. */
static int count_threads(int num)
{
    pthread_t threads[MOST];
    int different = 0;
#pragma omp parallel num_threads(num)
    threads[omp_get_thread_num()] = pthread_self();
    for (int i = 0; i < num; i++) {
        bool is_new = true;
        for (int j = 0; j < i; j++)
            is_new = is_new && !pthread_equal(threads[i], threads[j]);
        different += is_new;
    }
    return different;
}

/* On a busy processor a member may be away for so long that the others get threads. */
static void threads(void)
{
    int one = 0, several = 0;
#pragma omp parallel num_threads(num_outer) reduction(+ : one, several)
    for (int i = 0; i < ROUNDS; i++) {
        int different = count_threads(4);
        one += different == 1;
        several += different == 4;
    }
    if (current_mode[0] == 'u')
        check(one > 0, "members run one after another");
    if (current_mode[0] == 't')
        check(several == ROUNDS * num_outer, "each member has a thread");
}

/*
 * The members outside wait for one that opens regions which are not short: these get threads, since processors are
 * free. It is learnt, and only where there are processors.
 */
static void few_are_busy(void)
{
    bool is_done = omp_get_num_procs() < 2;
#pragma omp parallel num_threads(num_outer)
#pragma omp single
    while (!is_done) {
        pthread_t threads[2];
#pragma omp parallel num_threads(2)
        {
            double end = omp_get_wtime() + 200e-6;
            threads[omp_get_thread_num()] = pthread_self();
            while (omp_get_wtime() < end)
                ;
        }
        is_done = !pthread_equal(threads[0], threads[1]);
    }
    check(is_done, "regions get threads where members outside wait");
}

/* A limit counts the members inside, too. */
static void limit(void)
{
    int inside = 0;
#pragma omp teams num_teams(1) thread_limit(3)
    {
#pragma omp parallel num_threads(2)
        {
#pragma omp parallel num_threads(4)
            {
#pragma omp single
                __atomic_fetch_add(&inside, omp_get_num_threads(), __ATOMIC_RELAXED);
            }
        }
    }
    check(inside >= 2 && inside <= 4, "a limit of threads holds inside");
}

/* -- Waits -- */

static void barriers(int num)
{
    int here = 0, wrong = 0;
#pragma omp parallel num_threads(num) reduction(+ : wrong)
    for (int i = 1; i <= 3; i++) {
        __atomic_fetch_add(&here, 1, __ATOMIC_RELAXED);
#pragma omp barrier
        wrong += __atomic_load_n(&here, __ATOMIC_RELAXED) != i * num;
#pragma omp barrier
    }
    expect(wrong == 0, "a barrier");
}

static void singles(int num)
{
    int runs = 0, wrong = 0, value;
#pragma omp parallel num_threads(num) private(value) reduction(+ : wrong)
    {
#pragma omp single copyprivate(value)
        value = 10 + num;
        wrong += value != 10 + num;
#pragma omp single nowait
        __atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
#pragma omp single
        __atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
        wrong += __atomic_load_n(&runs, __ATOMIC_RELAXED) < 1;
    }
    expect(wrong == 0 && runs == 2, "single");
}

static void exclusion(int num)
{
    static int in_all;
    int sum = 0, nested = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(num)
    for (int i = 0; i < 50; i++) {
#pragma omp critical
        in_all++;
        omp_set_lock(&lock);
        sum++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        nested++;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    int all;
#pragma omp critical
    all = in_all;
    expect(sum == 50 * num && nested == 50 * num && all >= 50 * num, "critical and locks");
}

/* Members that wait for one another by looks of several kinds, each for the one with the next number. */
static void look_again(int kind, omp_lock_t *lock)
{
    if (kind == 1)
        sched_yield();
    if (kind == 2) {
#pragma omp taskyield
    }
    if (kind == 3 && omp_test_lock(lock))
        omp_unset_lock(lock);
}

static void spins(int num)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (int kind = 0; kind < 4; kind++) {
        int turn = num % 2 + 1;
#pragma omp parallel num_threads(num % 2 + 2)
        {
            while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != omp_get_thread_num())
                look_again(kind, &lock);
            __atomic_fetch_sub(&turn, 1, __ATOMIC_RELEASE);
        }
        expect(turn == -1, "members wait by looks of their own");
    }
    omp_destroy_lock(&lock);
}

/* Likewise, in the system. */
static void native_waits(int num)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    int turn = num - 1;
#pragma omp parallel num_threads(num)
    {
        pthread_mutex_lock(&mutex);
        while (turn != omp_get_thread_num())
            pthread_cond_wait(&cond, &mutex);
        turn--;
        pthread_cond_broadcast(&cond);
        pthread_mutex_unlock(&mutex);
    }
    expect(turn == -1, "members wait in the system");
}

/* -- Work -- */

static void loops(int num)
{
    long sum = 0, in_order = 0, next = 0;
#pragma omp parallel num_threads(num) reduction(+ : sum)
    {
#pragma omp for schedule(static, 3) nowait
        for (int i = 0; i < 100; i++)
            sum += i;
        for (int k = 0; k < 12; k++) { /* more constructs than a member may be ahead */
#pragma omp for schedule(dynamic, 2) nowait
            for (int i = 0; i < 100; i++)
                sum += i;
        }
#pragma omp for schedule(guided)
        for (int i = 0; i < 100; i++)
            sum += i;
#pragma omp sections
        {
#pragma omp section
            sum += 1;
#pragma omp section
            sum += 2;
        }
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 20; i++) {
#pragma omp ordered
            in_order += next++ == i;
        }
    }
    expect(sum == 14 * 4950 + 3 && in_order == 20, "loops, sections and ordered");
}

static void loop_regions(int num)
{
    long sum = 0;
    int line[40] = {0};
#pragma omp parallel for num_threads(num) schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma omp parallel for num_threads(num) schedule(static) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma omp parallel for num_threads(num) schedule(static, 1) ordered(1)
    for (int i = 1; i < 40; i++) {
#pragma omp ordered depend(sink : i - 1)
        line[i] = line[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    expect(sum == 2 * 4950 && line[39] == 39, "regions that are loops");
}

/* -- Tasks -- */

FIB_BY_TASKS(fib)

static void tasks(int num)
{
    int sum = 0, chain = 0, looped = 0, tree = 0, late = 0;
#pragma omp parallel num_threads(num)
    {
#pragma omp single nowait
        tree = fib(10);
        for (int i = 0; i < 20; i++) {
#pragma omp task
            __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
        }
#pragma omp taskwait
#pragma omp single
        for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : chain)
            chain = chain == i ? i + 1 : -100;
        }
#pragma omp single
#pragma omp taskloop grainsize(3)
        for (int i = 0; i < 50; i++)
            __atomic_fetch_add(&looped, 1, __ATOMIC_RELAXED);
        for (int i = 0; i < 5; i++) {
#pragma omp task /* nobody waits for these but the region */
            __atomic_fetch_add(&late, 1, __ATOMIC_RELAXED);
        }
    }
    expect(sum == 20 * num && chain == 20 && looped == 50 && tree == 55 && late == 5 * num, "tasks");
}

/* Only the end of the region waits. */
static void tasks_left(int num)
{
    int sum = 0;
#pragma omp parallel num_threads(num)
    for (int i = 0; i < 5; i++) {
#pragma omp task
        {
#pragma omp task
            __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
        }
    }
    expect(sum == 5 * num, "tasks that the end of the region waits for");
}

static void task_reductions(int num)
{
    int sum = 0;
#pragma omp parallel num_threads(num) reduction(task, + : sum)
    {
        sum += 1;
#pragma omp task in_reduction(+ : sum)
        sum += 10;
    }
    expect(sum == 11 * num, "reductions of tasks");
}

/* An event of a task of one member is fulfilled by another one. */
static void events(int num)
{
    omp_event_handle_t event;
    int is_made = 0, after = 0;
#pragma omp parallel num_threads(num)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp task detach(event)
            __atomic_store_n(&is_made, 1, __ATOMIC_RELEASE);
#pragma omp taskwait
            __atomic_store_n(&after, 1, __ATOMIC_RELAXED);
        } else if (omp_get_thread_num() == 1) {
            while (!__atomic_load_n(&is_made, __ATOMIC_ACQUIRE)) {
            }
            omp_fulfill_event(event);
        }
    }
    expect(after == 1, "an event of another member");
}

/* -- Cancellation -- */

static void cancels(int num)
{
    int after = 0, rounds = 0;
#pragma omp parallel num_threads(num)
    {
        if (omp_get_thread_num() == num - 1) {
#pragma omp cancel parallel
        }
#pragma omp barrier
        __atomic_fetch_add(&after, 1, __ATOMIC_RELAXED);
    }
#pragma omp parallel num_threads(num)
    {
#pragma omp for
        for (int i = 0; i < 1000; i++) {
            __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
#pragma omp cancel for
        }
    }
    expect(after == 0 && rounds >= 1 && rounds <= num, "cancellation");
}

/* -- Native threads that come and go -- */

static void *root_main(void *arg)
{
    int missing = 0;
    omp_set_max_active_levels(2);
    for (int i = 0; i < 5; i++) {
        int sum = 0;
#pragma omp parallel num_threads(2)
        {
#pragma omp parallel num_threads(3)
            __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
#pragma omp parallel num_threads(3)
            {
#pragma omp barrier
                __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
            }
        }
        missing += 12 - sum;
    }
    return (void *)(intptr_t)missing;
}

static void roots(void)
{
    pthread_t native[4];
    int missing = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&native[i], NULL, root_main, NULL);
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        pthread_join(native[i], &result);
        missing += (int)(intptr_t)result;
    }
    check(missing == 0, "native threads that come and go");
}

static int run_in_fork(void *arg)
{
    in_region(numbers, "a child of a fork");
    in_region(spins, "a child of a fork");
    return num_wrong != 0;
}

static void forks(void)
{
    if (!UNDER_TSAN && !is_emulated())
        check(child_run(run_in_fork, NULL, NULL, 0) == 0, "the child of a fork runs regions in regions");
}

static void run(void)
{
    in_region(numbers, "numbers");
    threads();
    few_are_busy();
    limit();
    in_region(third_level, "levels");
    in_region(barriers, "barriers");
    in_region(singles, "singles");
    in_region(exclusion, "exclusion");
    in_region(spins, "spins");
    in_region(native_waits, "waits");
    in_region(loops, "loops");
    in_region(loop_regions, "regions that are loops");
    in_region(tasks, "tasks");
    in_region(tasks_left, "tasks that are left");
    in_region(task_reductions, "reductions of tasks");
    in_region(events, "events");
    in_region(cancels, "cancellation");
    roots();
    forks();
    in_region(numbers, "numbers again");
}

static int num_together; /* regions of several members that ran on one thread */

/* Members that run on one thread have one place. On a busy machine others have threads: see watch.c. */
static void same_place(int num)
{
    int place = omp_get_place_num(), wrong = place < 0, here = 0;
    pthread_t thread = pthread_self();
#pragma omp parallel num_threads(num) reduction(+ : wrong, here)
    if (pthread_equal(pthread_self(), thread)) {
        here++;
        wrong += omp_get_place_num() != place;
    } else
        wrong += omp_get_place_num() < 0;
    expect(wrong == 0, "each member has a place, that of its thread");
    __atomic_fetch_add(&num_together, here == num, __ATOMIC_RELAXED);
}

static void run_bound(void)
{
    in_region(same_place, "places");
    check(num_together > 0, "members that do not wait run where the one around them is");
    in_region(numbers, "numbers");
    in_region(barriers, "barriers");
    in_region(tasks, "tasks");
}

int main(void)
{
    watchdog_begin(0);
    run_modes(run);
    watchdog_begin(0);
    setenv("OMP_PROC_BIND", "true", 1);
    run_in_child("u", run_bound);
    return done_testing();
}

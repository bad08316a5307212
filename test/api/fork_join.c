/* SPDX-License-Identifier: BSD-3-Clause */
/* abt_fork.h: tasks, loops, reductions and functions side by side, by callers of all kinds. */
#include <abt_fork.h>
#include <sys/resource.h>
#include "common.h"

enum { STREAMS = 3 };

static ABT_xstream streams[STREAMS];

/* --- Tasks --- */

ABTX_TASK(long, fib, (int, n))
{
    if (n < 2)
        return n;
    ABTX_FORK(fib, one, n - 1);
    long two = ABTX_CALL(fib, n - 2);
    return ABTX_JOIN(fib, one) + two;
}

ABTX_TASK_DECLARE(int, is_odd, (int, n));

ABTX_TASK(int, is_even, (int, n))
{
    if (n == 0)
        return 1;
    ABTX_FORK(is_odd, rest, n - 1);
    return ABTX_JOIN(is_odd, rest);
}

ABTX_TASK_DEFINE(int, is_odd, (int, n))
{
    return n == 0 ? 0 : ABTX_CALL(is_even, n - 1);
}

ABTX_TASK(double, sum_of_six, (char, a), (short, b), (int, c), (long, d), (float, e), (const double *, f))
{
    (void)abtx_here;
    return a + b + c + (double)d + e + *f;
}

ABTX_TASK(double, forks_six, (double, f))
{
    ABTX_FORK(sum_of_six, sum, 1, 2, 3, 4L, 5.0F, &f);
    return ABTX_JOIN(sum_of_six, sum);
}

ABTX_TASK(int, seven)
{
    (void)abtx_here;
    return 7;
}

ABTX_TASK(int, sum_of_eight, (int, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h))
{
    ABTX_FORK(seven, more);
    int called = ABTX_CALL(seven);
    return a + b + c + d + e + f + g + h + called + ABTX_JOIN(seven, more);
}

ABTX_VOID_TASK_DECLARE(count_down, (atomic_int *, count), (int, n));

ABTX_VOID_TASK(count_up, (atomic_int *, count), (int, n))
{
    atomic_fetch_add(count, 1);
    if (n > 0) {
        ABTX_FORK(count_down, down, count, n - 1);
        ABTX_CALL(count_up, count, n - 1);
        ABTX_JOIN(count_down, down);
    }
}

ABTX_VOID_TASK_DEFINE(count_down, (atomic_int *, count), (int, n))
{
    ABTX_FORK(count_up, up, count, n);
    ABTX_JOIN(count_up, up);
}

static atomic_int bells;

ABTX_VOID_TASK(ring)
{
    (void)abtx_here;
    atomic_fetch_add(&bells, 1);
}

ABTX_VOID_TASK(ring_twice)
{
    ABTX_FORK(ring, bell);
    ABTX_CALL(ring);
    ABTX_JOIN(ring, bell);
}

/* Forks more than a deque has room for, each in a frame of its own. */
ABTX_TASK(long, deep, (long, n))
{
    if (n == 0)
        return 0;
    ABTX_FORK(fib, leaf, 2);
    long below = ABTX_CALL(deep, n - 1);
    return below + ABTX_JOIN(fib, leaf);
}

static void test_tasks(const char *caller)
{
    is_int(ABTX_RUN(fib, 20), 6765, "%s: a tree of tasks", caller);
    ok(ABTX_RUN(is_even, 100) && !ABTX_RUN(is_even, 101), "%s: tasks that call each other", caller);
    is_int((int)ABTX_RUN(forks_six, 6.0), 21, "%s: six parameters", caller);
    is_int(ABTX_RUN(sum_of_eight, 1, 2, 3, 4, 5, 6, 7, 8), 50, "%s: eight parameters, and none", caller);
    atomic_int count = 0;
    ABTX_RUN(count_up, &count, 10);
    is_int(atomic_load(&count), (1 << 11) - 1, "%s: tasks without a result", caller);
    atomic_store(&bells, 0);
    ABTX_RUN(ring_twice);
    is_int(atomic_load(&bells), 2, "%s: and without parameters", caller);
}

/* --- Loops and the rest --- */

enum { MANY = 20000 };

static atomic_char marks[MANY];

static void mark(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    for (ptrdiff_t i = begin; i < end; i++)
        atomic_fetch_add(&marks[i], 1);
}

static void inner_loop(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    for (ptrdiff_t i = begin; i < end; i++)
        abtx_for(i * 100, (i + 1) * 100, 7, mark, arg);
}

static bool all_marks_are(int value)
{
    for (int i = 0; i < MANY; i++) {
        if (atomic_load(&marks[i]) != value)
            return false;
    }
    return true;
}

static void add_up(ptrdiff_t begin, ptrdiff_t end, void *sum, void *arg)
{
    for (ptrdiff_t i = begin; i < end; i++)
        *(long *)sum += i;
}

static void add(void *left, const void *right, void *arg)
{
    *(long *)left += *(const long *)right;
}

struct big {
    long sum;
    char padding[1000];
};

static atomic_int invoked;

static void add_number(void *arg)
{
    atomic_fetch_add(&invoked, *(int *)arg);
}

static void test_loops(const char *caller)
{
    static const long zero;
    static const struct big big_zero;
    struct abtx_reduction how = {sizeof(long), &zero, add_up, add, NULL};
    struct abtx_reduction big = {sizeof(struct big), &big_zero, add_up, add, NULL};
    struct big big_sum = {.sum = 5};
    void (*funcs[])(void *) = {add_number, add_number, add_number};
    int numbers[] = {1, 20, 300};
    void *args[] = {&numbers[0], &numbers[1], &numbers[2]};
    long sum = 1;

    for (int i = 0; i < MANY; i++)
        atomic_store(&marks[i], 0);
    abtx_for(0, MANY, 13, mark, NULL);
    abtx_for(0, MANY, 0, mark, NULL); /* a grain of 1 */
    abtx_for(7, 7, 1, mark, NULL);
    ok(all_marks_are(2), "%s: a loop does each element once", caller);
    abtx_for(0, MANY / 100, 1, inner_loop, NULL);
    ok(all_marks_are(3), "%s: a loop in a loop, too", caller);
    abtx_reduce(0, MANY, 10, &how, &sum);
    is_int(sum, 1 + (long)MANY * (MANY - 1) / 2, "%s: a reduction adds to its result", caller);
    abtx_reduce(0, MANY, 10, &big, &big_sum);
    is_int(big_sum.sum, 5 + (long)MANY * (MANY - 1) / 2, "%s: a large sum", caller);
    atomic_store(&invoked, 0);
    abtx_invoke(3, funcs, args);
    abtx_invoke(0, funcs, args);
    is_int(atomic_load(&invoked), 321, "%s: functions side by side", caller);
}

static void test_all(void *arg)
{
    test_tasks(arg);
    test_loops(arg);
}

static void *test_all_outside(void *arg)
{
    test_all(arg);
    return NULL;
}

static void test_in_thread(const char *caller)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, test_all_outside, (void *)(uintptr_t)caller) != 0)
        bail_out("no thread");
    pthread_join(thread, NULL);
}

/* --- A sibling that is waited for --- */

ABTX_TASK(int, set_it, (ABT_eventual, eventual))
{
    (void)abtx_here;
    must(ABT_eventual_set(eventual, NULL, 0));
    return 1;
}

ABTX_TASK(int, wait_for_it, (ABT_eventual, eventual))
{
    ABTX_FORK(set_it, sibling, eventual);
    must(ABT_eventual_wait(eventual, NULL));
    return ABTX_JOIN(set_it, sibling);
}

static void sibling(void *arg)
{
    ABT_eventual eventual;

    must(ABT_eventual_create(0, &eventual));
    is_int(ABTX_RUN(wait_for_it, eventual), 1, "a task may wait for one that it has forked");
    must(ABT_eventual_free(&eventual));
}

static void test_sibling(int team)
{
    ABT_pool pool;

    must(ABTX_fork_start(team, &streams[STREAMS - team]));
    must(ABT_xstream_get_main_pools(streams[STREAMS - 1], 1, &pool));
    ABT_thread thread = ult_in(pool, sibling, NULL);
    must(ABT_thread_free(&thread));
    must(ABTX_fork_stop());
}

/* --- Others take tasks --- */

static atomic_int there;

/* Ends when all functions of its kind run at the same time. */
static void meet(void *arg)
{
    atomic_fetch_add(&there, 1);
    wait_for(atomic_load(&there) >= STREAMS);
}

static void test_meeting(void)
{
    void (*funcs[STREAMS])(void *) = {meet, meet, meet};
    void *args[STREAMS] = {NULL};

    must(ABTX_fork_start(STREAMS, streams));
    for (int i = 0; i < 20; i++) {
        atomic_store(&there, 0);
        abtx_invoke(STREAMS, funcs, args);
    }
    pass("functions side by side may wait for each other");
    must(ABTX_fork_stop());
}

/* --- Nobody takes tasks any more --- */

static void wait_a_while(void *arg)
{
    double end = now() + 0.02;

    while (!atomic_load((atomic_bool *)arg) && now() < end)
        let_others_run();
}

static void set_flag(void *arg)
{
    atomic_store((atomic_bool *)arg, true);
}

static void test_stopped(void)
{
    atomic_bool flag = false;
    void (*funcs[])(void *) = {wait_a_while, set_flag};
    void *args[] = {&flag, &flag};

    must(ABTX_fork_start(STREAMS, streams));
    must(ABTX_fork_stop());
    double begin = now();
    abtx_invoke(2, funcs, args);
    ok(now() - begin >= 0.02, "nobody takes tasks when it is stopped");
}

/* --- What goes wrong --- */

static void deep_ult(void *arg)
{
    is_int(ABTX_RUN(deep, 5000), 5000, "more tasks than a deque has room for");
}

static void test_full_deque(void)
{
    ABT_thread_attr attr;
    ABT_pool pool;
    ABT_thread thread;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 16 << 20));
    must(ABT_xstream_get_main_pools(streams[1], 1, &pool));
    must(ABT_thread_create(pool, deep_ult, NULL, attr, &thread));
    must(ABT_thread_free(&thread));
    must(ABT_thread_attr_free(&attr));
}

static void test_arguments(void)
{
    ABT_xstream bad[2] = {streams[0], ABT_XSTREAM_NULL};

    ok_err(ABTX_fork_start(-1, streams), ABT_ERR_INV_ARG);
    ok_err(ABTX_fork_start(2, bad), ABT_ERR_INV_XSTREAM);
    ok_abt(ABTX_fork_start(0, NULL));
    ok_abt(ABTX_fork_start(1, streams));
    ok_abt(ABTX_fork_start(STREAMS, streams));
    ok_abt(ABTX_fork_stop());
    ok_abt(ABTX_fork_stop());
}

/* A thread outside of the library does not know when that ends. */
static atomic_int stage;

static void take_part(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    mark(begin, end, arg);
    if (begin == 0) {
        atomic_store(&stage, 1);
        for (double stop = now() + patience(); atomic_load(&stage) < 2 && now() < stop;)
            nap_ms(0.1);
    }
}

static void *loop_outside(void *arg)
{
    abtx_for(0, MANY, 10, take_part, arg);
    return NULL;
}

static void test_end_meanwhile(void)
{
    pthread_t thread;

    for (int i = 0; i < MANY; i++)
        atomic_store(&marks[i], 0);
    must(ABT_init(0, NULL));
    if (pthread_create(&thread, NULL, loop_outside, NULL) != 0)
        bail_out("no thread");
    wait_for(atomic_load(&stage) == 1);
    must(ABT_finalize());
    atomic_store(&stage, 2);
    pthread_join(thread, NULL);
    ok(all_marks_are(1), "a thread outside forks while the library ends");
    test_all("after ABT_finalize");
}

int main(void)
{
    ok_err(ABTX_fork_start(0, NULL), ABT_ERR_UNINITIALIZED);
    ok_err(ABTX_fork_stop(), ABT_ERR_UNINITIALIZED);
    test_all("before ABT_init");
    must(ABT_init(0, NULL));
    must(ABT_xstream_self(&streams[0]));
    for (int i = 1; i < STREAMS; i++)
        must(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
    test_arguments();
    test_all("nobody takes tasks");
    test_sibling(1);
    test_sibling(STREAMS);
    must(ABTX_fork_start(STREAMS, streams));
    for (int round = 0; round < 5; round++) {
        ABT_pool pool;
        ABT_thread thread;
        test_all("the primary ULT");
        must(ABT_xstream_get_main_pools(streams[1], 1, &pool));
        must(ABT_thread_create(pool, test_all, "a ULT", ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
        must(ABT_task_create(pool, test_all, "a tasklet", &thread));
        must(ABT_thread_free(&thread));
        test_in_thread("a thread outside");
    }
    test_full_deque();
    must(ABTX_fork_stop());
    test_meeting();
    test_stopped();
    for (int i = 1; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_finalize());
    test_end_meanwhile();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the operating system on the work that makes sense for them. */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels.h"
#include "suite_native.h"

enum { MAX_THREADS = 256, OPERATIONS = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static long each, count;
static int turn, num_threads;

static void start(pthread_t *thread, void *(*func)(void *), void *arg)
{
    if (pthread_create(thread, NULL, func, arg)) {
        perror("pthread_create");
        exit(1);
    }
}

static void run_threads(void *(*func)(void *))
{
    pthread_t threads[MAX_THREADS];
    for (int i = 0; i < num_threads; i++)
        start(&threads[i], func, (void *)(intptr_t)i);
    for (int i = 0; i < num_threads; i++)
        pthread_join(threads[i], NULL);
}

static void *nothing(void *arg)
{
    return arg;
}

static void *yields(void *arg)
{
    for (long n = each; n > 0; n--)
        sched_yield();
    return arg;
}

static void *locks(void *arg)
{
    for (long n = each; n > 0; n--) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static void *locks_and_yields(void *arg)
{
    for (long n = each; n > 0; n--) {
        pthread_mutex_lock(&mutex);
        long before = count;
        sched_yield();
        count = before + 1;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static void *takes_turns(void *arg)
{
    int me = (int)(intptr_t)arg;
    pthread_mutex_lock(&mutex);
    for (long n = each; n > 0; n--) {
        while (turn != me)
            pthread_cond_wait(&cond, &mutex);
        turn = !me;
        count++;
        pthread_cond_signal(&cond);
    }
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void *meets(void *arg)
{
    for (long n = each; n > 0; n--) {
        pthread_barrier_wait(&barrier);
        if (!arg)
            count += num_threads;
    }
    return arg;
}

static void *(*const bodies[])(void *) = {nothing, yields, locks, locks_and_yields, takes_turns, meets};
enum { NOTHING, YIELDS, LOCKS, LOCKS_AND_YIELDS, TAKES_TURNS, MEETS };

static void batch(void *arg)
{
    const struct suite_work *work = arg;
    count = 0;
    turn = 0;
    run_threads(bodies[work->variant]);
    if (work->variant >= LOCKS)
        suite_expect(count, each * num_threads, "the number of operations");
}

static void run(const struct suite_work *work)
{
    num_threads = (int)work->n;
    each = work->variant == NOTHING ? 1 : OPERATIONS / num_threads;
    pthread_barrier_init(&barrier, NULL, (unsigned)num_threads);
    suite_run(batch, (void *)work, (double)(each * num_threads));
    pthread_barrier_destroy(&barrier);
}

/* ---- One creator ---- */

static pthread_t made[MAX_THREADS];

static void create_all(void *arg)
{
    for (int i = 0; i < MAX_THREADS; i++)
        start(&made[i], nothing, NULL);
}

static void join_all(void *arg)
{
    for (int i = 0; i < MAX_THREADS; i++)
        pthread_join(made[i], NULL);
}

static void run_steps(const struct suite_work *work)
{
    suite_run_steps((enum suite_step)work->variant, create_all, join_all, NULL, (double)work->n);
}

/* ---- Loops and tasks ---- */

enum { PARENTS = 100, TASKS = 1000, ROWS = 1000, COLUMNS = KERNEL_SCAL_N };

struct range {
    int begin, end, row;
    pthread_t thread;
};

static float matrix[ROWS][COLUMNS];
static float factor = 2;

static void *scal(void *arg)
{
    const struct range *r = arg;
    kernel_scal(matrix[r->row], r->begin, r->end, factor);
    return NULL;
}

/* A range in parts: a thread for each but the first. */
static void in_parts(const struct range *all, struct range *parts, int num, void *(*func)(void *))
{
    int length = all->end - all->begin;
    for (int i = 0; i < num; i++) {
        parts[i].row = all->row;
        parts[i].begin = all->begin + length * i / num;
        parts[i].end = all->begin + length * (i + 1) / num;
        if (i > 0)
            start(&parts[i].thread, func, &parts[i]);
    }
    func(&parts[0]);
    for (int i = 1; i < num; i++)
        pthread_join(parts[i].thread, NULL);
}

static void *scal_each(void *arg)
{
    const struct range *r = arg;
    int num = r->end - r->begin;
    struct range *parts = malloc((size_t)num * sizeof(*parts));
    if (!parts)
        exit(1);
    in_parts(r, parts, num, scal);
    free(parts);
    return NULL;
}

static void *scal_rows(void *arg)
{
    const struct range *rows = arg;
    struct range parts[SUITE_MAX_STREAMS];
    for (int row = rows->begin; row < rows->end; row++) {
        struct range all = {.begin = 0, .end = COLUMNS, .row = row};
        in_parts(&all, parts, suite_streams > 1 ? suite_streams : 2, scal);
    }
    return NULL;
}

static const struct {
    int num; /* of parts; 0: one a stream */
    void *(*func)(void *);
} loops[] = {{0, scal}, {TASKS, scal}, {0, scal_each}, {0, scal_rows}, {PARENTS, scal_each}};
enum { FOR_LOOP, TASKS_SINGLE, TASKS_PARALLEL, NESTED, NESTED_TASKS };

static void loop(void *arg)
{
    static struct range parts[TASKS];
    const struct suite_work *work = arg;
    struct range all = {.begin = 0, .end = TASKS, .row = 0};
    int num = loops[work->variant].num;
    in_parts(&all, parts, num > 0 ? num : suite_streams, loops[work->variant].func);
    factor = 2.5F - factor;
}

static void run_loop(const struct suite_work *work)
{
    kernel_fill(matrix[0], ROWS * COLUMNS);
    suite_run(loop, (void *)work, 1);
    kernel_expect_scaled(matrix[0], (int)work->n * COLUMNS, factor);
}

/* ---- Memory of a thread that waits ---- */

static void *waits(void *arg)
{
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return arg;
}

static void run_memory(const struct suite_work *work)
{
    static pthread_t threads[MAX_THREADS];
    struct suite_samples samples = {NULL, 0, 0};
    pthread_barrier_init(&barrier, NULL, MAX_THREADS + 1);
    long before = suite_resident();
    for (int i = 0; i < MAX_THREADS; i++)
        start(&threads[i], waits, NULL);
    pthread_barrier_wait(&barrier);
    suite_add(&samples, (double)(suite_resident() - before) / MAX_THREADS);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < MAX_THREADS; i++)
        pthread_join(threads[i], NULL);
    suite_report(&samples, 1);
}

/* ---- Beside libabt's objects ---- */

static void run_native(const struct suite_work *work)
{
    native_pthread_start((int)work->n);
    suite_native(work, &native_pthread);
    native_pthread_stop();
}

/* ---- A thread that sleeps, until it runs when it is woken by a bare system call ---- */

static _Atomic(int) word; /* how often it was woken; below 0: it ends */
static _Atomic(double) awake;

static void *sleeps(void *arg)
{
    for (int seen = 0; seen >= 0; seen = word) {
        while (word == seen)
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
        awake = suite_now_ns();
    }
    return arg;
}

static void wake(int value)
{
    word = value;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* What the waker does before and after, in nanoseconds. */
static void measure_wakes(long pause, void (*then)(long), long ns)
{
    struct suite_samples samples = {NULL, 0, 0};
    double end = suite_now_ns() + 20 * suite_budget_ns;
    pthread_t thread;
    start(&thread, sleeps, NULL);
    while (samples.num < 5 || suite_now_ns() < end) {
        suite_sleep(pause);
        awake = 0;
        double begin = suite_now_ns();
        wake(word + 1);
        then(ns);
        while (awake == 0)
            ;
        suite_add(&samples, awake - begin);
    }
    wake(-1);
    pthread_join(thread, NULL);
    suite_report(&samples, 1);
}

static void run_first(const struct suite_work *work)
{
    measure_wakes(3000000, suite_compute, 1000000);
}

static void run_blocks(const struct suite_work *work)
{
    measure_wakes(50000, suite_sleep, work->n);
}

static void run_computes(const struct suite_work *work)
{
    measure_wakes(50000, suite_compute, work->n);
}

static const struct suite_work works[] = {
    {"create-256", "", "*", run, 256, NOTHING},
    {"create-thread", "", "1", run, 1, NOTHING},
    {"yield-2", "", "1", run, 2, YIELDS},
    {"yield-256", "", "1", run, 256, YIELDS},
    {"mutex", "", "1", run, 1, LOCKS},
    {"mutex-8", "", "*", run, 8, LOCKS_AND_YIELDS},
    {"cond", "", "*", run, 2, TAKES_TURNS},
    {"barrier-64", "", "*", run, 64, MEETS},
    {"for-loop", "", "*", run_loop, 1, FOR_LOOP},
    {"tasks-single", "", "*", run_loop, 1, TASKS_SINGLE},
    {"tasks-parallel", "", "*", run_loop, 1, TASKS_PARALLEL},
    {"nested", "", "*", run_loop, ROWS, NESTED},
    {"nested-tasks", "", "*", run_loop, 1, NESTED_TASKS},
    {"step-create", "", "*", run_steps, MAX_THREADS, SUITE_CREATE},
    {"step-join", "", "*", run_steps, MAX_THREADS, SUITE_JOIN},
    {"step-both", "", "*", run_steps, MAX_THREADS, SUITE_BOTH},
    {"memory-blocked", "", "1", run_memory, 0, NOTHING},
    SUITE_NATIVE_WORKS(run_native),
    {"first-task", "a bare futex", "2", run_first, 0, NOTHING},
    {"blocks-10us", "a bare futex", "2", run_blocks, 10000, NOTHING},
    {"blocks-100us", "a bare futex", "2", run_blocks, 100000, NOTHING},
    {"blocks-1ms", "a bare futex", "2", run_blocks, 1000000, NOTHING},
    {"computes-1ms", "a bare futex", "2", run_computes, 1000000, NOTHING},
};

int main(int argc, char **argv)
{
    return suite_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}

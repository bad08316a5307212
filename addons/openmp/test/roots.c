/* SPDX-License-Identifier: BSD-3-Clause */
/* Native threads that open regions at the same time, one after another, and after a fork; their teams end with them. */
#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sanitizers.h"
#include "tap.h"
#include "watchdog.h"

enum { THREADS = 8, REGIONS = 50, MEMBERS = 3 };

static int value;
#pragma omp threadprivate(value)

/* Runs regions of three members. Gives how many members were not there. */
static int run_regions(int num)
{
    int missing = 0;
    for (int k = 0; k < num; k++) {
        int members = 0;
#pragma omp parallel num_threads(MEMBERS)
        {
#pragma omp barrier
            __atomic_fetch_add(&members, 1, __ATOMIC_RELAXED);
        }
        missing += MEMBERS - members;
    }
    return missing;
}

static void *thread_main(void *arg)
{
    *(int *)arg = run_regions(REGIONS);
    return NULL;
}

static void many_roots(void)
{
    pthread_t threads[THREADS];
    int missing[THREADS], all = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, thread_main, &missing[i]);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            all += missing[i];
        }
    }
    is_int(all, 0, "each of many native threads has a team of its own");
}

/* Each root asks for threads when all are there, and again when all but one have gone. */
static pthread_barrier_t meeting;
static int num_alone;

static void *share_main(void *arg)
{
    int *num = arg;
    (void)omp_get_max_threads();
    pthread_barrier_wait(&meeting);
    *num = omp_get_max_threads();
    pthread_barrier_wait(&meeting);
    return NULL;
}

static void shares(void)
{
    pthread_t threads[THREADS];
    int nums[THREADS], wrong = 0;
    num_alone = omp_get_max_threads();
    pthread_barrier_init(&meeting, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, share_main, &nums[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong += nums[i] < 1 || (num_alone > 1 && nums[i] >= num_alone);
    }
    pthread_barrier_destroy(&meeting);
    is_int(wrong, 0, "native threads share the processors");
    is_int(omp_get_max_threads(), num_alone, "one that is left has them all again");
}

static void threadprivate(void)
{
    int wrong = 0;
    value = 5;
#pragma omp parallel num_threads(MEMBERS) copyin(value) reduction(+ : wrong)
    {
        wrong += value != 5;
        value = omp_get_thread_num();
    }
#pragma omp parallel num_threads(MEMBERS) reduction(+ : wrong)
    wrong += value != omp_get_thread_num();
    is_int(wrong, 0, "threads of a team stay: their variables have the values of the last region");
}

static void forks(void)
{
    if (UNDER_TSAN) {
        skip(2, "TSan allows no threads in the child of a fork of many");
        return;
    }
    run_regions(1);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(100);
        _exit(run_regions(REGIONS) == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    is_int(status, 0, "the child of a fork runs regions");
    is_int(run_regions(REGIONS), 0, "its parent does so, too");
}

static omp_event_handle_t event_of_root;
static int has_event, order;

static void *detach_main(void *arg)
{
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : order)
    {
        event_of_root = event;
        __atomic_store_n(&has_event, 1, __ATOMIC_RELEASE);
    }
#pragma omp task depend(inout : order)
    order++;
    return arg;
}

/* A root's thread does not end before the event of its task has come. */
static void detached(void)
{
    enum { LOOKS = 100, LOOK_US = 1000 };
    pthread_t root;
    bool has_ended = false;
    if (pthread_create(&root, NULL, detach_main, NULL) != 0)
        bail_out("pthread_create");
    while (!__atomic_load_n(&has_event, __ATOMIC_ACQUIRE))
        usleep(LOOK_US);
    for (int i = 0; i < LOOKS && !has_ended; i++) {
        usleep(LOOK_US);
        has_ended = pthread_tryjoin_np(root, NULL) == 0;
    }
    ok(!has_ended, "a root waits for the event of its task");
    if (has_ended)
        return; /* its team has gone */
    omp_fulfill_event(event_of_root);
    pthread_join(root, NULL);
    is_int(order, 1, "the task that depends on it has run");
}

int main(void)
{
    watchdog_begin(0);
    shares();
    is_int(run_regions(REGIONS), 0, "the first native thread runs regions");
    many_roots();
    threadprivate();
    detached();
    forks();
    return done_testing();
}

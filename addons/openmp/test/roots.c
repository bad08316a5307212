/* SPDX-License-Identifier: BSD-3-Clause */
/* Native threads that open regions at the same time, one after another, and after a fork; their teams end with them. */
#include <dlfcn.h>
#include <link.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
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

/* -- How many members a region has that says nothing -- */

static int num_procs; /* that a root alone has */

static int count_members(void)
{
    int members = 0;
#pragma omp parallel reduction(+ : members)
    members++;
    return members;
}

/* A root that is in a region between two meetings. */
static pthread_barrier_t meeting;

static void *hold_main(void *arg)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        pthread_barrier_wait(&meeting);
        pthread_barrier_wait(&meeting);
    }
    return arg;
}

static void hold(pthread_t *holders, int num)
{
    pthread_barrier_init(&meeting, NULL, (unsigned)num + 1);
    for (int i = 0; i < num; i++)
        if (pthread_create(&holders[i], NULL, hold_main, NULL) != 0)
            bail_out("pthread_create");
    pthread_barrier_wait(&meeting);
}

static void let_go(pthread_t *holders, int num)
{
    pthread_barrier_wait(&meeting);
    for (int i = 0; i < num; i++)
        pthread_join(holders[i], NULL);
    pthread_barrier_destroy(&meeting);
}

/* The first call comes from a thread that is bound to one processor, and is no longer. */
static int first_bound(void *arg)
{
    cpu_set_t all, one;
    int first = 0;
    if (sched_getaffinity(0, sizeof(all), &all) != 0)
        return 0;
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    (void)sched_setaffinity(0, sizeof(one), &one);
    bool is_right = omp_get_num_procs() == 1;
    (void)sched_setaffinity(0, sizeof(all), &all);
    is_right = is_right && omp_get_num_procs() == CPU_COUNT(&all) && omp_get_max_threads() == CPU_COUNT(&all);
    return is_right ? 0 : 1;
}

static void bound(void)
{
    is_int(child_run(first_bound, NULL, NULL, 0), 0,
           "omp_get_num_procs follows the calling thread, and regions do not follow the first one");
}

/* Nobody has asked how many there are. */
static void *idle_main(void *arg)
{
    (void)run_regions(1);
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    return arg;
}

static void idle(void)
{
    enum { IDLE_US = 150000 };
    pthread_t root, holders[2];
    pthread_barrier_init(&meeting, NULL, 2);
    if (pthread_create(&root, NULL, idle_main, NULL) != 0)
        bail_out("pthread_create");
    pthread_barrier_wait(&meeting);
    usleep(IDLE_US);
    is_int(count_members(), num_procs, "a root that opens no regions takes no share");
    pthread_barrier_wait(&meeting);
    pthread_join(root, NULL);
    hold(holders, 2);
    is_int(count_members(), num_procs > 3 ? num_procs / 3 : 1, "roots that are in regions share the processors");
    let_go(holders, 2);
    is_int(count_members(), num_procs, "one that is left has them all");
}

static void *count_main(void *arg)
{
    *(int *)arg = count_members();
    return NULL;
}

/* What a root was told is what its next region has. */
static void told(void)
{
    pthread_t holders[2], other;
    int members = 0;
    hold(holders, 1);
    int few = omp_get_max_threads();
    is_int(few, num_procs > 2 ? num_procs / 2 : 1, "a root is told its share");
    let_go(holders, 1);
    is_int(count_members(), few, "its regions have as many members as it was told, though it is alone");
    is_int(omp_get_max_threads(), num_procs, "it is told when it asks again");
    hold(holders, 2);
    is_int(count_members(), num_procs, "its regions have no fewer, though it has a smaller share");
    if (pthread_create(&other, NULL, count_main, &members) != 0)
        bail_out("pthread_create");
    pthread_join(other, NULL);
    is_int(members, num_procs, "a root that has not asked has as many as any was told");
    let_go(holders, 2);
}

/* -- What threadpoolctl of Python does, which scikit-learn and joblib use -- */

struct openmp {
    void (*set)(int num);
    int (*get)(void);
    int num; /* of loaded files with such a name */
};

/* It looks for loaded files whose real names begin so, and calls functions of theirs. */
static int look_at_file(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct openmp *openmp = arg;
    char *path = realpath(info->dlpi_name, NULL);
    const char *name = path ? strrchr(path, '/') : NULL;
    if (name && strncmp(name, "/libgomp", 8) == 0) {
        void *library = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
        openmp->set = library ? (void (*)(int))dlsym(library, "omp_set_num_threads") : NULL;
        openmp->get = library ? (int (*)(void))dlsym(library, "omp_get_max_threads") : NULL;
        openmp->num++;
    }
    free(path);
    return 0;
}

/* Sets limits and puts back what was there. Gives how many of the caller's regions had another number of members. */
static int try_limits(void)
{
    struct openmp openmp = {0};
    (void)dl_iterate_phdr(look_at_file, &openmp);
    if (openmp.num != 1 || !openmp.set || !openmp.get)
        return -1;
    int before = openmp.get(), wrong = 0;
    for (int limit = 1; limit <= 3; limit++) {
        openmp.set(limit);
        wrong += openmp.get() != limit || count_members() != limit;
    }
    openmp.set(before);
    return wrong + (openmp.get() != before) + (count_members() != before);
}

static void *limit_main(void *arg)
{
    *(int *)arg = try_limits();
    return NULL;
}

static void limits(void)
{
    pthread_t other;
    int wrong = -1;
    is_int(try_limits(), 0, "limits of who finds the library by its real name hold");
    if (pthread_create(&other, NULL, limit_main, &wrong) != 0)
        bail_out("pthread_create");
    pthread_join(other, NULL);
    is_int(wrong, 0, "those of another thread do, too");
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

static int run_again(void *arg)
{
    return run_regions(REGIONS);
}

static void forks(void)
{
    if (UNDER_TSAN) {
        skip(2, "TSan allows no threads in the child of a fork of many");
        return;
    }
    run_regions(1);
    is_int(child_run(run_again, NULL, NULL, 0), 0, "the child of a fork runs regions");
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
    bound();
    num_procs = omp_get_num_procs();
    idle();
    told();
    is_int(run_regions(REGIONS), 0, "the first native thread runs regions");
    many_roots();
    threadprivate();
    limits();
    detached();
    forks();
    return done_testing();
}

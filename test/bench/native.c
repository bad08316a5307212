/* SPDX-License-Identifier: BSD-3-Clause */
#include "native.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_THREADS = 256 };

/* ---- pthread's objects ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

static void lock(void)
{
    pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

static void wait(void)
{
    pthread_cond_wait(&cond, &mutex);
}

static void wake_one(void)
{
    pthread_cond_signal(&cond);
}

static void wake_all(void)
{
    pthread_cond_broadcast(&cond);
}

static void meet(void)
{
    pthread_barrier_wait(&barrier);
}

const struct native_kind native_pthread = {lock, unlock, wait, wake_one, wake_all, meet};

void native_pthread_start(int threads)
{
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
}

void native_pthread_stop(void)
{
    pthread_barrier_destroy(&barrier);
}

/* ---- What the threads do ---- */

/* What the threads of one measurement share. */
static struct {
    const struct native_kind *kind;
    enum native_work work;
    int threads;
    long each; /* operations of one thread */
    long count, tokens, generation;
    int here;
    cpu_set_t cores;
} run;

static void locks(int me)
{
    for (long n = run.each; n > 0; n--) {
        run.kind->lock();
        run.count++;
        run.kind->unlock();
    }
}

static void signals(int me)
{
    for (long n = run.each; n > 0; n--) {
        run.kind->lock();
        if (me % 2 == 0) {
            run.tokens++;
            run.kind->signal();
        }
        if (me % 2 == 1 || run.threads == 1) {
            while (run.tokens == 0)
                run.kind->wait();
            run.tokens--;
        }
        run.count++;
        run.kind->unlock();
    }
}

static void broadcasts(int me)
{
    for (long n = run.each; n > 0; n--) {
        run.kind->lock();
        long mine = run.generation;
        run.count++;
        if (++run.here == run.threads) {
            run.here = 0;
            run.generation++;
            run.kind->broadcast();
        }
        while (mine == run.generation)
            run.kind->wait();
        run.kind->unlock();
    }
}

static void meets(int me)
{
    for (long n = run.each; n > 0; n--) {
        run.kind->meet();
        if (me == 0)
            run.count += run.threads; /* only the first one counts, for all */
    }
}

static void (*const bodies[])(int me) = {locks, signals, broadcasts, meets};

void native_stay_on_core(int n, const cpu_set_t *cores)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, cores) && n-- == 0)
            CPU_SET(cpu, &one);
    }
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

static void *begin(void *arg)
{
    int me = (int)(intptr_t)arg;
    if (run.threads <= CPU_COUNT(&run.cores))
        native_stay_on_core(me, &run.cores);
    bodies[run.work](me);
    return NULL;
}

/* ---- Measuring ---- */

static double wall_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

void native_measure(const struct native_kind *kind, enum native_work work, int threads, long total, double *wall,
                    double *cpu)
{
    pthread_t ids[MAX_THREADS];
    run.kind = kind;
    run.work = work;
    run.threads = threads;
    run.each = total / threads;
    run.count = run.tokens = run.here = 0;
    sched_getaffinity(0, sizeof(run.cores), &run.cores);
    double operations = (double)(run.each * threads);
    *wall = wall_ns();
    *cpu = cpu_ns();
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&ids[i], NULL, begin, (void *)(intptr_t)i)) {
            perror("pthread_create");
            exit(1);
        }
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    *wall = (wall_ns() - *wall) / operations;
    *cpu = (cpu_ns() - *cpu) / operations;
    if (run.count != run.each * threads) {
        fprintf(stderr, "wrong answer: %ld operations, not %ld\n", run.count, run.each * threads);
        exit(1);
    }
}

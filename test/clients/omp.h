/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An OpenMP runtime in the style of BOLT, over the places of omp_places.h. A team is a set of ULTs that outlives its
 * parallel region: the next region revives them. The ULT that meets a region is number 0 of the new team. Who a ULT is
 * tells its argument. Tasks are ULTs, too.
 */
#ifndef TEST_CLIENTS_OMP_H
#define TEST_CLIENTS_OMP_H

#include "omp_places.h"

enum { MAX_TEAM = 16, STACK_SIZE = 64 * 1024 };

struct team;

struct worker {
    ABT_thread thread; /* null: has never run. Unused in number 0, who is somebody else outside */
    int number;
    struct team *team;
    struct team *inner; /* the team of the regions that it meets, kept */
};

struct team {
    int size;
    void (*body)(void *arg);
    void *arg;
    ABT_barrier barrier;
    struct worker workers[MAX_TEAM];
};

static atomic_long workers_made, workers_revived;

/* Outside of all regions main is a worker of a team of one. */
static struct team initial_team = {.size = 1, .workers = {{.team = &initial_team}}};

static inline struct worker *omp_self(void)
{
    ABT_thread self;
    void *worker;

    must(ABT_thread_self(&self));
    must(ABT_thread_get_arg(self, &worker));
    return worker;
}

static inline ABT_pool omp_own_pool(void)
{
    int rank;

    must(ABT_xstream_self_rank(&rank));
    return omp.pools[rank];
}

static inline void omp_barrier(void)
{
    must(ABT_barrier_wait(omp_self()->team->barrier));
}

/* ---- Teams ---- */

static inline void worker_main(void *arg)
{
    struct worker *worker = arg;
    bool exits = worker->number % 2;

    worker->team->body(worker->team->arg);
    if (exits)
        ABT_thread_exit();
}

static inline void start_worker(struct worker *worker)
{
    ABT_pool pool = omp.pools[worker->number % omp.num_places];
    ABT_thread_attr attr;

    if (worker->thread) {
        must(ABT_thread_revive(pool, worker_main, worker, &worker->thread));
        atomic_fetch_add(&workers_revived, 1);
        return;
    }
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, STACK_SIZE));
    must(ABT_thread_create(pool, worker_main, worker, attr, &worker->thread));
    must(ABT_thread_attr_free(&attr));
    atomic_fetch_add(&workers_made, 1);
}

static inline struct team *team_of_size(struct team *team, int size)
{
    if (!team) {
        team = calloc(1, sizeof(*team));
        must(ABT_barrier_create((uint32_t)size, &team->barrier));
        for (int i = 0; i < MAX_TEAM; i++)
            team->workers[i] = (struct worker){.number = i, .team = team};
    } else if (team->size != size) {
        must(ABT_barrier_reinit(team->barrier, (uint32_t)size));
    }
    team->size = size;
    return team;
}

/* A parallel region: body(arg) by `size` workers, one of whom is the caller. */
static inline void omp_parallel(int size, void (*body)(void *), void *arg)
{
    struct worker *outer = omp_self();
    struct team *team = outer->inner = team_of_size(outer->inner, size);
    ABT_thread self, threads[MAX_TEAM];

    team->body = body;
    team->arg = arg;
    for (int i = 1; i < size; i++) {
        start_worker(&team->workers[i]);
        threads[i] = team->workers[i].thread;
    }
    must(ABT_thread_self(&self));
    must(ABT_thread_set_arg(self, &team->workers[0]));
    body(arg);
    must(ABT_thread_set_arg(self, outer));
    must(ABT_thread_join_many(size - 1, threads + 1));
}

static inline void free_team(struct team *team)
{
    if (!team)
        return;
    for (int i = 0; i < MAX_TEAM; i++) {
        free_team(team->workers[i].inner);
        if (i > 0 && team->workers[i].thread)
            must(ABT_thread_free(&team->workers[i].thread));
    }
    must(ABT_barrier_free(&team->barrier));
    free(team);
}

/* ---- Tasks ---- */

/* One that may run later, anywhere. */
static inline ABT_thread omp_task(void (*func)(void *), void *arg)
{
    ABT_thread task;

    must(ABT_thread_create(omp_own_pool(), func, arg, ABT_THREAD_ATTR_NULL, &task));
    return task;
}

/* One that runs now, while its creator waits for its turn. */
static inline ABT_thread omp_task_now(void (*func)(void *), void *arg)
{
    ABT_thread task;

    must(ABT_thread_create_to(omp_own_pool(), func, arg, ABT_THREAD_ATTR_NULL, &task));
    return task;
}

/* The next one of this place goes on, if there is one. */
static inline void omp_taskyield(void)
{
    ABT_thread next;

    must(ABT_pool_pop_thread(omp_own_pool(), &next));
    if (next != ABT_THREAD_NULL)
        must(ABT_self_yield_to(next));
    else
        must(ABT_thread_yield());
}

static inline void omp_taskwait(ABT_thread *tasks, int num)
{
    must(ABT_thread_free_many(num, tasks));
}

static inline void omp_begin(int num_places)
{
    ABT_thread self;

    omp_start(num_places);
    must(ABT_thread_self(&self));
    must(ABT_thread_set_arg(self, &initial_team.workers[0]));
}

static inline void omp_end(void)
{
    free_team(initial_team.workers[0].inner);
    initial_team.workers[0].inner = NULL;
    omp_stop();
}

#endif

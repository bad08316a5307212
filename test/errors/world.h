/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the rows in this folder find: streams in every state, pools that can and that cannot, schedulers in use and not,
 * units of every kind and in every state.
 */
#ifndef TEST_ERRORS_WORLD_H
#define TEST_ERRORS_WORLD_H

#include "../api/user_pool.h"

/* Something to be called by a main scheduler. */
struct job {
    void (*func)(void *);
    void *arg;
};

static struct {
    ABT_xstream primary;
    ABT_xstream worker;   /* no caller is on it: what is given to it goes on while callers wait */
    ABT_xstream second;   /* of secondary callers */
    ABT_xstream sched_es; /* its user-defined scheduler makes calls, and offers no pool for migration */
    ABT_xstream ended;    /* terminated; its pool is `refusing` */

    ABT_pool main_pool, worker_pool, second_pool;
    ABT_pool idle;     /* nobody pops from it */
    ABT_pool bare;     /* user-defined, with what is required and no more */
    ABT_pool old_bare; /* the same by the old definition */
    ABT_pool old_full; /* with all that is optional; but p_remove fails with CALLBACK_CODE */
    ABT_pool refusing; /* user-defined, with all that is optional, makes no units */

    ABT_sched unused;     /* belongs to nobody, is over `idle` and `bare`, and offers no pool for migration */
    ABT_sched used;       /* the worker's */
    ABT_sched main_sched; /* of sched_es */
    ABT_thread main_ult;  /* in which it runs */
    ABT_thread primary_ult;

    ABT_thread ready, ready_task, pinned;         /* in `idle`; the last is not migratable */
    ABT_thread in_bare, in_old_bare, in_old_full; /* ready ULTs in those pools */
    ABT_thread blocked;                           /* a ULT of the worker's pool */
    ABT_thread ended_ult, ended_task;             /* terminated */

    struct list bare_list, old_bare_list, old_full_list, refusing_list;
    atomic_int num_resumed;
    _Atomic(struct job *) job;
} world;

/* What the user's callbacks give that fail: any code, to see it come out verbatim. */
enum { CALLBACK_CODE = 4711 };

/* --- The scheduler that makes calls --- */

static inline void calling_run(ABT_sched sched)
{
    ABT_pool pool = ABT_POOL_NULL;
    ABT_bool stop = ABT_FALSE;

    must(ABT_sched_get_pools(sched, 1, 0, &pool));
    while (stop == ABT_FALSE) {
        struct job *job = atomic_exchange(&world.job, NULL);
        ABT_thread thread = ABT_THREAD_NULL;
        if (job)
            job->func(job->arg);
        must(ABT_pool_pop_wait_thread(pool, &thread, 0.0003));
        if (thread != ABT_THREAD_NULL)
            must(ABT_self_schedule(thread, ABT_POOL_NULL));
        must(ABT_xstream_check_events(sched));
        must(ABT_sched_has_to_stop(sched, &stop));
    }
}

static inline ABT_pool no_pool(ABT_sched sched)
{
    return ABT_POOL_NULL;
}

static inline ABT_sched new_calling_sched(int num_pools, ABT_pool *pools)
{
    ABT_sched_def def = {.run = calling_run, .get_migr_pool = no_pool};
    ABT_sched sched = ABT_SCHED_NULL;

    must(ABT_sched_create(&def, num_pools, pools, ABT_SCHED_CONFIG_NULL, &sched));
    return sched;
}

/* --- Pools --- */

static inline int failing_remove(ABT_pool pool, ABT_unit unit)
{
    return CALLBACK_CODE;
}

static inline ABT_unit old_pop_at_once(ABT_pool pool, double secs)
{
    return old_pop(pool);
}

static inline ABT_pool new_old_pool(struct list *list, bool full)
{
    ABT_pool_def def = {
        .access = ABT_POOL_ACCESS_MPMC,
        .u_create_from_thread = old_create,
        .u_free = old_unit_free,
        .p_init = old_init,
        .p_get_size = old_get_size,
        .p_push = old_push,
        .p_pop = old_pop,
    };
    ABT_pool pool = ABT_POOL_NULL;

    if (full) {
        set_pop_wait(&def, old_pop_at_once);
        def.u_is_in_pool = old_is_in_pool;
        def.p_pop_timedwait = old_pop_timedwait;
        def.p_remove = failing_remove;
        def.p_print_all = old_print_all;
    }
    list_init(list);
    next_list = old_list = list;
    must(ABT_pool_create(&def, ABT_POOL_CONFIG_NULL, &pool));
    return pool;
}

static inline void make_pools(void)
{
    world.bare = make_new(&world.bare_list, false, ABT_POOL_CONFIG_NULL);
    world.refusing = make_new(&world.refusing_list, true, ABT_POOL_CONFIG_NULL);
    atomic_store(&world.refusing_list.refuse, true);
    world.old_bare = new_old_pool(&world.old_bare_list, false);
    world.old_full = new_old_pool(&world.old_full_list, true);
}

/* --- Units --- */

static inline ABT_task task_in(ABT_pool pool, void (*func)(void *), void *arg)
{
    ABT_task task = ABT_TASK_NULL;

    must(ABT_task_create(pool, func, arg, &task));
    return task;
}

static inline ABT_thread pinned_in(ABT_pool pool)
{
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    ABT_thread thread = ABT_THREAD_NULL;
    int code;

    must(ABT_thread_attr_create(&attr));
    code = ABT_thread_attr_set_migratable(attr, ABT_FALSE); /* without migration nothing is migratable anyway */
    if (code != ABT_ERR_FEATURE_NA)
        must(code);
    must(ABT_thread_create(pool, do_nothing, NULL, attr, &thread));
    must(ABT_thread_attr_free(&attr));
    return thread;
}

/* A ULT that nobody has: ready, and in no pool. run_and_free, which anybody may call, brings it to an end. */
static inline ABT_thread popped_ult(void)
{
    ABT_pool pool = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread thread = ult_in(pool, do_nothing, NULL);

    must(ABT_pool_pop_thread(pool, &thread));
    must(ABT_thread_set_associated_pool(thread, world.worker_pool));
    must(ABT_pool_free(&pool));
    return thread;
}

static inline uint64_t own_id(void)
{
    ABT_unit_id id = 0;
    must(ABT_self_get_thread_id(&id));
    return id;
}

static inline void run_and_free(ABT_thread *thread)
{
    must(ABT_pool_push_thread(world.worker_pool, *thread));
    must(ABT_thread_free(thread));
}

static inline ABT_thread blocked_in(ABT_pool pool)
{
    ABT_thread thread = ult_in(pool, suspend_once, &world.num_resumed);

    wait_for(state_of(thread) == ABT_THREAD_STATE_BLOCKED);
    return thread;
}

static inline void resume_and_free(ABT_thread *thread)
{
    must(ABT_thread_resume(*thread));
    must(ABT_thread_free(thread));
}

/* What nobody pops from is emptied into the worker's pool. */
static inline void empty_pool(ABT_pool pool)
{
    ABT_thread thread = ABT_THREAD_NULL;

    for (;;) {
        must(ABT_pool_pop_thread(pool, &thread));
        if (thread == ABT_THREAD_NULL)
            return;
        must(ABT_pool_push_thread(world.worker_pool, thread));
    }
}

/* --- Streams --- */

static inline void learn_main_ult(void *known)
{
    must(ABT_self_get_thread(&world.main_ult));
    atomic_store((atomic_bool *)known, true);
}

static inline void make_streams(void)
{
    ABT_sched sched = ABT_SCHED_NULL;
    atomic_bool known = false;
    struct job job = {learn_main_ult, &known};

    world.worker = new_xstream();
    world.worker_pool = pool_of(world.worker);
    must(ABT_xstream_get_main_sched(world.worker, &world.used));
    world.second = new_xstream();
    world.second_pool = pool_of(world.second);

    world.main_sched = new_calling_sched(1, (ABT_pool[]){ABT_POOL_NULL});
    must(ABT_xstream_create(world.main_sched, &world.sched_es));
    atomic_store(&world.job, &job);
    wait_for(atomic_load(&known));

    must(ABT_sched_create_basic(ABT_SCHED_DEFAULT, 1, &world.refusing, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_create(sched, &world.ended));
    must(ABT_xstream_join(world.ended));
}

/* A terminated ES whose scheduler has no pools. */
static inline ABT_xstream ended_without_pools(void)
{
    ABT_pool none = ABT_POOL_NULL;
    ABT_xstream xstream = ABT_XSTREAM_NULL;

    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 0, &none, ABT_SCHED_CONFIG_NULL, &xstream));
    must(ABT_xstream_join(xstream));
    return xstream;
}

/* --- All of it, or, alone, what can be had with the primary ES --- */

static inline void world_init(bool alone)
{
    memset(&world, 0, sizeof(world));
    world.primary = own_xstream();
    world.primary_ult = self();
    world.main_pool = world.worker_pool = own_pool();
    world.idle = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    make_pools();
    if (!alone)
        make_streams();
    world.unused = new_calling_sched(2, (ABT_pool[]){world.idle, world.bare});
    world.ready = ult_in(world.idle, do_nothing, NULL);
    world.ready_task = task_in(world.idle, do_nothing, NULL);
    world.pinned = pinned_in(world.idle);
    world.in_bare = ult_in(world.bare, do_nothing, NULL);
    world.in_old_bare = ult_in(world.old_bare, do_nothing, NULL);
    world.in_old_full = ult_in(world.old_full, do_nothing, NULL);
    world.blocked = blocked_in(world.worker_pool);
    world.ended_ult = ult_in(world.worker_pool, do_nothing, NULL);
    world.ended_task = task_in(world.worker_pool, do_nothing, NULL);
    must(ABT_thread_join(world.ended_ult));
    must(ABT_task_join(world.ended_task));
}

static inline void free_units(void)
{
    ABT_thread *units[] = {&world.ready,       &world.ready_task,  &world.pinned,    &world.in_bare,
                           &world.in_old_bare, &world.in_old_full, &world.ended_ult, &world.ended_task};
    ABT_pool pools[] = {world.idle, world.bare, world.old_bare, world.old_full};

    for (int i = 0; i < 4; i++)
        empty_pool(pools[i]);
    for (int i = 0; i < 8; i++)
        must(ABT_thread_free(units[i]));
    resume_and_free(&world.blocked);
    is_int(atomic_load(&world.num_resumed), 1, "the blocked ULT was resumed at the end and not before");
}

static inline void world_fini(bool alone)
{
    ABT_pool *pools[] = {&world.idle, &world.bare, &world.old_bare, &world.old_full, &world.refusing};

    free_units();
    must(ABT_sched_free(&world.unused));
    if (!alone) {
        must(ABT_xstream_free(&world.ended));
        must(ABT_xstream_free(&world.sched_es));
        must(ABT_sched_free(&world.main_sched));
        must(ABT_xstream_free(&world.second));
        must(ABT_xstream_free(&world.worker));
    }
    for (int i = 0; i < 5; i++)
        must(ABT_pool_free(pools[i]));
    is_int(atomic_load(&world.bare_list.alive), 0, "every unit that a pool made was freed");
}

#endif

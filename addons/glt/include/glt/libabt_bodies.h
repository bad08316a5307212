/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of GLT over libabt. Included by fast_glt.h. */
#ifndef GLT_LIBABT_BODIES_H_INCLUDED
#define GLT_LIBABT_BODIES_H_INCLUDED

/* ---- Begin and end ------------------------------------------------------------------------------------------------
 */

/*
 * The first thread. Where its pool has other threads as well, the caller gets a pool of its own before it: so it stays
 * on thread 0, which alone can end the others.
 */
__attribute__((unused)) static void glt_begin_first(glt_team_t *team)
{
    ABT_pool pools[] = {ABT_POOL_NULL, team->pools[0]};
    int shared = team->num_pools < team->num_xstreams;

    GLT_CHECK(ABT_xstream_self(&team->team[0]));
    if (shared)
        GLT_CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[0]));
    GLT_CHECK(ABT_xstream_set_main_sched_basic(team->team[0], ABT_SCHED_DEFAULT, 1 + shared, &pools[1 - shared]));
}

GLT_API void glt_init(int argc, char **argv)
{
    glt_team_t *team = &glt_state.team;
    unsigned processors = 1; /* that the process may use, where ABT_MAX_NUM_XSTREAMS does not set another number */

    GLT_CHECK(ABT_init(argc, argv));
    GLT_CHECK(ABT_info_query_config(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS, &processors));
    glt_make_team((int)processors);
    for (int i = 0; i < team->num_pools; i++)
        GLT_CHECK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &team->pools[i]));
    glt_begin_first(team);
    for (int i = 1; i < team->num_xstreams; i++)
        GLT_CHECK(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &team->pools[i % team->num_pools],
                                           ABT_SCHED_CONFIG_NULL, &team->team[i]));
    glt_enter_pools();
}

GLT_API void glt_finalize(void)
{
    glt_team_t *team = &glt_state.team;

    for (int i = 1; i < team->num_xstreams; i++)
        GLT_CHECK(ABT_xstream_free(&team->team[i]));
    glt_free_team();
    GLT_CHECK(ABT_finalize());
}

GLT_API int glt_get_thread_num(void)
{
    int number;
    int code = ABT_xstream_self_rank(&number);

    if (__builtin_expect(code != 0, 0)) {
        glt_fail_by_code(__func__, code);
        return 0;
    }
    return number;
}

GLT_API double glt_get_wtime(void)
{
    return ABT_get_wtime();
}

GLT_API int glt_can_future_functions(void)
{
    return 1;
}

GLT_API int glt_can_manage_scheduler(void)
{
    return 1;
}

GLT_API void glt_get_error_str(int code, char *text, size_t *length)
{
    if (ABT_error_get_str(code, text, length) == ABT_SUCCESS)
        return;
    if (text != NULL)
        strcpy(text, "unknown code");
    if (length != NULL)
        *length = strlen("unknown code");
}

/* ---- ULTs and tasklets --------------------------------------------------------------------------------------------
 */

GLT_API void glt_ult_create_to(void (*function)(void *), void *arg, GLT_ult *ult, int dest)
{
    GLT_CHECK(ABT_thread_create(glt_pool_of(dest), function, arg, ABT_THREAD_ATTR_NULL, ult));
}

GLT_API void glt_ult_create(void (*function)(void *), void *arg, GLT_ult *ult)
{
    GLT_CHECK(ABT_thread_create(glt_pool_of(glt_get_thread_num()), function, arg, ABT_THREAD_ATTR_NULL, ult));
}

GLT_API void glt_tasklet_create_to(void (*function)(void *), void *arg, GLT_tasklet *tasklet, int dest)
{
    GLT_CHECK(ABT_task_create(glt_pool_of(dest), function, arg, tasklet));
}

GLT_API void glt_tasklet_create(void (*function)(void *), void *arg, GLT_tasklet *tasklet)
{
    GLT_CHECK(ABT_task_create(glt_pool_of(glt_get_thread_num()), function, arg, tasklet));
}

GLT_API void glt_ult_join(GLT_ult *ult)
{
    GLT_CHECK(ABT_thread_free(ult));
}

GLT_API void glt_tasklet_join(GLT_tasklet *tasklet)
{
    GLT_CHECK(ABT_task_free(tasklet));
}

GLT_API void glt_yield(void)
{
    GLT_CHECK(ABT_thread_yield());
}

GLT_API void glt_yield_to(GLT_ult ult)
{
    GLT_CHECK(ABT_thread_yield_to(ult));
}

GLT_API void glt_ult_exit(void)
{
    GLT_CHECK(ABT_thread_exit());
}

GLT_API void glt_ult_cancel(GLT_ult ult)
{
    GLT_CHECK(ABT_thread_cancel(ult));
}

GLT_API void glt_tasklet_cancel(GLT_tasklet tasklet)
{
    GLT_CHECK(ABT_task_cancel(tasklet));
}

GLT_API void glt_ult_self(GLT_ult *ult)
{
    GLT_CHECK(ABT_thread_self(ult));
}

GLT_API void glt_tasklet_self(GLT_tasklet *tasklet)
{
    GLT_CHECK(ABT_task_self(tasklet));
}

GLT_API void glt_ult_get_id(GLT_ult_id *id, GLT_ult ult)
{
    GLT_CHECK(ABT_thread_get_id(ult, id));
}

GLT_API void glt_ult_migrate_self_to(int dest)
{
    ABT_thread self;
    ABT_pool now;

    GLT_CHECK(ABT_thread_self(&self));
    GLT_CHECK(ABT_thread_get_last_pool(self, &now));
    if (now == glt_pool_of(dest))
        return;
    GLT_CHECK(ABT_thread_migrate_to_pool(self, glt_pool_of(dest)));
    GLT_CHECK(ABT_thread_yield());
}

/* ---- Mutexes, barriers, condition variables -----------------------------------------------------------------------
 */

GLT_API void glt_mutex_create(GLT_mutex *mutex)
{
    GLT_CHECK(ABT_mutex_create(mutex));
}

GLT_API void glt_mutex_free(GLT_mutex *mutex)
{
    GLT_CHECK(ABT_mutex_free(mutex));
}

GLT_API void glt_mutex_lock(GLT_mutex mutex)
{
    GLT_CHECK(ABT_mutex_lock(mutex));
}

GLT_API void glt_mutex_spinlock(GLT_mutex mutex)
{
    GLT_CHECK(ABT_mutex_spinlock(mutex));
}

GLT_API int glt_mutex_trylock(GLT_mutex mutex)
{
    int code = ABT_mutex_trylock(mutex);

    if (code != ABT_ERR_MUTEX_LOCKED)
        GLT_CHECK(code);
    return code;
}

GLT_API void glt_mutex_unlock(GLT_mutex mutex)
{
    GLT_CHECK(ABT_mutex_unlock(mutex));
}

GLT_API void glt_barrier_create(int num_waiters, GLT_barrier *barrier)
{
    GLT_CHECK(num_waiters > 0 ? ABT_barrier_create((uint32_t)num_waiters, barrier) : ABT_ERR_INV_ARG);
}

GLT_API void glt_barrier_free(GLT_barrier *barrier)
{
    GLT_CHECK(ABT_barrier_free(barrier));
}

GLT_API void glt_barrier_wait(GLT_barrier *barrier)
{
    GLT_CHECK(ABT_barrier_wait(*barrier));
}

GLT_API void glt_cond_create(GLT_cond *cond)
{
    GLT_CHECK(ABT_cond_create(cond));
}

GLT_API void glt_cond_free(GLT_cond *cond)
{
    GLT_CHECK(ABT_cond_free(cond));
}

GLT_API void glt_cond_wait(GLT_cond cond, GLT_mutex mutex)
{
    GLT_CHECK(ABT_cond_wait(cond, mutex));
}

GLT_API void glt_cond_signal(GLT_cond cond)
{
    GLT_CHECK(ABT_cond_signal(cond));
}

GLT_API void glt_cond_broadcast(GLT_cond cond)
{
    GLT_CHECK(ABT_cond_broadcast(cond));
}

/* ---- Futures, keys, timers ----------------------------------------------------------------------------------------
 */

GLT_API void glt_future_create(int num_bytes, GLT_future *future)
{
    GLT_CHECK(ABT_eventual_create(num_bytes, future));
}

GLT_API void glt_future_free(GLT_future *future)
{
    GLT_CHECK(ABT_eventual_free(future));
}

GLT_API void glt_future_set(GLT_future future, void *value, int num_bytes)
{
    GLT_CHECK(ABT_eventual_set(future, value, num_bytes));
}

GLT_API void glt_future_wait(GLT_future future, void **value)
{
    GLT_CHECK(ABT_eventual_wait(future, value));
}

GLT_API void glt_key_create(void (*destructor)(void *value), GLT_key *key)
{
    GLT_CHECK(ABT_key_create(destructor, key));
}

GLT_API void glt_key_free(GLT_key *key)
{
    GLT_CHECK(ABT_key_free(key));
}

GLT_API void glt_key_get(GLT_key key, void **value)
{
    GLT_CHECK(ABT_key_get(key, value));
}

GLT_API void glt_key_set(GLT_key key, void *value)
{
    GLT_CHECK(ABT_key_set(key, value));
}

GLT_API void glt_timer_create(GLT_timer *timer)
{
    GLT_CHECK(ABT_timer_create(timer));
}

GLT_API void glt_timer_free(GLT_timer *timer)
{
    GLT_CHECK(ABT_timer_free(timer));
}

GLT_API void glt_timer_start(GLT_timer timer)
{
    GLT_CHECK(ABT_timer_start(timer));
}

GLT_API void glt_timer_stop(GLT_timer timer)
{
    GLT_CHECK(ABT_timer_stop(timer));
}

GLT_API void glt_timer_get_secs(GLT_timer timer, double *seconds)
{
    GLT_CHECK(ABT_timer_read(timer, seconds));
}

/* ---- Schedulers ---------------------------------------------------------------------------------------------------
 */

/* The pools of these numbers; the caller frees the array. NULL if a number is wrong. */
__attribute__((unused)) static ABT_pool *glt_list_pools(const char *function, int num_pools, const int *numbers)
{
    ABT_pool *pools = (ABT_pool *)malloc(((size_t)(num_pools > 0 ? num_pools : 0) + 1) * sizeof(*pools));

    if (pools == NULL) {
        glt_fail(function, "out of memory", ABT_ERR_MEM);
        return NULL;
    }
    for (int i = 0; i < num_pools; i++) {
        if (numbers[i] < 0 || numbers[i] >= glt_state.team.num_pools) {
            glt_fail(function, "there is no pool of that number", numbers[i]);
            free(pools);
            return NULL;
        }
        pools[i] = glt_state.team.pools[numbers[i]];
    }
    return pools;
}

GLT_API void glt_scheduler_create(GLT_sched_def *def, int num_pools, int *pools, GLT_sched_config config,
                                  GLT_sched *sched)
{
    ABT_pool *list = glt_list_pools(__func__, num_pools, pools);

    if (list != NULL)
        GLT_CHECK(ABT_sched_create(def, num_pools, list, config, sched));
    free(list);
}

GLT_API void glt_schededuler_create_basic(GLT_sched_predef predef, int num_pools, int *pools, GLT_sched_config config,
                                          GLT_sched *sched)
{
    ABT_pool *list = glt_list_pools(__func__, num_pools, pools);

    if (list != NULL)
        GLT_CHECK(ABT_sched_create_basic(predef, num_pools, list, config, sched));
    free(list);
}

GLT_API void glt_scheduler_config_free(GLT_sched_config *config)
{
    GLT_CHECK(ABT_sched_config_free(config));
}

GLT_API void glt_scheduler_free(GLT_sched *sched)
{
    GLT_CHECK(ABT_sched_free(sched));
}

GLT_API void glt_scheduler_exit(GLT_sched sched)
{
    GLT_CHECK(ABT_sched_exit(sched));
}

GLT_API void glt_scheduler_finish(GLT_sched sched)
{
    GLT_CHECK(ABT_sched_finish(sched));
}

GLT_API void glt_scheduler_has_to_stop(GLT_sched sched, GLT_bool *stop)
{
    GLT_CHECK(ABT_sched_has_to_stop(sched, stop));
}

GLT_API void glt_scheduler_get_data(GLT_sched sched, void **data)
{
    GLT_CHECK(ABT_sched_get_data(sched, data));
}

GLT_API void glt_scheduler_set_data(GLT_sched sched, void *data)
{
    GLT_CHECK(ABT_sched_set_data(sched, data));
}

GLT_API void glt_scheduler_get_size(GLT_sched sched, size_t *size)
{
    GLT_CHECK(ABT_sched_get_size(sched, size));
}

GLT_API void glt_scheduler_get_total_size(GLT_sched sched, size_t *size)
{
    GLT_CHECK(ABT_sched_get_total_size(sched, size));
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of MassiveThreads that GLT calls, by native threads: slow, and right enough to run the tests of GLT. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <myth/myth.h>

struct myth_thread {
    pthread_t thread;
};

static int workers;

int myth_globalattr_init(myth_globalattr_t *attr)
{
    attr->n_workers = 2;
    return 0;
}

int myth_globalattr_set_n_workers(myth_globalattr_t *attr, size_t n_workers)
{
    attr->n_workers = n_workers;
    return 0;
}

int myth_init_ex(const myth_globalattr_t *attr)
{
    workers = (int)attr->n_workers;
    return 1;
}

void myth_fini(void)
{
}

int myth_get_worker_num(void)
{
    return 0;
}

int myth_get_num_workers(void)
{
    return workers;
}

myth_thread_t myth_create(myth_func_t func, void *arg)
{
    myth_thread_t th = malloc(sizeof(*th));

    if (th != NULL && pthread_create(&th->thread, NULL, func, arg) != 0)
        abort();
    return th;
}

int myth_join(myth_thread_t th, void **result)
{
    int code = pthread_join(th->thread, result);

    free(th);
    return code;
}

int myth_yield(void)
{
    return sched_yield();
}

int myth_mutex_init(myth_mutex_t *mutex, const myth_mutexattr_t *attr)
{
    return pthread_mutex_init(mutex, attr);
}

int myth_mutex_destroy(myth_mutex_t *mutex)
{
    return pthread_mutex_destroy(mutex);
}

int myth_mutex_lock(myth_mutex_t *mutex)
{
    return pthread_mutex_lock(mutex);
}

int myth_mutex_unlock(myth_mutex_t *mutex)
{
    return pthread_mutex_unlock(mutex);
}

int myth_cond_init(myth_cond_t *cond, const myth_condattr_t *attr)
{
    return pthread_cond_init(cond, attr);
}

int myth_cond_destroy(myth_cond_t *cond)
{
    return pthread_cond_destroy(cond);
}

int myth_cond_wait(myth_cond_t *cond, myth_mutex_t *mutex)
{
    return pthread_cond_wait(cond, mutex);
}

int myth_cond_broadcast(myth_cond_t *cond)
{
    return pthread_cond_broadcast(cond);
}

int myth_key_create(myth_key_t *key, void (*destructor)(void *))
{
    return pthread_key_create(key, destructor);
}

int myth_key_delete(myth_key_t key)
{
    return pthread_key_delete(key);
}

void *myth_getspecific(myth_key_t key)
{
    return pthread_getspecific(key);
}

int myth_setspecific(myth_key_t key, const void *value)
{
    return pthread_setspecific(key, value);
}

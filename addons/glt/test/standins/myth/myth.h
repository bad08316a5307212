/* SPDX-License-Identifier: BSD-3-Clause */
/* What GLT calls of MassiveThreads, as its reference declares it: enough for the tests of GLT. The functions are in the
 * file beside. */
#ifndef MYTH_H_
#define MYTH_H_

#include <pthread.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct myth_thread *myth_thread_t;
typedef struct {
    size_t n_workers;
} myth_globalattr_t;
typedef pthread_mutex_t myth_mutex_t;
typedef pthread_cond_t myth_cond_t;
typedef pthread_mutexattr_t myth_mutexattr_t;
typedef pthread_condattr_t myth_condattr_t;
typedef pthread_key_t myth_key_t;
typedef void *(*myth_func_t)(void *arg);

int myth_globalattr_init(myth_globalattr_t *attr);
int myth_globalattr_set_n_workers(myth_globalattr_t *attr, size_t n_workers);
int myth_init_ex(const myth_globalattr_t *attr);
void myth_fini(void);
int myth_get_worker_num(void);
int myth_get_num_workers(void);
myth_thread_t myth_create(myth_func_t func, void *arg);
int myth_join(myth_thread_t th, void **result);
int myth_yield(void);
int myth_mutex_init(myth_mutex_t *mutex, const myth_mutexattr_t *attr);
int myth_mutex_destroy(myth_mutex_t *mutex);
int myth_mutex_lock(myth_mutex_t *mutex);
int myth_mutex_unlock(myth_mutex_t *mutex);
int myth_cond_init(myth_cond_t *cond, const myth_condattr_t *attr);
int myth_cond_destroy(myth_cond_t *cond);
int myth_cond_wait(myth_cond_t *cond, myth_mutex_t *mutex);
int myth_cond_broadcast(myth_cond_t *cond);
int myth_key_create(myth_key_t *key, void (*destructor)(void *));
int myth_key_delete(myth_key_t key);
void *myth_getspecific(myth_key_t key);
int myth_setspecific(myth_key_t key, const void *value);

#ifdef __cplusplus
}
#endif

#endif

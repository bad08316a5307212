/* SPDX-License-Identifier: BSD-3-Clause */
/* What generic_bodies.h asks of MassiveThreads. Codes are 0 or GLT_ERR_BELOW. Included by fast_glt.h. */
#ifndef GLT_MASSIVETHREADS_BODIES_H_INCLUDED
#define GLT_MASSIVETHREADS_BODIES_H_INCLUDED

#include <glt/generic_unit.h>

#define GLT_LOWER __attribute__((unused)) static inline

extern myth_key_t glt_self_key;
__attribute__((weak, visibility("hidden"))) myth_key_t glt_self_key;

GLT_LOWER int glt_lower_code(int code)
{
    return code == 0 ? GLT_SUCCESS : GLT_ERR_BELOW;
}

/* 0: MassiveThreads' own number. Returns the number of its workers. Pools are queues of workers, always. */
GLT_LOWER int glt_lower_begin(int threads, int pools)
{
    myth_globalattr_t attr;

    (void)pools;
    if (myth_globalattr_init(&attr) != 0)
        return 0;
    if (threads > 0)
        myth_globalattr_set_n_workers(&attr, (size_t)threads);
    myth_init_ex(&attr);
    if (myth_key_create(&glt_self_key, NULL) != 0)
        return 0;
    return myth_get_num_workers();
}

GLT_LOWER void glt_lower_end(void)
{
    myth_key_delete(glt_self_key);
    myth_fini();
}

GLT_LOWER int glt_lower_thread_num(void)
{
    return myth_get_worker_num();
}

GLT_LOWER struct glt_unit *glt_lower_self(void)
{
    return (struct glt_unit *)myth_getspecific(glt_self_key);
}

GLT_LOWER void glt_lower_set_self(struct glt_unit *unit)
{
    myth_setspecific(glt_self_key, unit);
}

__attribute__((unused)) static void *glt_lower_main(void *unit)
{
    glt_run_unit((struct glt_unit *)unit);
    return NULL;
}

GLT_LOWER int glt_lower_fork(struct glt_unit *unit, int pool)
{
    (void)pool;
    unit->lower = myth_create(glt_lower_main, unit);
    return unit->lower != NULL ? GLT_SUCCESS : GLT_ERR_BELOW;
}

GLT_LOWER int glt_lower_join(struct glt_unit *unit)
{
    return glt_lower_code(myth_join(unit->lower, NULL));
}

GLT_LOWER void glt_lower_yield(void)
{
    myth_yield();
}

GLT_LOWER int glt_lower_migrate(int pool)
{
    (void)pool;
    myth_yield();
    return GLT_SUCCESS;
}

GLT_LOWER int glt_lower_mutex_begin(glt_lower_mutex *mutex)
{
    return glt_lower_code(myth_mutex_init(mutex, NULL));
}

GLT_LOWER void glt_lower_mutex_end(glt_lower_mutex *mutex)
{
    myth_mutex_destroy(mutex);
}

GLT_LOWER int glt_lower_lock(glt_lower_mutex *mutex)
{
    return glt_lower_code(myth_mutex_lock(mutex));
}

GLT_LOWER int glt_lower_unlock(glt_lower_mutex *mutex)
{
    return glt_lower_code(myth_mutex_unlock(mutex));
}

GLT_LOWER int glt_lower_word_begin(glt_lower_word *word)
{
    word->full = 0;
    return glt_lower_code(myth_mutex_init(&word->mutex, NULL) | myth_cond_init(&word->cond, NULL));
}

GLT_LOWER void glt_lower_word_end(glt_lower_word *word)
{
    myth_mutex_lock(&word->mutex); /* until glt_lower_wake has left it */
    myth_mutex_unlock(&word->mutex);
    myth_cond_destroy(&word->cond);
    myth_mutex_destroy(&word->mutex);
}

GLT_LOWER int glt_lower_wait(glt_lower_word *word)
{
    int code = myth_mutex_lock(&word->mutex);

    while (code == 0 && !word->full)
        code = myth_cond_wait(&word->cond, &word->mutex);
    return glt_lower_code(code | myth_mutex_unlock(&word->mutex));
}

GLT_LOWER int glt_lower_wake(glt_lower_word *word)
{
    int code = myth_mutex_lock(&word->mutex);

    word->full = 1;
    code |= myth_cond_broadcast(&word->cond);
    return glt_lower_code(code | myth_mutex_unlock(&word->mutex));
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What generic_bodies.h asks of Qthreads. Codes are 0 or GLT_ERR_BELOW. Included by fast_glt.h. */
#ifndef GLT_QTHREADS_BODIES_H_INCLUDED
#define GLT_QTHREADS_BODIES_H_INCLUDED

#include <glt/generic_unit.h>

#define GLT_LOWER __attribute__((unused)) static inline

GLT_LOWER int glt_lower_code(int code)
{
    return code == QTHREAD_SUCCESS ? GLT_SUCCESS : GLT_ERR_BELOW;
}

/* Qthreads reads the environment alone; 0: its own number. Returns the number of its workers. */
GLT_LOWER int glt_lower_begin(int threads, int pools)
{
    char text[16];

    if (threads > 0) {
        snprintf(text, sizeof(text), "%d", pools);
        setenv("QTHREAD_NUM_SHEPHERDS", text, 1);
        snprintf(text, sizeof(text), "%d", (threads + pools - 1) / pools);
        setenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD", text, 1);
    }
    if (qthread_initialize() != QTHREAD_SUCCESS)
        return 0;
    return (int)qthread_num_workers();
}

GLT_LOWER void glt_lower_end(void)
{
    qthread_finalize();
}

GLT_LOWER int glt_lower_thread_num(void)
{
    return (int)qthread_worker(NULL);
}

/* The unit of the caller, which Qthreads keeps with the task. */
GLT_LOWER struct glt_unit *glt_lower_self(void)
{
    return *(struct glt_unit **)qthread_get_tasklocal(sizeof(struct glt_unit *));
}

GLT_LOWER void glt_lower_set_self(struct glt_unit *unit)
{
    *(struct glt_unit **)qthread_get_tasklocal(sizeof(struct glt_unit *)) = unit;
}

__attribute__((unused)) static aligned_t glt_lower_main(void *unit)
{
    glt_run_unit((struct glt_unit *)unit);
    return 0;
}

GLT_LOWER int glt_lower_fork(struct glt_unit *unit, int pool)
{
    return glt_lower_code(qthread_fork_to(glt_lower_main, unit, &unit->lower, (qthread_shepherd_id_t)pool));
}

GLT_LOWER int glt_lower_join(struct glt_unit *unit)
{
    return glt_lower_code(qthread_readFF(NULL, &unit->lower));
}

GLT_LOWER void glt_lower_yield(void)
{
    qthread_yield();
}

GLT_LOWER int glt_lower_migrate(int pool)
{
    return glt_lower_code(qthread_migrate_to((qthread_shepherd_id_t)pool));
}

GLT_LOWER int glt_lower_mutex_begin(glt_lower_mutex *mutex)
{
    *mutex = 0;
    return glt_lower_code(qthread_fill(mutex));
}

GLT_LOWER void glt_lower_mutex_end(glt_lower_mutex *mutex)
{
    (void)mutex;
}

GLT_LOWER int glt_lower_lock(glt_lower_mutex *mutex)
{
    return glt_lower_code(qthread_readFE(NULL, mutex));
}

GLT_LOWER int glt_lower_unlock(glt_lower_mutex *mutex)
{
    return glt_lower_code(qthread_fill(mutex));
}

GLT_LOWER int glt_lower_word_begin(glt_lower_word *word)
{
    *word = 0;
    return glt_lower_code(qthread_empty(word));
}

/* Full: Qthreads forgets a word that is full. */
GLT_LOWER void glt_lower_word_end(glt_lower_word *word)
{
    qthread_fill(word);
}

GLT_LOWER int glt_lower_wait(glt_lower_word *word)
{
    return glt_lower_code(qthread_readFF(NULL, word));
}

GLT_LOWER int glt_lower_wake(glt_lower_word *word)
{
    return glt_lower_code(qthread_fill(word));
}

#endif

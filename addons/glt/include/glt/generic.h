/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types and constants of GLT over a library that has units, a lock and a word to wait for, and not all the objects
 * of GLT. The objects are made here of those three, by generic_bodies.h. Included by the file of that library, which
 * has glt_lower_mutex and glt_lower_word.
 */
#ifndef GLT_GENERIC_H_INCLUDED
#define GLT_GENERIC_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#define GLT_DIRECT

typedef int GLT_thread; /* its number */
typedef int GLT_pool;   /* its number */
typedef struct glt_unit *GLT_ult;
typedef struct glt_unit *GLT_tasklet;
typedef uint64_t GLT_ult_id;
typedef struct glt_mutex *GLT_mutex;
typedef struct glt_barrier *GLT_barrier;
typedef struct glt_cond *GLT_cond;
typedef struct glt_future *GLT_future;
typedef struct glt_key *GLT_key;
typedef struct glt_timer *GLT_timer;

#define GLT_THREAD_NULL (-1)
#define GLT_POOL_NULL (-1)
#define GLT_ULT_NULL NULL
#define GLT_TASKLET_NULL NULL
#define GLT_MUTEX_NULL NULL
#define GLT_BARRIER_NULL NULL
#define GLT_COND_NULL NULL
#define GLT_FUTURE_NULL NULL
#define GLT_KEY_NULL NULL
#define GLT_TIMER_NULL NULL

typedef int GLT_bool;
enum { GLT_FALSE = 0, GLT_TRUE = 1 };
enum { GLT_SUCCESS = 0, GLT_ERR_MEM = 1, GLT_ERR_ARG = 2, GLT_ERR_LOCKED = 3, GLT_ERR_BELOW = 4 };

/* Schedulers cannot be managed; these are for programs that ask glt_can_manage_scheduler when they run. */
typedef void *GLT_unit;
typedef enum { GLT_UNIT_TYPE_ULT, GLT_UNIT_TYPE_TASKLET, GLT_UNIT_TYPE_EXT } GLT_unit_type;
#define GLT_UNIT_NULL NULL
#define GLT_UNIT_TYPE_THREAD GLT_UNIT_TYPE_ULT
#define GLT_UNIT_TYPE_TASK GLT_UNIT_TYPE_TASKLET
typedef void *GLT_sched;
typedef void *GLT_sched_config;
#define GLT_SCHED_NULL NULL
#define GLT_SCHED_CONFIG_NULL NULL
typedef enum { GLT_SCHED_TYPE_ULT, GLT_SCHED_TYPE_TASKLET } GLT_sched_type;
#define GLT_SCHED_TYPE_TASK GLT_SCHED_TYPE_TASKLET
typedef enum { GLT_SCHED_DEFAULT, GLT_SCHED_BASIC, GLT_SCHED_PRIO, GLT_SCHED_RANDWS } GLT_sched_predef;
typedef enum { GLT_SCHED_CONFIG_INT, GLT_SCHED_CONFIG_DOUBLE, GLT_SCHED_CONFIG_PTR } GLT_sched_config_type;
typedef struct {
    int idx;
    GLT_sched_config_type type;
} GLT_sched_config_var;
typedef int (*GLT_sched_init_fn)(GLT_sched sched, GLT_sched_config config);
typedef void (*GLT_sched_run_fn)(GLT_sched sched);
typedef int (*GLT_sched_free_fn)(GLT_sched sched);
typedef GLT_pool (*GLT_sched_get_migr_pool_fn)(GLT_sched sched);
typedef struct {
    GLT_sched_type type;
    GLT_sched_init_fn init;
    GLT_sched_run_fn run;
    GLT_sched_free_fn free;
    GLT_sched_get_migr_pool_fn get_migr_pool;
} GLT_sched_def;
static const GLT_sched_config_var GLT_sched_config_var_end __attribute__((unused)) = {-1, GLT_SCHED_CONFIG_INT};
static const GLT_sched_config_var GLT_sched_basic_freq __attribute__((unused)) = {-4, GLT_SCHED_CONFIG_INT};

__attribute__((unused)) static int glt_scheduler_config_create(GLT_sched_config *config, ...)
{
    *config = GLT_SCHED_CONFIG_NULL;
    return GLT_SUCCESS;
}

__attribute__((unused)) static int glt_scheduler_config_read(GLT_sched_config config, int num_vars, ...)
{
    (void)config;
    (void)num_vars;
    return GLT_SUCCESS;
}

#endif

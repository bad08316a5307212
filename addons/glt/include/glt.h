/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GLT: one interface for programs that run on several libraries of lightweight threads. It is that of glt.h 2.5.
 *
 *   #include <glt.h>, -lglt          the functions come from a shared library
 *   #include <glt.h>, -DFASTGLT      the functions are inlined; no library but the one below is linked
 *
 * The library below is libabt, or by -DGLT_QTHREADS Qthreads, or by -DGLT_MASSIVETHREADS MassiveThreads; the last two
 * with FASTGLT only.
 *
 * A thread of GLT is an execution stream; it has a number, from 0 on, and runs the ULTs and tasklets of a pool. The
 * thread that calls glt_init is thread 0. Environment, read by glt_init:
 *   GLT_NUM_THREADS    the number of threads, at most 1024; by default that of the processors
 *   GLT_NUM_POOLS      the number of pools, at most that of the threads, which is the default. Thread i runs the units
 *                      of pool i modulo GLT_NUM_POOLS
 *   GLT_ERRORS=ignore  a function that fails does nothing more about it
 *
 * Functions return nothing, so a call that fails prints a line on stderr, with the function and the code of the library
 * below, and aborts. Functions without a note may be called by ULTs and by the thread that called glt_init.
 */
#ifndef GLT_H_INCLUDED
#define GLT_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#if defined(GLT_QTHREADS)
#include <glt/qthreads.h>
#elif defined(GLT_MASSIVETHREADS)
#include <glt/massivethreads.h>
#else
#include <glt/libabt.h>
#endif

/* A function of GLT: part of the program, or of libglt.so, called without a stub of the linker. */
#ifdef FASTGLT
#define GLT_API __attribute__((unused)) static inline
#else
#define GLT_API __attribute__((visibility("default"))) GLT_DIRECT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The threads and pools, for programs that call the library below as well. They belong to GLT. */
typedef struct glt_team {
    int num_xstreams; /* threads */
    int num_pools;
    GLT_thread *team; /* num_xstreams of them */
    GLT_pool *pools;  /* num_pools of them */
} glt_team_t;

/* ---- Begin and end ----------------------------------------------------------------------------------------------- */

/* Starts the library below, the threads and the pools. Once, before all others but glt_can_* and glt_get_wtime. */
GLT_API void glt_init(int argc, char **argv);

/* Waits for all units, ends the threads. By the thread that called glt_init; it may call glt_init again. */
GLT_API void glt_finalize(void);

/* Around the parallel part of a program. Nothing needs to be done there. */
GLT_API void glt_start(void);
GLT_API void glt_end(void);

/* ---- The threads ------------------------------------------------------------------------------------------------- */

GLT_API int glt_get_num_threads(void);

/* The number of the thread that runs the caller. */
GLT_API int glt_get_thread_num(void);
GLT_API glt_team_t *glt_get_team(void);

/* Seconds since some moment. */
GLT_API double glt_get_wtime(void);

/* The number of threads is fixed: these do nothing, and glt_can_malleability says so. */
GLT_API void glt_thread_enable(void);
GLT_API void glt_thread_enable_id(int id);
GLT_API void glt_thread_disable(void);
GLT_API void glt_thread_disable_id(int id);

/* ---- What the library below can do: 1 or 0 ----------------------------------------------------------------------- */

GLT_API int glt_can_event_functions(void);
GLT_API int glt_can_future_functions(void);
GLT_API int glt_can_malleability(void);
GLT_API int glt_can_manage_scheduler(void);

/* ---- ULTs and tasklets ------------------------------------------------------------------------------------------- */

/* Room for that number of handles; the caller frees it by free(). */
GLT_API GLT_ult *glt_ult_malloc(int number);
GLT_API GLT_tasklet *glt_tasklet_malloc(int number);

/* A new unit on the caller's thread, or on thread dest; of a number beyond the last one the remainder counts. */
GLT_API void glt_ult_create(void (*function)(void *), void *arg, GLT_ult *ult);
GLT_API void glt_ult_create_to(void (*function)(void *), void *arg, GLT_ult *ult, int dest);
GLT_API void glt_tasklet_create(void (*function)(void *), void *arg, GLT_tasklet *tasklet);
GLT_API void glt_tasklet_create_to(void (*function)(void *), void *arg, GLT_tasklet *tasklet, int dest);

/* Waits for its end, frees it, and sets the handle to null. */
GLT_API void glt_ult_join(GLT_ult *ult);
GLT_API void glt_tasklet_join(GLT_tasklet *tasklet);

/* The same for a handle that is not null; nothing for a null one, as a join leaves it. */
GLT_API void glt_ult_free(GLT_ult *ult);
GLT_API void glt_tasklet_free(GLT_tasklet *tasklet);

GLT_API void glt_yield(void);

/* Runs that ULT, which is ready and of the caller's thread, next. */
GLT_API void glt_yield_to(GLT_ult ult);

/* Ends the calling ULT. */
GLT_API void glt_ult_exit(void);

/* Asks a unit to end: at once if it has not begun; a ULT when it yields or waits next. It is joined as others are. */
GLT_API void glt_ult_cancel(GLT_ult ult);
GLT_API void glt_tasklet_cancel(GLT_tasklet tasklet);

/* The calling unit. */
GLT_API void glt_ult_self(GLT_ult *ult);
GLT_API void glt_tasklet_self(GLT_tasklet *tasklet);

/* A number that no other living ULT has. */
GLT_API void glt_ult_get_id(GLT_ult_id *id, GLT_ult ult);

/* The number of the thread that runs the caller. */
GLT_API void glt_workunit_get_thread_id(int *id);

/* The calling ULT goes on in the pool of thread dest. Not the ULT that called glt_init. */
GLT_API void glt_ult_migrate_self_to(int dest);

/* ---- Mutexes, barriers, condition variables ---------------------------------------------------------------------- */

GLT_API void glt_mutex_create(GLT_mutex *mutex);
GLT_API void glt_mutex_free(GLT_mutex *mutex);
GLT_API void glt_mutex_lock(GLT_mutex mutex);

/* As glt_mutex_lock, but the caller's thread waits with it. */
GLT_API void glt_mutex_spinlock(GLT_mutex mutex);

/* Locks a mutex that is free and returns 0; returns another number if it is locked. */
GLT_API int glt_mutex_trylock(GLT_mutex mutex);
GLT_API void glt_mutex_unlock(GLT_mutex mutex);

GLT_API void glt_barrier_create(int num_waiters, GLT_barrier *barrier);
GLT_API void glt_barrier_free(GLT_barrier *barrier);
GLT_API void glt_barrier_wait(GLT_barrier *barrier);

GLT_API void glt_cond_create(GLT_cond *cond);
GLT_API void glt_cond_free(GLT_cond *cond);
GLT_API void glt_cond_wait(GLT_cond cond, GLT_mutex mutex);
GLT_API void glt_cond_signal(GLT_cond cond);
GLT_API void glt_cond_broadcast(GLT_cond cond);

/* ---- Futures: a value of num_bytes bytes that is set once -------------------------------------------------------- */

GLT_API void glt_future_create(int num_bytes, GLT_future *future);
GLT_API void glt_future_free(GLT_future *future);

/* Copies num_bytes bytes, at most what it was made for, and wakes all who wait. */
GLT_API void glt_future_set(GLT_future future, void *value, int num_bytes);

/* Waits until it is set. *value points to the copy, which is the future's; or value is NULL. */
GLT_API void glt_future_wait(GLT_future future, void **value);

/* ---- Values of one's own for each unit --------------------------------------------------------------------------- */

/* The destructor, or NULL, gets a value that is not NULL when its unit is freed. */
GLT_API void glt_key_create(void (*destructor)(void *value), GLT_key *key);
GLT_API void glt_key_free(GLT_key *key);
GLT_API void glt_key_get(GLT_key key, void **value);
GLT_API void glt_key_set(GLT_key key, void *value);

/* ---- Timers ------------------------------------------------------------------------------------------------------ */

GLT_API void glt_timer_create(GLT_timer *timer);
GLT_API void glt_timer_free(GLT_timer *timer);
GLT_API void glt_timer_start(GLT_timer timer);
GLT_API void glt_timer_stop(GLT_timer timer);

/* The seconds from the start to the stop. */
GLT_API void glt_timer_get_secs(GLT_timer timer, double *seconds);

/* ---- Schedulers: where glt_can_manage_scheduler gives 1 -----------------------------------------------------------
 */

/*
 * A scheduler by the program's functions, or a predefined one, on num_pools pools of the given numbers. The name of the
 * second one is misspelt in 2.5; the right name is a macro. Beside them there are glt_scheduler_config_create and
 * glt_scheduler_config_read, macros, with the parameters of ABT_sched_config_create and ABT_sched_config_read.
 */
GLT_API void glt_scheduler_create(GLT_sched_def *def, int num_pools, int *pools, GLT_sched_config config,
                                  GLT_sched *sched);
GLT_API void glt_schededuler_create_basic(GLT_sched_predef predef, int num_pools, int *pools, GLT_sched_config config,
                                          GLT_sched *sched);
#define glt_scheduler_create_basic glt_schededuler_create_basic
GLT_API void glt_scheduler_config_free(GLT_sched_config *config);
GLT_API void glt_scheduler_free(GLT_sched *sched);
GLT_API void glt_scheduler_exit(GLT_sched sched);
GLT_API void glt_scheduler_finish(GLT_sched sched);
GLT_API void glt_scheduler_has_to_stop(GLT_sched sched, GLT_bool *stop);
GLT_API void glt_scheduler_get_data(GLT_sched sched, void **data);
GLT_API void glt_scheduler_set_data(GLT_sched sched, void *data);
GLT_API void glt_scheduler_get_size(GLT_sched sched, size_t *size);
GLT_API void glt_scheduler_get_total_size(GLT_sched sched, size_t *size);

/* ---- Events and errors ------------------------------------------------------------------------------------------- */

/* There are no events: the two functions do nothing, and the first call of one says so on stderr. */
typedef int GLT_event_kind;
typedef GLT_bool (*GLT_event_cb_fn)(void *arg, GLT_thread thread);
enum { GLT_EVENT_STOP_XSTREAM = 0, GLT_EVENT_ADD_XSTREAM = 1 };

GLT_API void glt_event_add_callbac(GLT_event_kind kind, GLT_event_cb_fn ask, void *ask_arg, GLT_event_cb_fn act,
                                   void *act_arg, int *id);
#define glt_event_add_callback glt_event_add_callbac
GLT_API void glt_event_del_callback(GLT_event_kind kind, int id);

/* The name of a code of the library below, of *length characters. Either pointer may be NULL. */
GLT_API void glt_get_error_str(int code, char *text, size_t *length);

#ifdef __cplusplus
}
#endif

#ifdef FASTGLT
#include <fast_glt.h>
#endif

#endif

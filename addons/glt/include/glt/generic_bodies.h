/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of GLT over a library that has units, a lock and a word to wait for: the functions glt_lower_*. Nothing
 * but these has to be written for a library. Included by fast_glt.h.
 */
#ifndef GLT_GENERIC_BODIES_H_INCLUDED
#define GLT_GENERIC_BODIES_H_INCLUDED

#include <time.h>

struct glt_mutex {
    glt_lower_mutex guard; /* of locked and waiters; held for a few instructions */
    int locked;
    struct glt_waiter *first, **last;
};

struct glt_cond {
    glt_lower_mutex guard;
    struct glt_waiter *first, **last;
};

/* On the waiter's stack. */
struct glt_waiter {
    glt_lower_word word;
    struct glt_waiter *next;
};

struct glt_barrier {
    glt_lower_mutex guard;
    int number, here;
    struct glt_waiter *first, **last;
};

struct glt_future {
    glt_lower_word word;
    int size;
    void *value; /* of size bytes, behind it */
};

struct glt_key {
    int number;
};

struct glt_timer {
    double start, stop;
};

struct glt_generic {
    GLT_ult_id ids; /* given out so far */
    struct {
        int used;
        void (*destructor)(void *value);
    } keys[GLT_MAX_KEYS];
    struct glt_unit first; /* of glt_init's caller */
};

extern struct glt_generic glt_generic;
__attribute__((weak, visibility("hidden"))) struct glt_generic glt_generic;

extern unsigned char glt_said_no_schedulers;
__attribute__((weak, visibility("hidden"))) unsigned char glt_said_no_schedulers;

/* ---- Begin and end ------------------------------------------------------------------------------------------------
 */

GLT_API void glt_init(int argc, char **argv)
{
    glt_team_t *team = &glt_state.team;

    (void)argc;
    (void)argv;
    glt_make_team(getenv("GLT_NUM_THREADS") != NULL ? 1 : glt_lower_begin(0, 0));
    if (getenv("GLT_NUM_THREADS") != NULL && glt_lower_begin(team->num_xstreams, team->num_pools) == 0)
        glt_fail(__func__, "the library below does not start", GLT_ERR_BELOW);
    for (int i = 0; i < team->num_xstreams; i++)
        team->team[i] = i;
    for (int i = 0; i < team->num_pools; i++)
        team->pools[i] = i;
    glt_enter_pools();
    glt_lower_set_self(&glt_generic.first);
}

GLT_API void glt_finalize(void)
{
    glt_lower_end();
    glt_free_team();
}

GLT_API int glt_get_thread_num(void)
{
    return glt_lower_thread_num();
}

GLT_API double glt_get_wtime(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

GLT_API int glt_can_future_functions(void)
{
    return 1;
}

GLT_API int glt_can_manage_scheduler(void)
{
    return 0;
}

GLT_API void glt_get_error_str(int code, char *text, size_t *length)
{
    static const char *const names[] = {"success", "out of memory", "wrong argument", "locked",
                                        "the library below fails"};
    const char *name = code >= 0 && code <= GLT_ERR_BELOW ? names[code] : "unknown code";

    if (text != NULL)
        strcpy(text, name);
    if (length != NULL)
        *length = strlen(name);
}

/* Room for an object, all zero. NULL when the program shall go on without. */
__attribute__((unused)) static void *glt_make(const char *function, size_t size)
{
    void *object = calloc(1, size);

    if (__builtin_expect(object == NULL, 0))
        glt_fail(function, "out of memory", GLT_ERR_MEM);
    return object;
}

/* ---- ULTs and tasklets --------------------------------------------------------------------------------------------
 */

/* A destructor may set values again: after a few rounds they are left alone. */
__attribute__((unused)) static void glt_end_values(struct glt_unit *unit)
{
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < GLT_MAX_KEYS; i++) {
            void *value = unit->values[i];
            unit->values[i] = NULL;
            if (value != NULL && glt_generic.keys[i].used && glt_generic.keys[i].destructor != NULL)
                glt_generic.keys[i].destructor(value);
        }
}

__attribute__((unused)) static void glt_run_unit(struct glt_unit *unit)
{
    glt_lower_set_self(unit);
    if (setjmp(unit->end) == 0 && !__atomic_load_n(&unit->cancelled, __ATOMIC_RELAXED))
        unit->function(unit->arg);
    glt_end_values(unit);
}

__attribute__((unused)) static void glt_fork(const char *name, void (*function)(void *), void *arg,
                                             struct glt_unit **handle, int dest)
{
    struct glt_unit *unit = (struct glt_unit *)glt_make(name, sizeof(*unit));

    if (unit == NULL)
        return;
    unit->function = function;
    unit->arg = arg;
    unit->id = __atomic_add_fetch(&glt_generic.ids, 1, __ATOMIC_RELAXED); /* a number; it orders nothing */
    if (handle != NULL)
        *handle = unit;
    int code = glt_lower_fork(unit, glt_pool_of(dest));
    if (code != GLT_SUCCESS) {
        if (handle != NULL)
            *handle = NULL;
        free(unit);
        glt_fail_by_code(name, code);
    }
}

GLT_API void glt_ult_create_to(void (*function)(void *), void *arg, GLT_ult *ult, int dest)
{
    glt_fork(__func__, function, arg, ult, dest);
}

GLT_API void glt_ult_create(void (*function)(void *), void *arg, GLT_ult *ult)
{
    glt_fork(__func__, function, arg, ult, glt_get_thread_num());
}

GLT_API void glt_tasklet_create_to(void (*function)(void *), void *arg, GLT_tasklet *tasklet, int dest)
{
    glt_fork(__func__, function, arg, tasklet, dest);
}

GLT_API void glt_tasklet_create(void (*function)(void *), void *arg, GLT_tasklet *tasklet)
{
    glt_fork(__func__, function, arg, tasklet, glt_get_thread_num());
}

GLT_API void glt_ult_join(GLT_ult *ult)
{
    if (*ult == NULL) {
        glt_fail_by_code(__func__, GLT_ERR_ARG);
        return;
    }
    GLT_CHECK(glt_lower_join(*ult));
    free(*ult);
    *ult = NULL;
}

GLT_API void glt_tasklet_join(GLT_tasklet *tasklet)
{
    glt_ult_join(tasklet);
}

GLT_API void glt_ult_exit(void)
{
    longjmp(glt_lower_self()->end, 1);
}

GLT_API void glt_yield(void)
{
    glt_lower_yield();
    if (__builtin_expect(__atomic_load_n(&glt_lower_self()->cancelled, __ATOMIC_RELAXED),
                         0)) /* a request; orders nothing */
        glt_ult_exit();
}

/* The libraries below choose whom they run. */
GLT_API void glt_yield_to(GLT_ult ult)
{
    (void)ult;
    glt_yield();
}

GLT_API void glt_ult_cancel(GLT_ult ult)
{
    __atomic_store_n(&ult->cancelled, 1, __ATOMIC_RELAXED); /* a request; orders nothing */
}

GLT_API void glt_tasklet_cancel(GLT_tasklet tasklet)
{
    glt_ult_cancel(tasklet);
}

GLT_API void glt_ult_self(GLT_ult *ult)
{
    *ult = glt_lower_self();
}

GLT_API void glt_tasklet_self(GLT_tasklet *tasklet)
{
    *tasklet = glt_lower_self();
}

GLT_API void glt_ult_get_id(GLT_ult_id *id, GLT_ult ult)
{
    *id = ult->id;
}

GLT_API void glt_ult_migrate_self_to(int dest)
{
    GLT_CHECK(glt_lower_migrate(glt_pool_of(dest)));
}

/* ---- Mutexes, barriers, condition variables -----------------------------------------------------------------------
 */

/* Puts the caller behind the others, under their guard, which is left; returns when it has been woken. */
__attribute__((unused)) static int glt_wait_in(struct glt_waiter ***last, glt_lower_mutex *guard)
{
    struct glt_waiter waiter;
    int code = glt_lower_word_begin(&waiter.word);

    waiter.next = NULL;
    **last = &waiter;
    *last = &waiter.next;
    code |= glt_lower_unlock(guard);
    code |= glt_lower_wait(&waiter.word);
    glt_lower_word_end(&waiter.word);
    return code;
}

/* Takes the first one out, under the guard. */
__attribute__((unused)) static struct glt_waiter *glt_take_waiter(struct glt_waiter **first, struct glt_waiter ***last)
{
    struct glt_waiter *waiter = *first;

    if (waiter != NULL && (*first = waiter->next) == NULL)
        *last = first;
    return waiter;
}

GLT_API void glt_mutex_create(GLT_mutex *mutex)
{
    *mutex = (GLT_mutex)glt_make(__func__, sizeof(**mutex));
    if (*mutex == NULL)
        return;
    (*mutex)->last = &(*mutex)->first;
    GLT_CHECK(glt_lower_mutex_begin(&(*mutex)->guard));
}

GLT_API void glt_mutex_free(GLT_mutex *mutex)
{
    glt_lower_mutex_end(&(*mutex)->guard);
    free(*mutex);
    *mutex = NULL;
}

/* An unlock hands the mutex to the first waiter. */
GLT_API void glt_mutex_lock(GLT_mutex mutex)
{
    if (mutex == NULL) {
        glt_fail_by_code(__func__, GLT_ERR_ARG);
        return;
    }
    GLT_CHECK(glt_lower_lock(&mutex->guard));
    if (mutex->locked) {
        GLT_CHECK(glt_wait_in(&mutex->last, &mutex->guard));
    } else {
        mutex->locked = 1;
        GLT_CHECK(glt_lower_unlock(&mutex->guard));
    }
}

GLT_API void glt_mutex_spinlock(GLT_mutex mutex)
{
    glt_mutex_lock(mutex);
}

GLT_API int glt_mutex_trylock(GLT_mutex mutex)
{
    int locked;

    GLT_CHECK(glt_lower_lock(&mutex->guard));
    locked = mutex->locked;
    mutex->locked = 1;
    GLT_CHECK(glt_lower_unlock(&mutex->guard));
    return locked ? GLT_ERR_LOCKED : GLT_SUCCESS;
}

GLT_API void glt_mutex_unlock(GLT_mutex mutex)
{
    struct glt_waiter *waiter;

    if (mutex == NULL) {
        glt_fail_by_code(__func__, GLT_ERR_ARG);
        return;
    }
    GLT_CHECK(glt_lower_lock(&mutex->guard));
    waiter = glt_take_waiter(&mutex->first, &mutex->last);
    mutex->locked = waiter != NULL;
    GLT_CHECK(glt_lower_unlock(&mutex->guard));
    if (waiter != NULL)
        GLT_CHECK(glt_lower_wake(&waiter->word));
}

GLT_API void glt_cond_create(GLT_cond *cond)
{
    *cond = (GLT_cond)glt_make(__func__, sizeof(**cond));
    if (*cond == NULL)
        return;
    (*cond)->last = &(*cond)->first;
    GLT_CHECK(glt_lower_mutex_begin(&(*cond)->guard));
}

GLT_API void glt_cond_free(GLT_cond *cond)
{
    glt_lower_mutex_end(&(*cond)->guard);
    free(*cond);
    *cond = NULL;
}

/* The caller is in the queue before the mutex is free, so no signal after that is lost. */
GLT_API void glt_cond_wait(GLT_cond cond, GLT_mutex mutex)
{
    GLT_CHECK(glt_lower_lock(&cond->guard));
    glt_mutex_unlock(mutex);
    GLT_CHECK(glt_wait_in(&cond->last, &cond->guard));
    glt_mutex_lock(mutex);
}

GLT_API void glt_cond_signal(GLT_cond cond)
{
    struct glt_waiter *waiter;

    GLT_CHECK(glt_lower_lock(&cond->guard));
    waiter = glt_take_waiter(&cond->first, &cond->last);
    GLT_CHECK(glt_lower_unlock(&cond->guard));
    if (waiter != NULL)
        GLT_CHECK(glt_lower_wake(&waiter->word));
}

/* Wakes all of a list. A woken waiter may end at once, so that its place is read before. */
__attribute__((unused)) static int glt_wake_all(struct glt_waiter *first)
{
    int code = GLT_SUCCESS;

    for (struct glt_waiter *next; first != NULL; first = next) {
        next = first->next;
        code |= glt_lower_wake(&first->word);
    }
    return code;
}

GLT_API void glt_cond_broadcast(GLT_cond cond)
{
    struct glt_waiter *all;

    GLT_CHECK(glt_lower_lock(&cond->guard));
    all = cond->first;
    cond->first = NULL;
    cond->last = &cond->first;
    GLT_CHECK(glt_lower_unlock(&cond->guard));
    GLT_CHECK(glt_wake_all(all));
}

GLT_API void glt_barrier_create(int num_waiters, GLT_barrier *barrier)
{
    if (num_waiters < 1) {
        glt_fail_by_code(__func__, GLT_ERR_ARG);
        return;
    }
    *barrier = (GLT_barrier)glt_make(__func__, sizeof(**barrier));
    if (*barrier == NULL)
        return;
    (*barrier)->number = num_waiters;
    (*barrier)->last = &(*barrier)->first;
    GLT_CHECK(glt_lower_mutex_begin(&(*barrier)->guard));
}

GLT_API void glt_barrier_free(GLT_barrier *barrier)
{
    glt_lower_mutex_end(&(*barrier)->guard);
    free(*barrier);
    *barrier = NULL;
}

GLT_API void glt_barrier_wait(GLT_barrier *barrier)
{
    GLT_barrier b = *barrier;
    struct glt_waiter *all;

    GLT_CHECK(glt_lower_lock(&b->guard));
    if (++b->here < b->number) {
        GLT_CHECK(glt_wait_in(&b->last, &b->guard));
        return;
    }
    all = b->first;
    b->first = NULL;
    b->last = &b->first;
    b->here = 0;
    GLT_CHECK(glt_lower_unlock(&b->guard));
    GLT_CHECK(glt_wake_all(all));
}

/* ---- Futures, keys, timers ----------------------------------------------------------------------------------------
 */

GLT_API void glt_future_create(int num_bytes, GLT_future *future)
{
    if (num_bytes < 0) {
        glt_fail_by_code(__func__, GLT_ERR_ARG);
        return;
    }
    *future = (GLT_future)glt_make(__func__, sizeof(**future) + (size_t)num_bytes);
    if (*future == NULL)
        return;
    (*future)->size = num_bytes;
    (*future)->value = *future + 1;
    GLT_CHECK(glt_lower_word_begin(&(*future)->word));
}

GLT_API void glt_future_free(GLT_future *future)
{
    glt_lower_word_end(&(*future)->word);
    free(*future);
    *future = NULL;
}

GLT_API void glt_future_set(GLT_future future, void *value, int num_bytes)
{
    if (num_bytes < 0 || num_bytes > future->size) {
        glt_fail_by_code(__func__, GLT_ERR_ARG);
        return;
    }
    if (num_bytes > 0)
        memcpy(future->value, value, (size_t)num_bytes);
    GLT_CHECK(glt_lower_wake(&future->word));
}

GLT_API void glt_future_wait(GLT_future future, void **value)
{
    GLT_CHECK(glt_lower_wait(&future->word));
    if (value != NULL)
        *value = future->size > 0 ? future->value : NULL;
}

GLT_API void glt_key_create(void (*destructor)(void *value), GLT_key *key)
{
    int number = 0;

    /* The caller that changes used from 0 to 1 has the key; acquire: after its last user. */
    while (number < GLT_MAX_KEYS && __atomic_exchange_n(&glt_generic.keys[number].used, 1, __ATOMIC_ACQUIRE))
        number++;
    *key = number < GLT_MAX_KEYS ? (GLT_key)glt_make(__func__, sizeof(**key)) : NULL;
    if (*key == NULL) {
        glt_fail(__func__, "there is no room for more keys", GLT_ERR_MEM);
        return;
    }
    (*key)->number = number;
    glt_generic.keys[number].destructor = destructor;
}

GLT_API void glt_key_free(GLT_key *key)
{
    /* Release: see glt_key_create. */
    __atomic_store_n(&glt_generic.keys[(*key)->number].used, 0, __ATOMIC_RELEASE);
    free(*key);
    *key = NULL;
}

GLT_API void glt_key_get(GLT_key key, void **value)
{
    *value = glt_lower_self()->values[key->number];
}

GLT_API void glt_key_set(GLT_key key, void *value)
{
    glt_lower_self()->values[key->number] = value;
}

GLT_API void glt_timer_create(GLT_timer *timer)
{
    *timer = (GLT_timer)glt_make(__func__, sizeof(**timer));
}

GLT_API void glt_timer_free(GLT_timer *timer)
{
    free(*timer);
    *timer = NULL;
}

GLT_API void glt_timer_start(GLT_timer timer)
{
    timer->start = glt_get_wtime();
}

GLT_API void glt_timer_stop(GLT_timer timer)
{
    timer->stop = glt_get_wtime();
}

GLT_API void glt_timer_get_secs(GLT_timer timer, double *seconds)
{
    *seconds = timer->stop - timer->start;
}

/* ---- Schedulers: there are none to manage -------------------------------------------------------------------------
 */

__attribute__((unused)) static void glt_say_no_schedulers(void)
{
    glt_say_missing("schedulers to manage", &glt_said_no_schedulers);
}

GLT_API void glt_scheduler_create(GLT_sched_def *def, int num_pools, int *pools, GLT_sched_config config,
                                  GLT_sched *sched)
{
    (void)def;
    (void)num_pools;
    (void)pools;
    (void)config;
    *sched = GLT_SCHED_NULL;
    glt_say_no_schedulers();
}

GLT_API void glt_schededuler_create_basic(GLT_sched_predef predef, int num_pools, int *pools, GLT_sched_config config,
                                          GLT_sched *sched)
{
    (void)predef;
    glt_scheduler_create(NULL, num_pools, pools, config, sched);
}

GLT_API void glt_scheduler_config_free(GLT_sched_config *config)
{
    *config = GLT_SCHED_CONFIG_NULL;
    glt_say_no_schedulers();
}

GLT_API void glt_scheduler_free(GLT_sched *sched)
{
    *sched = GLT_SCHED_NULL;
    glt_say_no_schedulers();
}

GLT_API void glt_scheduler_exit(GLT_sched sched)
{
    (void)sched;
    glt_say_no_schedulers();
}

GLT_API void glt_scheduler_finish(GLT_sched sched)
{
    (void)sched;
    glt_say_no_schedulers();
}

GLT_API void glt_scheduler_has_to_stop(GLT_sched sched, GLT_bool *stop)
{
    (void)sched;
    *stop = GLT_FALSE;
    glt_say_no_schedulers();
}

GLT_API void glt_scheduler_get_data(GLT_sched sched, void **data)
{
    (void)sched;
    *data = NULL;
    glt_say_no_schedulers();
}

GLT_API void glt_scheduler_set_data(GLT_sched sched, void *data)
{
    (void)sched;
    (void)data;
    glt_say_no_schedulers();
}

GLT_API void glt_scheduler_get_size(GLT_sched sched, size_t *size)
{
    (void)sched;
    *size = 0;
    glt_say_no_schedulers();
}

GLT_API void glt_scheduler_get_total_size(GLT_sched sched, size_t *size)
{
    glt_scheduler_get_size(sched, size);
}

#endif

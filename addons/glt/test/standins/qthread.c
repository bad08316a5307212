/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of Qthreads that GLT calls, by native threads: slow, and right enough to run the tests of GLT with. A
 * word is full unless it is in the list of empty ones. One lock guards all.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <qthread/qthread.h>

struct word {
    const aligned_t *address;
    struct word *next;
};

struct fork {
    qthread_f f;
    void *arg;
    aligned_t *ret;
    int shepherd;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct word *empty_words;
static int shepherds, workers;
static _Thread_local int my_shepherd;
static _Thread_local void *local[4];

static struct word **find(const aligned_t *address)
{
    struct word **word = &empty_words;

    while (*word != NULL && (*word)->address != address)
        word = &(*word)->next;
    return word;
}

static void set_empty(const aligned_t *address)
{
    struct word **word = find(address);

    if (*word == NULL) {
        *word = calloc(1, sizeof(**word));
        (*word)->address = address;
    }
}

static void set_full(const aligned_t *address)
{
    struct word **word = find(address), *found = *word;

    if (found != NULL) {
        *word = found->next;
        free(found);
    }
    pthread_cond_broadcast(&changed);
}

int qthread_initialize(void)
{
    const char *number = getenv("QTHREAD_NUM_SHEPHERDS"), *per = getenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD");

    shepherds = number != NULL ? atoi(number) : 2;
    workers = shepherds * (per != NULL ? atoi(per) : 1);
    return QTHREAD_SUCCESS;
}

void qthread_finalize(void)
{
}

qthread_worker_id_t qthread_num_workers(void)
{
    return (qthread_worker_id_t)workers;
}

/* The first one of the shepherd. */
qthread_worker_id_t qthread_worker(qthread_shepherd_id_t *s)
{
    if (s != NULL)
        *s = (qthread_shepherd_id_t)my_shepherd;
    return (qthread_worker_id_t)my_shepherd;
}

static void *run(void *arg)
{
    struct fork fork = *(struct fork *)arg;

    free(arg);
    my_shepherd = fork.shepherd;
    *fork.ret = fork.f(fork.arg);
    pthread_mutex_lock(&lock);
    set_full(fork.ret);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int qthread_fork_to(qthread_f f, const void *arg, aligned_t *ret, qthread_shepherd_id_t shepherd)
{
    struct fork *fork = malloc(sizeof(*fork));
    pthread_t thread;

    *fork = (struct fork){.f = f, .arg = (void *)arg, .ret = ret, .shepherd = shepherd};
    pthread_mutex_lock(&lock);
    set_empty(ret);
    pthread_mutex_unlock(&lock);
    if (pthread_create(&thread, NULL, run, fork) != 0)
        abort();
    return pthread_detach(thread);
}

void qthread_yield(void)
{
    sched_yield();
}

int qthread_migrate_to(qthread_shepherd_id_t shepherd)
{
    my_shepherd = shepherd;
    return QTHREAD_SUCCESS;
}

void *qthread_get_tasklocal(unsigned int size)
{
    return size <= sizeof(local) ? local : NULL;
}

int qthread_empty(const aligned_t *dest)
{
    pthread_mutex_lock(&lock);
    set_empty(dest);
    pthread_mutex_unlock(&lock);
    return QTHREAD_SUCCESS;
}

int qthread_fill(const aligned_t *dest)
{
    pthread_mutex_lock(&lock);
    set_full(dest);
    pthread_mutex_unlock(&lock);
    return QTHREAD_SUCCESS;
}

static int read_word(aligned_t *dest, const aligned_t *src, int then_empty)
{
    pthread_mutex_lock(&lock);
    while (*find(src) != NULL)
        pthread_cond_wait(&changed, &lock);
    if (dest != NULL)
        *dest = *src;
    if (then_empty)
        set_empty(src);
    pthread_mutex_unlock(&lock);
    return QTHREAD_SUCCESS;
}

int qthread_readFE(aligned_t *dest, const aligned_t *src)
{
    return read_word(dest, src, 1);
}

int qthread_readFF(aligned_t *dest, const aligned_t *src)
{
    return read_word(dest, src, 0);
}

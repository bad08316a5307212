/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is not linked with libabt opens it after MPI_Init, while a native thread of it waits in MPI. The first
 * ULT that waits is suspended all the same, as the level is MPI_THREAD_MULTIPLE, and the thread gets its message.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "job.h"

enum { TAG_THREAD = 1, TAG_ULT = 2, TAG_BACK = 3, NUMBER = 42 };

static void *receive(void *arg)
{
    MPI_Recv(arg, 1, MPI_INT, 0, TAG_THREAD, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return NULL;
}

/* Two ULTs of a stream wait for each other's message. */
static void ask(void *arg)
{
    int number = NUMBER;

    MPI_Recv(arg, 1, MPI_INT, 0, TAG_ULT, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&number, 1, MPI_INT, 0, TAG_THREAD, arg, 1, MPI_INT, 0, TAG_BACK, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void answer(void *arg)
{
    int number = NUMBER;

    MPI_Ssend(&number, 1, MPI_INT, 0, TAG_ULT, MPI_COMM_SELF);
    MPI_Ssend(&number, 1, MPI_INT, 0, TAG_BACK, MPI_COMM_SELF);
}

static void run_ults(int *number)
{
    void *libabt = dlopen("libabt.so.1", RTLD_NOW | RTLD_LOCAL);
    __typeof__(ABT_init) *init = libabt ? dlsym(libabt, "ABT_init") : NULL;
    __typeof__(ABT_self_get_last_pool) *get_pool = libabt ? dlsym(libabt, "ABT_self_get_last_pool") : NULL;
    __typeof__(ABT_thread_create) *create = libabt ? dlsym(libabt, "ABT_thread_create") : NULL;
    __typeof__(ABT_thread_free) *end = libabt ? dlsym(libabt, "ABT_thread_free") : NULL;
    ABT_pool pool;
    ABT_thread ults[2];

    if (!init || !get_pool || !create || !end)
        bail_out("no libabt");
    init(0, NULL);
    get_pool(&pool);
    create(pool, ask, number, ABT_THREAD_ATTR_NULL, &ults[0]);
    create(pool, answer, NULL, ABT_THREAD_ATTR_NULL, &ults[1]);
    end(&ults[0]);
    end(&ults[1]);
}

int main(int argc, char **argv)
{
    int level = -1, numbers[2] = {0};
    pthread_t thread;

    job_begin("1");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    job_know();
    if (level != MPI_THREAD_MULTIPLE)
        skip_all("there is no MPI_THREAD_MULTIPLE");
    pthread_create(&thread, NULL, receive, &numbers[0]);
    usleep(10000); /* most often it is in MPI_Recv then; if not, it is there later */
    run_ults(&numbers[1]);
    pthread_join(thread, NULL);
    is_int(numbers[0], NUMBER, "the native thread has its message");
    is_int(numbers[1], NUMBER, "ULTs that come late are suspended");
    is_int(MPI_Finalize(), MPI_SUCCESS, "MPI_Finalize");
    return job_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs are cancelled in calls of MPI: the first call of all, one that waits, and one with a send that is done and a
 * receive that is not. A ULT ends when its call has ended, and nothing comes into its frame later.
 */
#include "job.h"

enum { TAG = 1, TAG_LARGE = 2, TAG_GO = 3, LARGE = 1 << 20, PAUSE_US = 100000 };

static char *large;

static void let_go(void)
{
    int go = 0;

    MPI_Send(&go, 1, MPI_INT, 1, TAG_GO, MPI_COMM_WORLD);
}

static void be_let_go(void)
{
    int go;

    MPI_Recv(&go, 1, MPI_INT, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- The first call --------------------------------------------------------------------------------------------- */

static void ask_cancelled(void *arg)
{
    ABT_thread self;
    int flag;

    ABT_self_get_thread(&self);
    ABT_thread_cancel(self);
    MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void receive_one(void)
{
    int value = -1;

    MPI_Recv(&value, 1, MPI_INT, job_rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    is_int(value, 33, "a ULT that waits lets others of its stream run");
}

static void send_one(void)
{
    int value = 33;

    MPI_Send(&value, 1, MPI_INT, job_rank, TAG, MPI_COMM_WORLD);
}

/* ---- A ULT that waits ------------------------------------------------------------------------------------------- */

static void receive(void *arg)
{
    MPI_Recv(arg, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_and_receive(void *arg)
{
    MPI_Sendrecv(large, LARGE, MPI_CHAR, 1, TAG_LARGE, arg, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_and_replace(void *arg)
{
    MPI_Sendrecv_replace(large, LARGE, MPI_CHAR, 1, TAG_LARGE, 1, TAG_LARGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 1 does its part, the later message after a pause, only when the ULT of rank 0 has been cancelled. */
static void cancel_in(void (*func)(void *), int *value)
{
    ABT_pool pool;
    ABT_thread ult;

    ABT_self_get_last_pool(&pool);
    ABT_thread_create(pool, func, value, ABT_THREAD_ATTR_NULL, &ult);
    ABT_thread_yield();
    ABT_thread_cancel(ult);
    let_go();
    ABT_thread_free(&ult);
}

static void play_zero(const char *how)
{
    int value = -1;

    cancel_in(receive, &value);
    is_int(value, 10, "a receive has ended, %s", how);
    cancel_in(send_and_receive, &value);
    is_int(value, 20, "a send and a receive have, %s", how);
    large[LARGE - 1] = 0;
    cancel_in(send_and_replace, NULL);
    is_int(large[LARGE - 1], 30, "those of one buffer have, %s", how);
}

static void play_one(void)
{
    int values[2] = {10, 20};

    be_let_go();
    usleep(PAUSE_US);
    MPI_Send(&values[0], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    be_let_go();
    MPI_Recv(large, LARGE, MPI_CHAR, 0, TAG_LARGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(PAUSE_US);
    MPI_Send(&values[1], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    be_let_go();
    MPI_Recv(large, LARGE, MPI_CHAR, 0, TAG_LARGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(PAUSE_US);
    large[LARGE - 1] = 30;
    MPI_Send(large, LARGE, MPI_CHAR, 0, TAG_LARGE, MPI_COMM_WORLD);
}

static void play(const char *how)
{
    if (job_rank == 0)
        play_zero(how);
    else
        play_one();
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    fail("error %d", *code);
}

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler;
    int none = 0;

    job_begin("2");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    large = calloc(1, LARGE);
    job_run(1, ask_cancelled, &none, 0);
    job_run_pair(receive_one, send_one);
    play("completed by the driver");
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    play("completed by its ULT");
    MPI_Errhandler_free(&errhandler);
    free(large);
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}

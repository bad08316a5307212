/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes wrong between two processes while a ULT waits: messages that are too long, a cancel too late, a fork, a
 * handler of the program that waits.
 */
#include <stdbool.h>
#include <sys/wait.h>

#include "job.h"

enum { TAG = 1, TAG_NEVER = 2, TAG_READY = 3 };

static int values[4];

/* The other process sends two numbers when it has got a message. */
static void ask_for_two(void)
{
    MPI_Send(values, 0, MPI_INT, 1, TAG_READY, MPI_COMM_WORLD);
}

static void answer_by_two(void)
{
    MPI_Recv(values, 0, MPI_INT, 0, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(values, 2, MPI_INT, 0, TAG, MPI_COMM_WORLD);
}

static void truncated(void)
{
    ask_for_two();
    job_receive_too_long(1, TAG);
}

static void truncated_and_handled(void)
{
    ask_for_two();
    job_receive_handled(1, TAG, MPI_COMM_WORLD);
}

static void truncated_of_two(void)
{
    MPI_Request requests[3];

    job_post_two(1, TAG, TAG_NEVER, values, requests);
    ask_for_two();
    job_wait_for_two(requests);
}

/* A receive that has got its message is not cancelled any more. */
static void cancelled_too_late(void)
{
    MPI_Request request;
    MPI_Status status;
    int is_there = 0, is_cancelled = 1, count = 0;

    MPI_Irecv(values, 2, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
    ask_for_two();
    while (!is_there)
        MPI_Request_get_status(request, &is_there, MPI_STATUS_IGNORE);
    MPI_Cancel(&request);
    is_int(MPI_Wait(&request, &status), MPI_SUCCESS, "a cancel after the message has come");
    MPI_Test_cancelled(&status, &is_cancelled);
    MPI_Get_count(&status, MPI_INT, &count);
    ok(!is_cancelled && count == 2, "the message is there");
}

/* A child that ends without MPI, or runs another program, disturbs nobody. */
static void forked(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(3);
    waitpid(child, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 3, "a child ends");
    child = fork();
    if (child == 0) {
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child becomes another program");
    ask_for_two();
    is_int(MPI_Recv(values, 2, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS,
           "messages come as before");
}

static int handled;
static bool is_handling;
static ABT_eventual_memory seen;

static void handler(MPI_Comm *comm, int *code, ...)
{
    is_int(class_of(*code), MPI_ERR_TRUNCATE, "a handler gets the code");
    is_handling = true;
    ABT_eventual_wait(ABT_EVENTUAL_MEMORY_GET_HANDLE(&seen), NULL);
    handled++;
}

static void set_for_handler(void)
{
    while (!is_handling)
        ABT_thread_yield();
    ABT_eventual_set(ABT_EVENTUAL_MEMORY_GET_HANDLE(&seen), NULL, 0);
}

/* Last of all: MPI_ERRORS_RETURN is not set again. */
static void handled_by_waiting(void)
{
    MPI_Errhandler errhandler;

    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    job_run_pair(truncated_and_handled, set_for_handler);
    is_int(handled, 1, "a handler waits for another ULT");
    MPI_Errhandler_free(&errhandler);
}

static void (*const asks[])(void) = {truncated, truncated_of_two, cancelled_too_late, forked, handled_by_waiting};

static void run(void *arg)
{
    (job_rank == 0 ? asks[*(int *)arg] : answer_by_two)();
}

int main(int argc, char **argv)
{
    job_begin("2");
    MPI_Init(&argc, &argv);
    job_know();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ABT_init(argc, argv);
    for (int i = 0; i < (int)(sizeof(asks) / sizeof(asks[0])); i++)
        job_run(1, run, &i, sizeof(i));
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Continuations: functions run as ULTs of the pool that was given when operations are done, with their statuses; they
 * may wait in MPI. Errors, a handler of the program, and MPI_Finalize before an operation is done.
 */
#include "job.h"

#include "abtmpi.h"

enum { MANY = 100, TAG = 10000, TAG_BACK, TAG_NEVER, TAG_LONG };

static ABT_pool pool;
static int values[MANY], calls;
static MPI_Status statuses[MANY];
static ABT_eventual_memory done;

static void wait_for_call(void)
{
    ABT_eventual_wait(ABT_EVENTUAL_MEMORY_GET_HANDLE(&done), NULL);
    ABT_eventual_reset(ABT_EVENTUAL_MEMORY_GET_HANDLE(&done));
}

static void end(void *arg)
{
    ABT_pool own;

    ABT_self_get_last_pool(&own);
    ok(own == pool, "%s: a ULT of the pool", (const char *)arg);
    ABT_eventual_set(ABT_EVENTUAL_MEMORY_GET_HANDLE(&done), NULL, 0);
}

static void ask_for(int tag)
{
    MPI_Send(&tag, 1, MPI_INT, 1 - job_rank, TAG, MPI_COMM_WORLD);
}

/* The other process sends what it is asked for. */
static void answer(void)
{
    int tag, numbers[2] = {0};

    for (;;) {
        MPI_Recv(&tag, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (tag == TAG_NEVER)
            return;
        numbers[0] = tag;
        MPI_Send(numbers, tag == TAG_LONG ? 2 : 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
}

static void check_one(void)
{
    MPI_Request request;

    MPI_Irecv(&values[0], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    is_int(ABTMPI_Continue(&request, end, "one", pool, &statuses[0]), MPI_SUCCESS, "ABTMPI_Continue");
    ok(request == MPI_REQUEST_NULL, "the request is not the program's any more");
    ask_for(1);
    wait_for_call();
    ok(values[0] == 1 && statuses[0].MPI_TAG == 1 && statuses[0].MPI_ERROR == MPI_SUCCESS, "the message, its status");
    is_int(ABTMPI_Continue(&request, end, "nothing", pool, MPI_STATUS_IGNORE), MPI_SUCCESS, "a null request");
    wait_for_call();
    is_int(ABTMPI_Continue(&request, NULL, NULL, pool, MPI_STATUS_IGNORE), MPI_ERR_ARG, "no function");
}

static void check_all(void)
{
    MPI_Request requests[MANY], own;
    int right = 0;

    MPI_Recv_init(&values[MANY - 1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &own);
    requests[MANY - 1] = own; /* is not started */
    for (int i = 0; i < MANY - 1; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    ABTMPI_Continueall(MANY, requests, end, "many", pool, statuses);
    for (int i = 0; i < MANY - 1; i++)
        ask_for(MANY - 2 - i);
    wait_for_call();
    for (int i = 0; i < MANY - 1; i++)
        right += requests[i] == MPI_REQUEST_NULL && values[i] == i && statuses[i].MPI_TAG == i;
    is_int(right, MANY - 1, "each has its message");
    MPI_Request_free(&own);
}

static void receive_next(void *arg)
{
    ask_for(TAG_BACK);
    MPI_Recv(&values[1], 1, MPI_INT, 1, TAG_BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == MANY)
        ABT_eventual_set(ABT_EVENTUAL_MEMORY_GET_HANDLE(&done), NULL, 0);
}

static void check_waits(void)
{
    MPI_Request request;

    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(&values[0], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
        ABTMPI_Continue(&request, receive_next, NULL, pool, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < MANY; i++)
        ask_for(2);
    wait_for_call();
    is_int(calls, MANY, "functions that wait in MPI");
}

static void check_error(const char *what)
{
    MPI_Request requests[2];

    MPI_Irecv(&values[0], 1, MPI_INT, 1, TAG_LONG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[1]);
    ABTMPI_Continueall(2, requests, end, (void *)(uintptr_t)what, pool, statuses);
    ask_for(TAG_LONG);
    ask_for(3);
    wait_for_call();
    is_int(class_of(statuses[0].MPI_ERROR), MPI_ERR_TRUNCATE, "%s: what is wrong", what);
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    calls++;
}

static void check_errors(void)
{
    MPI_Errhandler handler;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_error("errors are returned");
    is_int(statuses[1].MPI_ERROR, MPI_SUCCESS, "the other one is waited for");
    is_int(values[1], 3, "and its message is there");
    calls = 0;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    check_error("a handler of the program");
    ok(calls > 0, "the handler is called");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

static void ask(void)
{
    MPI_Request request;

    check_one();
    check_all();
    check_waits();
    MPI_Irecv(&values[0], 1, MPI_INT, 1, TAG_NEVER, MPI_COMM_WORLD, &request);
    ABTMPI_Continue(&request, end, "MPI_Finalize", pool, &statuses[0]);
    check_errors();
    ask_for(TAG_NEVER);
}

int main(int argc, char **argv)
{
    ABT_xstream xstream;

    job_begin("2");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    ABT_xstream_create(ABT_SCHED_NULL, &xstream);
    ABT_xstream_get_main_pools(xstream, 1, &pool);
    if (job_rank == 0)
        ask();
    else
        answer();
    MPI_Finalize();
    if (job_rank == 0) {
        wait_for_call();
        is_int(statuses[0].MPI_ERROR, MPI_ERR_OTHER, "MPI_Finalize ends it");
    }
    ABT_xstream_free(&xstream);
    ABT_finalize();
    return job_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes wrong while ULTs wait, in one process that sends messages to itself: truncation, a cancel, handlers of the
 * program that wait; very many requests; a request of the program's own kind; and MPI_Finalize while ULTs wait.
 */
#include "job.h"

enum { TAG = 1, TAG_NEVER = 2, MANY = 10000 };

static int sent[4], got[4];
static MPI_Request shared;
static int handled;
static ABT_eventual_memory seen;

/* Open MPI 4.1 says nothing of a message that is too long, if it is from the same process. */
static bool is_truncation_seen(void)
{
    MPI_Request request;

    MPI_Irecv(got, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    MPI_Send(sent, 2, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    return MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
}

static void send_two(void)
{
    MPI_Send(sent, 2, MPI_INT, 0, TAG, MPI_COMM_WORLD);
}

static void truncated(void)
{
    job_receive_too_long(0, TAG);
}

static void truncated_and_handled(void)
{
    job_receive_handled(0, TAG, MPI_COMM_WORLD);
}

static void truncated_of_two(void)
{
    MPI_Request requests[3];

    job_post_two(0, TAG, TAG_NEVER, got, requests);
    job_wait_for_two(requests);
}

/* MPI_ERRORS_RETURN is set: the MPI library gives a code. */
static void refused(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int index;

    ok(MPI_Test(&request, NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS, "MPI_Test without a flag");
    ok(MPI_Waitsome(1, &request, NULL, &index, &status) != MPI_SUCCESS, "MPI_Waitsome without a number");
}

static void nothing(void)
{
}

static void cancelled(void)
{
    MPI_Status status;
    int flag = 0;

    MPI_Irecv(got, 1, MPI_INT, 0, TAG_NEVER, MPI_COMM_WORLD, &shared);
    MPI_Request own = shared;
    MPI_Wait(&own, &status);
    MPI_Test_cancelled(&status, &flag);
    ok(flag, "a receive that another ULT cancels");
}

static void cancels(void)
{
    MPI_Cancel(&shared);
}

/* Sends to itself are done when they return: the message is short. */
static void send_many(void)
{
    for (int i = MANY; i-- > 0;)
        MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
}

static void receive_many(void)
{
    MPI_Request *requests = malloc(MANY * sizeof(*requests));
    MPI_Status *statuses = malloc(MANY * sizeof(*statuses));
    int *values = malloc(MANY * sizeof(*values)), right = 0;

    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    is_int(MPI_Waitall(MANY, requests, statuses), MPI_SUCCESS, "very many requests");
    for (int i = 0; i < MANY; i++)
        right += values[i] == i;
    is_int(right, MANY, "each has its message");
    free(requests);
    free(statuses);
    free(values);
}

static int query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_TAG = 123;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    ++*(int *)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    return MPI_SUCCESS;
}

static void wait_generalized(void)
{
    MPI_Status status;
    int freed = 0;

    MPI_Grequest_start(query, release, cancel, &freed, &shared);
    MPI_Request own = shared;
    MPI_Wait(&own, &status);
    ok(status.MPI_TAG == 123 && freed == 1, "a generalized request");
}

static void complete_generalized(void)
{
    MPI_Grequest_complete(shared);
}

/* A handler that waits for another ULT. In MPICH it may not call functions that communicate. */
static void handler(MPI_Comm *comm, int *code, ...)
{
    is_int(class_of(*code), MPI_ERR_TRUNCATE, "a handler gets the code");
    ABT_eventual_wait(ABT_EVENTUAL_MEMORY_GET_HANDLE(&seen), NULL);
    handled++;
}

static void send_for_handler(void)
{
    send_two();
    ABT_thread_yield();
    ABT_eventual_set(ABT_EVENTUAL_MEMORY_GET_HANDLE(&seen), NULL, 0);
}

static MPI_Comm other;

static void send_two_on_other(void)
{
    MPI_Send(sent, 2, MPI_INT, 0, TAG, other);
}

static void truncated_on_other(void)
{
    is_int(class_of(MPI_Recv(got, 1, MPI_INT, 0, TAG, other, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE,
           "errors are returned on one communicator, and fatal on another");
}

/* A receive gets the handler of its communicator. */
static void return_errors_on_other(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_dup(MPI_COMM_SELF, &other);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    job_run_pair(truncated_on_other, send_two_on_other);
    MPI_Comm_free(&other);
}

static void wait_for_ever(void *code)
{
    *(int *)code = MPI_Recv(got, 1, MPI_INT, 0, TAG_NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One waits on this stream, and one on another. */
static void finalize_while_two_wait(void)
{
    ABT_xstream xstreams[2];
    ABT_thread ults[2];
    ABT_thread_state state;
    int codes[2] = {-1, -1};

    ABT_xstream_self(&xstreams[0]);
    ABT_xstream_create(ABT_SCHED_NULL, &xstreams[1]);
    for (int i = 0; i < 2; i++) {
        ABT_thread_create_on_xstream(xstreams[i], wait_for_ever, &codes[i], ABT_THREAD_ATTR_NULL, &ults[i]);
        do {
            ABT_thread_yield();
            ABT_thread_get_state(ults[i], &state);
        } while (state != ABT_THREAD_STATE_BLOCKED);
        is_int(codes[i], -1, "a ULT waits");
    }
    MPI_Finalize();
    for (int i = 0; i < 2; i++) {
        ABT_thread_free(&ults[i]);
        is_int(codes[i], MPI_ERR_OTHER, "MPI_Finalize ends the wait");
    }
    ABT_xstream_free(&xstreams[1]);
}

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler;

    job_begin("1");
    MPI_Init(&argc, &argv);
    job_know();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    bool is_seen = is_truncation_seen();
    ABT_init(argc, argv);
    if (is_seen) {
        job_run_pair(truncated, send_two);
        job_run_pair(truncated_of_two, send_two);
    }
    job_run_pair(refused, nothing);
    job_run_pair(cancelled, cancels);
    job_run_pair(receive_many, send_many);
    job_run_pair(wait_generalized, complete_generalized);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    if (is_seen) {
        job_run_pair(truncated_and_handled, send_for_handler);
        is_int(handled, 1, "it has waited");
    }
    job_run_pair(wait_generalized, complete_generalized);
    job_run_pair(cancelled, cancels);
    MPI_Errhandler_free(&errhandler);
    if (is_seen)
        return_errors_on_other();
    finalize_while_two_wait();
    ABT_finalize();
    return job_end();
}

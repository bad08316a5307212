/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is new in MPI 4: sessions, partitioned messages, counts that are large, persistent collective operations. ULTs
 * that wait are suspended.
 */
#include "job.h"

enum { PARTS = 4, TAG = 1, ROUNDS = 3 };

static MPI_Comm comm; /* of a session; each process sends to itself */
static int out[PARTS], in[PARTS], received;
static MPI_Request sending;

static void receive_parts(void)
{
    MPI_Request request;
    MPI_Status status;

    MPI_Precv_init(in, PARTS, 1, MPI_INT, job_rank, TAG, comm, MPI_INFO_NULL, &request);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Start(&request);
        MPI_Wait(&request, &status); /* nothing has been sent yet */
        for (int i = 0; i < PARTS; i++)
            received += in[i] == round * 10 + i;
    }
    MPI_Request_free(&request);
}

static void send_parts(void)
{
    MPI_Psend_init(out, PARTS, 1, MPI_INT, job_rank, TAG, comm, MPI_INFO_NULL, &sending);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Start(&sending);
        for (int i = PARTS - 1; i >= 0; i--) {
            out[i] = round * 10 + i;
            ABT_thread_yield();
            MPI_Pready(i, sending);
        }
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&sending);
}

static void receive_large(void)
{
    MPI_Status status;

    is_int(MPI_Recv_c(in, (MPI_Count)PARTS, MPI_INT, job_rank, TAG, comm, &status), MPI_SUCCESS, "MPI_Recv_c");
}

static void send_large(void)
{
    MPI_Send_c(out, (MPI_Count)PARTS, MPI_INT, job_rank, TAG, comm);
}

static void wait_for_persistent(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MPI_Bcast_init(in, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[1]);
    for (int round = 1; round <= ROUNDS; round++) {
        in[0] = job_rank == 0 ? round : 0;
        MPI_Startall(2, requests);
        is_int(MPI_Waitall(2, requests, statuses), MPI_SUCCESS, "persistent collective operations");
        is_int(in[0], round, "what rank 0 has");
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void yield(void)
{
    ABT_thread_yield();
}

static void handler(MPI_Comm *of, int *code, ...)
{
    is_int(class_of(*code), MPI_ERR_TRUNCATE, "the handler of a communicator gets what is wrong");
}

static void receive_too_long(void)
{
    job_receive_handled(job_rank, TAG, comm);
}

static int make_comm(MPI_Session session, MPI_Errhandler errhandler)
{
    MPI_Group group;

    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    int code = MPI_Comm_create_from_group(group, "four", MPI_INFO_NULL, errhandler, &comm);
    MPI_Group_free(&group);
    return code;
}

/* Without MPI_Init, in which case MPICH 4.0 needs two processes. */
static void begin_session(MPI_Session *session)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    int code = MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, session);
    MPI_Info_free(&info);
    int made = make_comm(*session, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(comm, &job_rank);
    if (job_rank > 0 && !freopen("/dev/null", "w", stdout))
        abort();
    is_int(code, MPI_SUCCESS, "MPI_Session_init");
    is_int(made, MPI_SUCCESS, "MPI_Comm_create_from_group by a ULT");
}

int main(void)
{
    MPI_Session session;
    MPI_Errhandler errhandler;

    job_begin("2");
    ABT_init(0, NULL);
    begin_session(&session);
    job_run_pair(receive_parts, send_parts);
    job_run_pair(receive_large, send_large);
    is_int(received, ROUNDS * PARTS, "all parts have come");
    job_run_pair(wait_for_persistent, yield);
    MPI_Comm_free(&comm);
    MPI_Comm_create_errhandler(handler, &errhandler);
    is_int(make_comm(session, errhandler), MPI_SUCCESS, "MPI_Comm_create_from_group with a handler");
    MPI_Errhandler_free(&errhandler);
    job_run_pair(wait_for_persistent, yield);
    job_run_pair(receive_too_long, send_large);
    MPI_Comm_free(&comm);
    is_int(MPI_Session_finalize(&session), MPI_SUCCESS, "MPI_Session_finalize");
    ABT_finalize();
    return job_end();
}

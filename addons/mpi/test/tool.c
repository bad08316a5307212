/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool that counts calls by the profiling interface of MPI, above libabtmpi: it sees each call of the program once,
 * and none that libabtmpi makes; and ULTs are suspended in its calls.
 */
#include "job.h"

enum { TAG = 1, ROUNDS = 20 };

static int sends, receives, others;

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    receives++;
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    others++;
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    others++;
    return PMPI_Test(request, flag, status);
}

static void receive(void)
{
    int value;

    for (int i = 0; i < ROUNDS; i++)
        MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void send(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Send(&i, 1, MPI_INT, 0, TAG, MPI_COMM_SELF);
        ABT_thread_yield();
    }
}

int main(int argc, char **argv)
{
    job_begin("1");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    job_run_pair(receive, send);
    is_int(sends, ROUNDS, "each send of the program is counted");
    is_int(receives, ROUNDS, "and each receive");
    is_int(others, 0, "and nothing else");
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}

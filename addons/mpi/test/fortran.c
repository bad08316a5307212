/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fortran by both of its interfaces, mpif.h and mpi_f08: a ULT that waits in MPI_RECV lets the one run that sends; and
 * a tool above that counts calls by the profiling interface sees each call of the program once.
 */
#include "job.h"

enum { ROUNDS = 20 };

/* fortran_77.f and fortran_08.f90 */
void f77receive_(const int *rounds, int *sum);
void f77send_(const int *rounds);
void f08receive_(const int *rounds, int *sum);
void f08send_(const int *rounds);

static int counted;

#ifdef OPEN_MPI
/* Its functions for Fortran call PMPI_Recv, so that a tool takes the names of Fortran. */
void mpi_recv_(void *data, void *count, void *type, void *from, void *tag, void *comm, void *status, void *error);
void pmpi_recv_(void *data, void *count, void *type, void *from, void *tag, void *comm, void *status, void *error);
void mpi_recv_f08_(void *data, void *count, void *type, void *from, void *tag, void *comm, void *status, void *error);
void pmpi_recv_f08_(void *data, void *count, void *type, void *from, void *tag, void *comm, void *status, void *error);

void mpi_recv_(void *data, void *count, void *type, void *from, void *tag, void *comm, void *status, void *error)
{
    counted++;
    pmpi_recv_(data, count, type, from, tag, comm, status, error);
}

void mpi_recv_f08_(void *data, void *count, void *type, void *from, void *tag, void *comm, void *status, void *error)
{
    counted++;
    pmpi_recv_f08_(data, count, type, from, tag, comm, status, error);
}
#else
int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    counted++;
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}
#endif

static const struct way {
    void (*receive)(const int *rounds, int *sum);
    void (*send)(const int *rounds);
    const char *name;
} ways[] = {
    {f77receive_, f77send_, "mpif.h"},
    {f08receive_, f08send_, "mpi_f08"},
    {f77receive_, f08send_, "one in mpif.h and one in mpi_f08"},
};
static const struct way *way;
static int sum;

static void receive(void)
{
    const int rounds = ROUNDS;

    way->receive(&rounds, &sum);
}

static void send(void)
{
    const int rounds = ROUNDS;

    way->send(&rounds);
}

int main(int argc, char **argv)
{
    job_begin("1");
    MPI_Init(&argc, &argv);
    job_know();
    ABT_init(argc, argv);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        way = &ways[i];
        sum = counted = 0;
        job_run_pair(receive, send);
        is_int(sum, ROUNDS * (ROUNDS + 1) / 2, "%s: the messages have come", way->name);
        is_int(counted, ROUNDS, "the tool sees each call");
    }
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}

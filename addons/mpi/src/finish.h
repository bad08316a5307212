/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How calls end that wait: all functions follow a true abtmpi_enter, do what abtmpi_leave does, and suspend the calling
 * ULT until they return the code.
 */
#ifndef ABTMPI_FINISH_H
#define ABTMPI_FINISH_H

#include <stdbool.h>

#include <mpi.h>

/*
 * Completes the request of a nonblocking form that has returned `code`: an error code is all there is. comm is the
 * communicator of the call, or MPI_COMM_NULL where it has none.
 */
int abtmpi_finish(const char *call, int code, MPI_Request *request, MPI_Comm comm, MPI_Status *status);

/* The same for a receive and a send; `code` is that of the send, whose request is the second one. */
int abtmpi_finish_pair(const char *call, int code, MPI_Request requests[2], MPI_Comm comm, MPI_Status *status);

/*
 * Ends a receive that has been made in the nonblocking form, and returns the code. From MPI_PROC_NULL that of MPICH 4.0
 * gives the status of a receive from rank 0, other than MPI_Recv.
 */
static inline int abtmpi_finish_source(int code, int source, MPI_Status *status)
{
    if (source == MPI_PROC_NULL && code == MPI_SUCCESS && status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = MPI_PROC_NULL;
        status->MPI_TAG = MPI_ANY_TAG;
    }
    return code;
}

/* The program makes a persistent request. Until then no request is inactive but null ones. */
void abtmpi_finish_may_be_inactive(void);

/* The functions of these names. */
int abtmpi_finish_wait(MPI_Request *request, MPI_Status *status);
int abtmpi_finish_waitall(int num, MPI_Request requests[], MPI_Status statuses[]);
int abtmpi_finish_waitany(int num, MPI_Request requests[], int *index, MPI_Status *status);
int abtmpi_finish_waitsome(int num, MPI_Request requests[], int *found, int indices[], MPI_Status statuses[]);
int abtmpi_finish_probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int abtmpi_finish_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
int abtmpi_finish_win_wait(MPI_Win win);

#endif

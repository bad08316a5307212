/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Continuations of libabtmpi: a function that runs as a ULT when operations of MPI are done, without a ULT that waits
 * for them. Link with libabtmpi-openmpi or libabtmpi-mpich.
 */
#ifndef ABTMPI_H
#define ABTMPI_H

#include <abt.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns at once. When all requests are done, function(argument) runs once, as a ULT of the pool that nobody can name
 * and that may wait as any other; also where they are done already, and where one has failed.
 *
 * The caller is a ULT. The requests are libabtmpi's from then on: the array is filled with MPI_REQUEST_NULL, and may be
 * given up. Null and inactive requests count as done. A persistent request is inactive when the function runs; keep a
 * copy of its handle. What the operations use, and the statuses, have to live until then.
 *
 * Before the function runs, statuses[i] is that of requests[i], and its MPI_ERROR is MPI_SUCCESS or what has gone
 * wrong. MPI_STATUSES_IGNORE: they are not wanted. Where errors end the job, they do so in place of the function. Where
 * the program has set an error handler of its own, or one of a communicator, a ULT waits after all, for the handler to
 * run.
 *
 * MPI_Finalize names on stderr how many operations are not done. Their functions run with MPI_ERR_OTHER.
 *
 * MPI_SUCCESS: it will run. Otherwise it will not, and requests that are not null are the caller's: MPI_ERR_OTHER: the
 * caller is no ULT, there is no MPI_THREAD_MULTIPLE, or MPI_Finalize has been called; MPI_ERR_NO_MEM;
 * MPI_ERR_ARG: count is negative, or there is no function or no pool.
 */
int ABTMPI_Continueall(int count, MPI_Request requests[], void (*function)(void *argument), void *argument,
                       ABT_pool pool, MPI_Status statuses[]);

/* The same for one request; MPI_STATUS_IGNORE: its status is not wanted. */
int ABTMPI_Continue(MPI_Request *request, void (*function)(void *argument), void *argument, ABT_pool pool,
                    MPI_Status *status);

/*
 * Whether a ULT that waits in a call of MPI is suspended, for what runs the program's ULTs: 1 from MPI_Init to
 * MPI_Finalize where MPI gives MPI_THREAD_MULTIPLE, else 0. Any thread calls it.
 */
int ABTMPI_Suspends(void);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A wire that takes its time: a process that gets messages for others, and forwards each after a delay. */
#ifndef MPI_EXAMPLES_WIRE_H
#define MPI_EXAMPLES_WIRE_H

#include <mpi.h>

/* Processes 0 to num_ranks - 1 use the wire, with tags below num_tags. The wire is process num_ranks. */
void wire_prepare(int num_ranks, int num_tags);

/* Sends doubles; the request is for MPI_Wait. */
void wire_send(const double *values, int num, int to, int tag, MPI_Request *request);
/* Receives what has been sent to the caller's rank with that tag. */
void wire_receive(double *values, int num, int rank, int tag);

/* The wire itself, for messages of at most max_num doubles, until wire_end() has been called. */
void wire_run(double delay_s, int max_num);
void wire_end(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that end the job. The MPI library would name what libabtmpi has called, which is not what the program has. So
 * MPI_COMM_WORLD and MPI_COMM_SELF have a handler of libabtmpi in place of MPI_ERRORS_ARE_FATAL, and communicators that
 * are made of them inherit it. The program sees MPI_ERRORS_ARE_FATAL.
 */
#ifndef ABTMPI_FATAL_H
#define ABTMPI_FATAL_H

#include <mpi.h>

/* A call of the program that has failed. */
typedef struct {
    const char *name;
    MPI_Comm comm; /* MPI_COMM_NULL: it has none, as for those that follow */
    int peer, tag; /* MPI_PROC_NULL: it has none */
} abtmpi_fatal_call;

/* Once, when the program has ULTs, after MPI_Init. */
void abtmpi_fatal_begin(void);

/* After abtmpi_leave: returns the code, which is no success, unless such errors end the job. */
int abtmpi_fatal_end(abtmpi_fatal_call call, int code);

/* Ends a function that has returned the code and a handler. */
int abtmpi_fatal_hide(int code, MPI_Errhandler *errhandler);

#endif

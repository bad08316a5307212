/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that end the job. The MPI library would name what libabtmpi has called, which is not what the program has. So
 * MPI_COMM_WORLD has a handler of libabtmpi in place of MPI_ERRORS_ARE_FATAL, and communicators that are made of it
 * inherit it; in Open MPI MPI_COMM_SELF has it, too. The program sees MPI_ERRORS_ARE_FATAL.
 */
#ifndef ABTMPI_FATAL_H
#define ABTMPI_FATAL_H

#include <stdatomic.h>

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

/* Whether that handler has returned into the MPI library. */
extern atomic_bool abtmpi_fatal_has_returned __attribute__((visibility("hidden")));

/* The code of a call of the MPI library that has been made just now; abtmpi_fatal_take is for nobody else. */
int abtmpi_fatal_take(int code);
static inline int abtmpi_fatal_code(int code)
{
    /* relaxed: the handler has been called by this native thread, if it has been for this call. */
    if (!atomic_load_explicit(&abtmpi_fatal_has_returned, memory_order_relaxed))
        return code;
    return abtmpi_fatal_take(code);
}

/* Ends a function that has returned the code and a handler. */
int abtmpi_fatal_hide(int code, MPI_Errhandler *errhandler);

#endif

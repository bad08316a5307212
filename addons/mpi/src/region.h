/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that have no nonblocking form: the ULT has a native thread of its own while its stream goes on. */
#ifndef ABTMPI_REGION_H
#define ABTMPI_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include <abt.h>
#include <mpi.h>

/* Such a call, in the frame of the caller. */
typedef struct abtmpi_region {
    const char *call; /* the name of the function of MPI */
    ABT_unit_id id;
    int64_t since; /* of a brief call: when the MPI library was seen to wait in it first, 0: it has not been */
    bool is_away;  /* of a brief call: the ULT has left its stream */
    struct abtmpi_region *next, **prev;
} abtmpi_region;

/*
 * Around such a call. False: it goes straight on, and abtmpi_region_end is not called. Between the two the caller is an
 * external thread.
 */
bool abtmpi_region_begin(abtmpi_region *region, const char *call);
void abtmpi_region_end(abtmpi_region *region);

/*
 * The same for a call that most often has not got to wait: it begins on the stream. If it waits there for some
 * microseconds, then the ULT leaves the stream in the midst of it. The end gets and returns the code of the call.
 */
bool abtmpi_region_begin_brief(abtmpi_region *region, const char *call);
int abtmpi_region_end_brief(abtmpi_region *region, int code);

/* The program sets an error handler of a window. From then on brief calls are none if it is one of the program. */
void abtmpi_region_handler_set(MPI_Errhandler handler);

/* In MPI_Finalize: waits until no ULT is in a region, for a second at most, and then names those that are. */
void abtmpi_region_end_all(void);

#endif

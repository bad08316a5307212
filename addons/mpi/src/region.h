/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that have no nonblocking form: the ULT has a native thread of its own while its stream goes on. */
#ifndef ABTMPI_REGION_H
#define ABTMPI_REGION_H

#include <stdbool.h>

#include <abt.h>

/* Such a call, in the frame of the caller. */
typedef struct abtmpi_region {
    const char *call; /* the name of the function of MPI */
    ABT_unit_id ult;
    struct abtmpi_region *next, **prev;
} abtmpi_region;

/*
 * Around such a call. False: it goes straight on, and abtmpi_region_end is not called. Between the two the caller is an
 * external thread.
 */
bool abtmpi_region_begin(abtmpi_region *region, const char *call);
void abtmpi_region_end(abtmpi_region *region);

/* In MPI_Finalize: waits until no ULT is in a region, for a second at most, and then names those that are. */
void abtmpi_region_end_all(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What libabtmpi learns of the process and of the MPI library that it is loaded into. */
#ifndef ABTMPI_HOST_H
#define ABTMPI_HOST_H

#include <stdatomic.h>
#include <stdbool.h>

/* The function of this name in the library that comes next in the order of the loader; NULL: there is none. */
void *abtmpi_next(const char *name);

/*
 * The code that may call MPI in ULTs: none; members of OpenMP regions that libabtomp runs; the program, which is linked
 * with libabt, has called ABT_init or has set ABTMPI_ULTS=1.
 */
enum { HOST_NO_ULTS, HOST_MEMBERS, HOST_ULTS };
int abtmpi_host_ults(void);

/* Where libabt says whether it is up: as long as it is not, there are no ULTs. */
const atomic_bool *abtmpi_host_up(void);

/*
 * Around a poll of the progress engine, which is made by one thread at a time. With more processes than cores Open MPI
 * gives up the processor at each poll that finds nothing. A stream may have ULTs to run then.
 */
void abtmpi_host_keep_processor(void);
void abtmpi_host_share_processor(void);

/*
 * From now on the MPI library calls `poll` on each thread that waits in it, again and again, and in other calls. False:
 * it cannot be had. If the MPI library does not use what this knows of, `poll` is not called.
 */
bool abtmpi_host_watch(void (*poll)(void));

/* The same by UCX, which has the one function below that all waiters call. */
void abtmpi_ucx_watch(void (*poll)(void));

#endif

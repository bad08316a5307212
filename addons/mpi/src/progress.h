/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress engine: a driver of libabt that has all requests that ULTs wait for. One stream at a time asks the MPI
 * library there what is done. ULTs hand in their waits by a lock-free list, and everything else here is touched in the
 * driver's poll only.
 */
#ifndef ABTMPI_PROGRESS_H
#define ABTMPI_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <abt.h>
#include <mpi.h>

struct abtmpi_block;

/* One request that is waited for. */
typedef struct {
    MPI_Request *request; /* where the caller has it */
    MPI_Status status;    /* of the completion, if the engine completes */
    int code;             /* of the completion */
    bool is_done;
    struct abtmpi_block *block; /* where the engine keeps it, NULL: nowhere, */
    int at;                     /* and at which place there */
} abtmpi_part;

/* What a ULT waits for, in its frame: requests, or the answer to a question. */
typedef struct abtmpi_wait {
    const char *call;   /* the name of the function of MPI */
    abtmpi_part *parts; /* the requests, */
    int num;            /* how many there are, */
    int left;        /* and how many have to be done still until the ULT goes on; after an error it goes on at once */
    bool is_watched; /* the engine polls only, and leaves it to the ULT to complete them */
    int (*ask)(void *arg, int *found); /* the question, if there are no parts; it returns a code of MPI */
    void *arg;
    bool (*begin)(struct abtmpi_wait *wait); /* NULL; or there is no ULT: makes one when all requests are done, also
                                                after an error. False: it cannot now */
    int code; /* MPI_SUCCESS; or why the wait has ended without a result, or the question's code */
    struct abtmpi_wait *next, *prev; /* the engine's from here on */
    int added;                       /* how many parts are in blocks, or have been */
    ABT_thread thread;
    bool has_left; /* the ULT has said that it leaves its stream; then the engine counts the wait down, otherwise the
                      ULT */
    atomic_int state;
} abtmpi_wait;

/* Makes the driver and attaches it to all streams. False: it cannot be had. */
bool abtmpi_progress_begin(void);

/* Ends it. ULTs that still wait are named on stderr, and go on with MPI_ERR_OTHER. */
void abtmpi_progress_end(void);

/* Suspends the calling ULT until what the caller has filled in down to arg, the rest being 0, has come. */
void abtmpi_progress_wait(abtmpi_wait *wait);

/* The same without a ULT: `begin` is called once when the wait has ended. False: MPI_Finalize has been called. */
bool abtmpi_progress_hand_in(abtmpi_wait *wait);

/* The time in nanoseconds. */
int64_t abtmpi_progress_now(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What each wrapper begins and ends with: whether a call suspends its caller, and what the MPI library calls itself. */
#ifndef ABTMPI_CALL_H
#define ABTMPI_CALL_H

#include <stdatomic.h>
#include <stdbool.h>

#include <abt.h>
#include <mpi.h>

/*
 * Begins a call. True: the caller is a ULT, which is suspended if it has to wait. Then calls of MPI functions by this
 * native thread are those of the MPI library itself until abtmpi_leave, and go straight on. False: the caller is an
 * external thread, a tasklet, the MPI library, or MPI gives no MPI_THREAD_MULTIPLE; the call goes straight on.
 */
bool abtmpi_enter(void);

/* The opposite, on the same native thread. Returns the code. */
int abtmpi_leave(int code);

/* The same for a function that only asks. A ULT that has got the answer "no" often lets others run. */
int abtmpi_leave_turn(int code, const int *found);

/*
 * From now on a cancel does not end the calling ULT, until abtmpi_cancel_allow gets what this returns: for a ULT with
 * requests or memory of which nobody else knows, while it waits.
 */
bool abtmpi_cancel_put_off(void);
void abtmpi_cancel_allow(bool before);

/* Whether the calling thread is between abtmpi_enter and abtmpi_leave of its ULT, or looks. */
bool abtmpi_call_is_inside(void);

/* Around calls of the MPI library that the driver makes, on whatever stack. */
void abtmpi_look_begin(void);
void abtmpi_look_end(void);

/* The program sets an error handler, which from now on may have to run on the stack of the ULT that waits. */
void abtmpi_handler_set(MPI_Comm comm, MPI_Errhandler handler);

/* Whether it may: then nobody but the ULT itself completes its requests. */
bool abtmpi_handler_is_own(void);

/*
 * Whether it may be one, and a request would end the job: in MPICH errors of requests belong to MPI_COMM_WORLD, which a
 * session without MPI_Init has not got.
 */
bool abtmpi_handler_is_out_of_reach(void);

/*
 * Whether the program has no ULTs: MPI_Init has found none, and none has waited in a call since. Then all is as without
 * libabtmpi. Calls that only ask come by the million, so that they ask here first.
 */
extern atomic_bool abtmpi_call_plain __attribute__((visibility("hidden")));
static inline bool abtmpi_call_is_plain(void)
{
    /* relaxed: MPI_Init returns before other threads call, and the first ULTs may come earlier or later. */
    return atomic_load_explicit(&abtmpi_call_plain, memory_order_relaxed);
}

/* Whether all make a collective call in the blocking form: MPI_Ibcast of MPICH 4.0 hangs on intercommunicators. */
bool abtmpi_call_is_between_groups(MPI_Comm comm);

/* Whether MPI_Finalize has been called, or there is no use in suspending. */
bool abtmpi_call_is_off(void);

/* The functions of these names. */
int abtmpi_call_init(int *argc, char ***argv);
int abtmpi_call_init_thread(int *argc, char ***argv, int required, int *provided);
int abtmpi_call_finalize(void);

/* The function of this name in the library that comes next in the order of the loader; NULL: there is none. */
void *abtmpi_next(const char *name);

#endif

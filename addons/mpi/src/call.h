/* SPDX-License-Identifier: BSD-3-Clause */
/* What each wrapper begins and ends with: whether a call suspends its caller. */
#ifndef ABTMPI_CALL_H
#define ABTMPI_CALL_H

#include <stdbool.h>

#include <mpi.h>

/*
 * Begins a call. True: the caller is a ULT, which is suspended if it has to wait. Then calls of MPI functions by this
 * native thread are those of the MPI library itself until abtmpi_leave, and go straight on. False: the caller is an
 * external thread, a tasklet, the MPI library, or MPI gives no MPI_THREAD_MULTIPLE; the call goes straight on.
 */
bool abtmpi_enter(void);

/* abtmpi_leave for a function that only asks. A ULT that has got the answer "no" often lets others run. */
int abtmpi_leave_turn(int code, const int *found);

/*
 * From now on a cancel does not end the calling ULT, until abtmpi_cancel_allow gets what this returns: for a ULT with
 * requests or memory of which nobody else knows, while it waits.
 */
bool abtmpi_cancel_put_off(void);
void abtmpi_cancel_allow(bool before);

/* Whether all make a collective call in the blocking form: MPI_Ibcast of MPICH 4.0 hangs on intercommunicators. */
bool abtmpi_call_is_between_groups(MPI_Comm comm);

#endif

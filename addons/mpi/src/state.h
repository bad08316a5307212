/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls ask first: how the process stands to ULTs, and whether a native thread is in the MPI library already. */
#ifndef ABTMPI_STATE_H
#define ABTMPI_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <abt.h>
#include <mpi.h>

/* Whether ULTs are suspended. The driver is there when it is STATE_ON. */
enum { STATE_NEW, STATE_ON, STATE_OFF };
extern atomic_int abtmpi_state __attribute__((visibility("hidden")));

/* Whether MPI_Finalize has been called, or there is no use in suspending. */
bool abtmpi_state_is_off(void);

/*
 * Whether the program has no ULTs: MPI_Init has found none, and none has waited in a call since. Then all is as without
 * libabtmpi, and this is where it says whether ULTs may have come; otherwise NULL.
 */
extern _Atomic(const atomic_bool *) abtmpi_state_plain __attribute__((visibility("hidden")));
static inline bool abtmpi_state_is_plain(void)
{
    /* relaxed: MPI_Init returns before other threads call, and the first ULTs may come earlier or later. */
    return atomic_load_explicit(&abtmpi_state_plain, memory_order_relaxed) != NULL;
}

/*
 * Whether the caller is no ULT, since there is none. A ULT gets no: what it runs in has come up before it. A native
 * thread may get either answer while the first ULT comes, and its call goes straight on with both.
 */
static inline bool abtmpi_state_has_no_ults(void)
{
    /* relaxed, both: as above. */
    const atomic_bool *ults = atomic_load_explicit(&abtmpi_state_plain, memory_order_relaxed);
    return ults && !atomic_load_explicit(ults, memory_order_relaxed);
}

/*
 * Of a native thread. A ULT is named and not only a flag kept: callbacks of the program that the MPI library calls may
 * suspend their ULT, and other ULTs of the thread must be suspended as ever meanwhile.
 */
typedef struct {
    ABT_thread inside; /* the ULT that is in the MPI library, or a null handle */
    bool polling;      /* the driver is, or libabtmpi's own call that is no ULT's */
} abtmpi_state_thread;
extern _Thread_local abtmpi_state_thread abtmpi_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Whether the calling thread is between abtmpi_enter and abtmpi_leave of its ULT, or polls. */
bool abtmpi_state_is_inside(void);

/* The opposite of abtmpi_enter, on the same native thread. Returns the code. */
static inline int abtmpi_leave(int code)
{
    abtmpi_self.inside = ABT_THREAD_NULL;
    return code;
}

/* Around calls of the MPI library that the driver makes, on whatever stack. */
void abtmpi_poll_begin(void);
void abtmpi_poll_end(void);

/* The program sets an error handler, which from now on may have to run on the stack of the ULT that waits. */
void abtmpi_handler_set(MPI_Comm comm, MPI_Errhandler handler);

/* Whether it may: then nobody but the ULT itself completes its requests. */
bool abtmpi_handler_is_own(void);

/*
 * Whether it may be one, and a request would end the job: in MPICH errors of requests belong to MPI_COMM_WORLD, which a
 * session without MPI_Init has not got.
 */
bool abtmpi_handler_is_out_of_reach(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <abt.h>
#include <real.h> /* made by generate.py */

#include "fatal.h"
#include "state.h"

static _Atomic(MPI_Errhandler) fatal_handler = MPI_ERRHANDLER_NULL;

/* The handler has returned, so that a call has a code that has to end the job. */
atomic_bool abtmpi_fatal_has_returned;

/* Of a native thread: the code then. */
static _Thread_local int fatal_code __attribute__((tls_model("initial-exec"))) = MPI_SUCCESS;

/* relaxed: it is written before MPI_Init has returned. */
static bool fatal_is_handler(MPI_Errhandler handler)
{
    return handler != MPI_ERRHANDLER_NULL && handler == atomic_load_explicit(&fatal_handler, memory_order_relaxed);
}

/*
 * Called by the MPI library. That of MPICH names the function in the text, and allows not even MPI_Abort there; its
 * launcher ends the other processes.
 */
static void fatal_abort(MPI_Comm comm, int code, const char *name)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    abtmpi_real.Error_string(code, text, &length);
    fprintf(stderr, "libabtmpi: %s%sfatal error: %s\n", name ? name : "", name ? ": " : "", text);
    if (ABTMPI_IS_OPEN_MPI)
        abtmpi_real.Abort(comm, code);
    _Exit(EXIT_FAILURE);
}

/*
 * The MPI library calls it. Inside of a call that waits, or of a poll, it returns, and so does the function of the MPI
 * library with the code: abtmpi_fatal_end gets that. Otherwise the program has called what has failed.
 */
static void fatal_handle(MPI_Comm *comm, int *code, ...)
{
    if (abtmpi_state_is_inside()) {
        fatal_code = *code;
        /* relaxed: the ULT that gets the code has been woken after this, or has called this. */
        atomic_store_explicit(&abtmpi_fatal_has_returned, true, memory_order_relaxed);
        return;
    }
    va_list args;
    va_start(args, code);
    fatal_abort(*comm, *code, ABTMPI_IS_OPEN_MPI ? va_arg(args, const char *) : NULL);
    va_end(args);
}

/* A function of MPICH 5 whose error has been given to a handler returns MPI_SUCCESS. */
int abtmpi_fatal_take(int code)
{
    int taken = fatal_code;

    fatal_code = MPI_SUCCESS;
    return code != MPI_SUCCESS ? code : taken;
}

static void fatal_install(MPI_Comm comm, MPI_Errhandler own)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

    abtmpi_real.Comm_get_errhandler(comm, &handler);
    if (handler == MPI_ERRORS_ARE_FATAL)
        abtmpi_real.Comm_set_errhandler(comm, own);
    abtmpi_real.Errhandler_free(&handler);
}

void abtmpi_fatal_begin(void)
{
    MPI_Errhandler own;

    if (abtmpi_real.Comm_create_errhandler(fatal_handle, &own) != MPI_SUCCESS)
        return;
    atomic_store_explicit(&fatal_handler, own, memory_order_relaxed); /* relaxed: as above. */
    fatal_install(MPI_COMM_WORLD, own);
    if (ABTMPI_IS_OPEN_MPI) /* MPICH 5 gives it errors of all requests once it has a handler */
        fatal_install(MPI_COMM_SELF, own);
}

/* One line, as several processes may write theirs at once. */
static void fatal_say(const abtmpi_fatal_call *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "", comm[MPI_MAX_OBJECT_NAME] = "", where[64] = "";
    ABT_unit_id id = 0;
    int length, rank = -1, class = code;

    ABT_self_get_thread_id(&id);
    abtmpi_real.Comm_rank(MPI_COMM_WORLD, &rank);
    if (call->comm != MPI_COMM_NULL)
        abtmpi_real.Comm_get_name(call->comm, comm, &length);
    PMPI_Error_class(code, &class); /* the text of a code of MPICH names what libabtmpi has called */
    abtmpi_real.Error_string(class, text, &length);
    if (call->peer != MPI_PROC_NULL)
        snprintf(where, sizeof(where), " with rank %d, tag %d,", call->peer, call->tag);
    fprintf(stderr, "libabtmpi: rank %d: ULT %" PRIu64 ": %s%s%s%s fails: %s\n", rank, (uint64_t)id, call->name, where,
            call->comm == MPI_COMM_NULL ? "" : " on ", call->comm == MPI_COMM_NULL || *comm ? comm : "a communicator",
            text);
}

/* Whether the communicator has the handler: MPICH does not call it for a request. */
static bool fatal_is_handler_of(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

    if (comm == MPI_COMM_NULL || abtmpi_real.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return false;
    bool is = fatal_is_handler(handler);
    abtmpi_real.Errhandler_free(&handler);
    return is;
}

int abtmpi_fatal_end(abtmpi_fatal_call call, int code)
{
    MPI_Comm comm = call.comm == MPI_COMM_NULL ? MPI_COMM_WORLD : call.comm;

    /* relaxed: as above. */
    if (abtmpi_state_is_off() || atomic_load_explicit(&fatal_handler, memory_order_relaxed) == MPI_ERRHANDLER_NULL ||
        (!atomic_load_explicit(&abtmpi_fatal_has_returned, memory_order_relaxed) && !fatal_is_handler_of(call.comm)))
        return code;
    fatal_say(&call, code);
    abtmpi_real.Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    abtmpi_real.Comm_call_errhandler(comm, code);
    return code;
}

int abtmpi_fatal_hide(int code, MPI_Errhandler *errhandler)
{
    if (code == MPI_SUCCESS && fatal_is_handler(*errhandler)) {
        abtmpi_real.Errhandler_free(errhandler);
        *errhandler = MPI_ERRORS_ARE_FATAL;
    }
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <abtmpi.h>
#include <real.h> /* made by generate.py */

#include "fatal.h"
#include "host.h"
#include "own.h"
#include "progress.h"
#include "region.h"
#include "state.h"

static atomic_bool own_is_multiple; /* MPI_Init has given MPI_THREAD_MULTIPLE */

/*
 * Calls MPI_Init or MPI_Init_thread by init. Only a program that has ULTs of its own gets MPI_THREAD_MULTIPLE unasked.
 * Without that level nothing is done for members of OpenMP regions: they wait as without libabt.
 */
static int own_init(int (*init)(int *, char ***, int, int *), int *argc, char ***argv, int required, int *provided)
{
    static const atomic_bool never;
    int ults = abtmpi_host_ults();
    bool polling = abtmpi_self.polling;

    abtmpi_self.polling = true;
    int code = init(argc, argv, ults == HOST_ULTS ? MPI_THREAD_MULTIPLE : required, provided);
    abtmpi_self.polling = polling;
    bool is_multiple = code == MPI_SUCCESS && *provided == MPI_THREAD_MULTIPLE;
    /* relaxed, all: no other thread calls MPI before MPI_Init has returned. */
    atomic_store_explicit(&own_is_multiple, is_multiple, memory_order_relaxed);
    if (ults == HOST_NO_ULTS)
        atomic_store_explicit(&abtmpi_state_plain, abtmpi_host_up(), memory_order_relaxed);
    else if (ults == HOST_MEMBERS && !is_multiple)
        atomic_store_explicit(&abtmpi_state_plain, &never, memory_order_relaxed);
    else if (code == MPI_SUCCESS)
        abtmpi_fatal_begin();
    return code;
}

/* As MPI_Init_thread; what that gives for less than MPI_THREAD_MULTIPLE is MPI_Init's. */
static int own_init_plainly(int *argc, char ***argv, int required, int *provided)
{
    if (required == MPI_THREAD_MULTIPLE)
        return abtmpi_real.Init_thread(argc, argv, required, provided);
    int code = abtmpi_real.Init(argc, argv);
    abtmpi_real.Query_thread(provided);
    return code;
}

int abtmpi_own_init(int *argc, char ***argv)
{
    int provided = MPI_THREAD_SINGLE;

    return own_init(own_init_plainly, argc, argv, MPI_THREAD_SINGLE, &provided);
}

int abtmpi_own_init_thread(int *argc, char ***argv, int required, int *provided)
{
    return own_init(abtmpi_real.Init_thread, argc, argv, required, provided);
}

int ABTMPI_Suspends(void)
{
    /* relaxed, both: it orders nothing */
    return atomic_load_explicit(&own_is_multiple, memory_order_relaxed) && !abtmpi_state_is_off();
}

int abtmpi_own_finalize(void)
{
    atomic_store_explicit(&own_is_multiple, false, memory_order_relaxed); /* relaxed: as in own_init */
    /* acquire: pairs with the release in call_begin. */
    if (atomic_load_explicit(&abtmpi_state, memory_order_acquire) == STATE_ON) {
        /* relaxed: calls while MPI_Finalize runs are the program's error. */
        atomic_store_explicit(&abtmpi_state, STATE_OFF, memory_order_relaxed);
        abtmpi_region_end_all();
        abtmpi_progress_end();
    }
    bool polling = abtmpi_self.polling;
    abtmpi_self.polling = true;
    int code = abtmpi_real.Finalize();
    abtmpi_self.polling = polling;
    return code;
}

/* ABTMPI_MAIN_ULT=1: main is a ULT in a program that does not know of them. */
__attribute__((constructor)) static void own_make_main_ult(void)
{
    const char *value = getenv("ABTMPI_MAIN_ULT");

    if (value && !strcmp(value, "1") && ABT_init(0, NULL) != ABT_SUCCESS)
        fprintf(stderr, "libabtmpi: ABTMPI_MAIN_ULT: ABT_init fails\n");
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>

#include <real.h> /* made by generate.py */

#include "host.h"
#include "state.h"

atomic_int abtmpi_state;
_Atomic(const atomic_bool *) abtmpi_state_plain;
_Thread_local abtmpi_state_thread abtmpi_self __attribute__((tls_model("initial-exec")));

static atomic_bool state_handler_is_own;

bool abtmpi_state_is_off(void)
{
    /* relaxed: a caller has been on, and learns of MPI_Finalize by chance earlier or later. */
    return atomic_load_explicit(&abtmpi_state, memory_order_relaxed) == STATE_OFF;
}

bool abtmpi_state_is_inside(void)
{
    ABT_thread self = ABT_THREAD_NULL;

    ABT_self_get_thread(&self);
    return abtmpi_self.polling || (self != ABT_THREAD_NULL && abtmpi_self.inside == self);
}

void abtmpi_poll_begin(void)
{
    assert(!abtmpi_self.polling);
    abtmpi_self.polling = true;
    abtmpi_host_keep_processor();
}

void abtmpi_poll_end(void)
{
    assert(abtmpi_self.polling);
    abtmpi_host_share_processor();
    abtmpi_self.polling = false;
}

void abtmpi_handler_set(MPI_Comm comm, MPI_Errhandler handler)
{
    bool is_own = handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN;

    /* Errors that several requests share may be given to the handler of MPI_COMM_WORLD, in place of their own. */
    if (is_own || (comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF)) {
        /* relaxed: the caller's own later calls see it; calls at the same time may come before. */
        atomic_store_explicit(&state_handler_is_own, true, memory_order_relaxed);
    }
}

bool abtmpi_handler_is_own(void)
{
    return atomic_load_explicit(&state_handler_is_own, memory_order_relaxed); /* relaxed: as above. */
}

bool abtmpi_handler_is_out_of_reach(void)
{
    int has_world = 1;

    if (!ABTMPI_IS_OPEN_MPI && abtmpi_handler_is_own())
        abtmpi_real.Initialized(&has_world);
    return !has_world;
}

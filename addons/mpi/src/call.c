/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <abt.h>
#include <real.h> /* made by generate.py */

#include "call.h"
#include "fatal.h"
#include "progress.h"
#include "state.h"

enum {
    CALL_MISSES = 64, /* answers "no" in a row, after which a ULT lets others run */
};

static pthread_mutex_t call_lock = PTHREAD_MUTEX_INITIALIZER;

/* Of a native thread: the ULT that got the last answer "no", and how often in a row. */
static _Thread_local struct {
    ABT_thread ult;
    int num;
} call_missed __attribute__((tls_model("initial-exec")));

/* Whether the library below is of the kind that this one has been made for, and may be called by several threads. */
static bool call_is_usable(void)
{
    static char text[1 << 13]; /* larger than any MPI_MAX_LIBRARY_VERSION_STRING; call_lock is held */
    int length, level;

    if (abtmpi_real.Get_library_version(text, &length) != MPI_SUCCESS)
        return false;
    if ((strncmp(text, "Open MPI", 8) == 0) != ABTMPI_IS_OPEN_MPI) {
        fprintf(stderr, "libabtmpi: made for another MPI: its calls block streams\n");
        return false;
    }
    if (abtmpi_real.Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE)
        return true;
    fprintf(stderr, "libabtmpi: there is no MPI_THREAD_MULTIPLE: calls of MPI block streams%s\n",
            abtmpi_state_is_plain() ? " (ABTMPI_ULTS=1 asks for it)" : "");
    return false;
}

bool abtmpi_cancel_put_off(void)
{
    ABT_bool before = ABT_FALSE;

    ABTX_self_put_off_cancel(ABT_TRUE, &before);
    return before == ABT_TRUE;
}

void abtmpi_cancel_allow(bool before)
{
    if (!before)
        ABTX_self_put_off_cancel(ABT_FALSE, NULL);
}

/* At the first call of a ULT, which does not end with the lock. */
static bool call_begin(void)
{
    bool before = abtmpi_cancel_put_off();

    pthread_mutex_lock(&call_lock);
    if (atomic_load_explicit(&abtmpi_state, memory_order_relaxed) == STATE_NEW) {
        abtmpi_self.polling = true;
        bool on = call_is_usable() && abtmpi_progress_begin();
        if (on)
            atomic_store_explicit(&abtmpi_state_plain, NULL, memory_order_relaxed);
        abtmpi_self.polling = false;
        /* release: pairs with the acquire in abtmpi_enter. */
        atomic_store_explicit(&abtmpi_state, on ? STATE_ON : STATE_OFF, memory_order_release);
    }
    bool on = atomic_load_explicit(&abtmpi_state, memory_order_relaxed) == STATE_ON;
    pthread_mutex_unlock(&call_lock);
    abtmpi_cancel_allow(before);
    return on;
}

bool abtmpi_enter(void)
{
    ABT_unit_type type;
    ABT_thread self;

    if (abtmpi_self.polling || ABT_self_get_type(&type) != ABT_SUCCESS || type != ABT_UNIT_TYPE_THREAD)
        return false;
    /* acquire: pairs with the release in call_begin. */
    int state = atomic_load_explicit(&abtmpi_state, memory_order_acquire);
    if (state != STATE_ON && (state == STATE_OFF || !call_begin()))
        return false;
    ABT_self_get_thread(&self);
    if (abtmpi_self.inside == self)
        return false;
    assert(abtmpi_fatal_code(MPI_SUCCESS) == MPI_SUCCESS); /* a call in between takes the code */
    /* A handler of the program is called by the MPI library, and its calls are the program's. */
    abtmpi_self.inside = abtmpi_handler_is_own() ? ABT_THREAD_NULL : self;
    return true;
}

int abtmpi_leave_turn(int code, const int *found)
{
    ABT_thread self;

    abtmpi_leave(code);
    if (code != MPI_SUCCESS || *found) {
        call_missed.num = 0;
        return code;
    }
    ABT_self_get_thread(&self);
    if (call_missed.ult != self) {
        call_missed.ult = self;
        call_missed.num = 0;
    }
    if (++call_missed.num == CALL_MISSES) {
        call_missed.num = 0;
        ABT_thread_yield();
    }
    return code;
}

bool abtmpi_call_is_between_groups(MPI_Comm comm)
{
    int is_inter = 0;

    return !abtmpi_self.polling && abtmpi_real.Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && is_inter;
}

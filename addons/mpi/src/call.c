/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <abt.h>
#include <real.h> /* made by generate.py */

#include "call.h"
#include "debug.h"
#include "fatal.h"
#include "host.h"
#include "progress.h"
#include "region.h"

enum {
    CALL_MISSES = 64, /* answers "no" in a row, after which a ULT lets others run */
};

/* Whether ULTs are suspended. The driver is there when it is CALL_ON. */
enum { CALL_NEW, CALL_ON, CALL_OFF };
static atomic_int call_state;
atomic_bool abtmpi_call_plain;
static pthread_mutex_t call_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool call_handler_is_own;

/*
 * Of a native thread. A ULT is named and not only a flag kept: callbacks of the program that the MPI library calls may
 * suspend their ULT, and other ULTs of the thread must be suspended as ever meanwhile.
 */
static _Thread_local struct {
    ABT_thread inside; /* the ULT that is in the MPI library, or a null handle */
    bool looking;      /* the driver is */
    ABT_thread missed; /* the ULT that got the last answer "no", and how often in a row */
    int misses;
} call_self __attribute__((tls_model("initial-exec")));

void *abtmpi_next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

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
            abtmpi_call_is_plain() ? " (ABTMPI_ULTS=1 asks for it)" : "");
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
    if (atomic_load_explicit(&call_state, memory_order_relaxed) == CALL_NEW) {
        call_self.looking = true;
        bool on = call_is_usable() && abtmpi_progress_begin();
        if (on)
            atomic_store_explicit(&abtmpi_call_plain, false, memory_order_relaxed);
        call_self.looking = false;
        /* release: pairs with the acquire in abtmpi_enter. */
        atomic_store_explicit(&call_state, on ? CALL_ON : CALL_OFF, memory_order_release);
    }
    bool on = atomic_load_explicit(&call_state, memory_order_relaxed) == CALL_ON;
    pthread_mutex_unlock(&call_lock);
    abtmpi_cancel_allow(before);
    return on;
}

bool abtmpi_enter(void)
{
    ABT_unit_type type;
    ABT_thread self;

    if (call_self.looking || ABT_self_get_type(&type) != ABT_SUCCESS || type != ABT_UNIT_TYPE_THREAD)
        return false;
    /* acquire: pairs with the release in call_begin. */
    int state = atomic_load_explicit(&call_state, memory_order_acquire);
    if (state != CALL_ON && (state == CALL_OFF || !call_begin()))
        return false;
    ABT_self_get_thread(&self);
    if (call_self.inside == self)
        return false;
    (void)abtmpi_fatal_code(MPI_SUCCESS); /* nobody has taken what an earlier call left */
    /* A handler of the program is called by the MPI library, and its calls are the program's. */
    call_self.inside = abtmpi_handler_is_own() ? ABT_THREAD_NULL : self;
    return true;
}

bool abtmpi_call_is_inside(void)
{
    ABT_thread self = ABT_THREAD_NULL;

    ABT_self_get_thread(&self);
    return call_self.looking || (self != ABT_THREAD_NULL && call_self.inside == self);
}

int abtmpi_leave(int code)
{
    call_self.inside = ABT_THREAD_NULL;
    return code;
}

int abtmpi_leave_turn(int code, const int *found)
{
    ABT_thread self;

    abtmpi_leave(code);
    if (code != MPI_SUCCESS || *found) {
        call_self.misses = 0;
        return code;
    }
    ABT_self_get_thread(&self);
    if (call_self.missed != self) {
        call_self.missed = self;
        call_self.misses = 0;
    }
    if (++call_self.misses == CALL_MISSES) {
        call_self.misses = 0;
        ABT_thread_yield();
    }
    return code;
}

void abtmpi_look_begin(void)
{
    abtmpi_assert(!call_self.looking);
    call_self.looking = true;
    (void)abtmpi_fatal_code(MPI_SUCCESS); /* as in abtmpi_enter */
    abtmpi_host_keep_processor();
}

void abtmpi_look_end(void)
{
    abtmpi_assert(call_self.looking);
    abtmpi_host_share_processor();
    call_self.looking = false;
}

void abtmpi_handler_set(MPI_Comm comm, MPI_Errhandler handler)
{
    bool is_own = handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN;

    /* Errors that several requests share may be given to the handler of MPI_COMM_WORLD, in place of their own. */
    if (is_own || (comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF)) {
        /* relaxed: the caller's own later calls see it; calls at the same time may come before. */
        atomic_store_explicit(&call_handler_is_own, true, memory_order_relaxed);
    }
}

bool abtmpi_handler_is_own(void)
{
    return atomic_load_explicit(&call_handler_is_own, memory_order_relaxed); /* relaxed: as above. */
}

bool abtmpi_handler_is_out_of_reach(void)
{
    int has_world = 1;

    if (!ABTMPI_IS_OPEN_MPI && abtmpi_handler_is_own())
        abtmpi_real.Initialized(&has_world);
    return !has_world;
}

bool abtmpi_call_is_off(void)
{
    /* relaxed: who asks has been on, and learns of MPI_Finalize by chance earlier or later. */
    return atomic_load_explicit(&call_state, memory_order_relaxed) == CALL_OFF;
}

bool abtmpi_call_is_between_groups(MPI_Comm comm)
{
    int is_inter = 0;

    return !call_self.looking && abtmpi_real.Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && is_inter;
}

/*
 * Calls MPI_Init or MPI_Init_thread by init. Only a program that has ULTs of its own gets MPI_THREAD_MULTIPLE unasked.
 * Without that level nothing is done for members of OpenMP regions: they wait as without libabt.
 */
static int call_init(int (*init)(int *, char ***, int, int *), int *argc, char ***argv, int required, int *provided)
{
    int ults = abtmpi_host_ults();
    bool looking = call_self.looking;

    call_self.looking = true;
    int code = init(argc, argv, ults == HOST_ULTS ? MPI_THREAD_MULTIPLE : required, provided);
    call_self.looking = looking;
    bool is_plain = ults == HOST_NO_ULTS || (ults == HOST_MEMBERS && *provided != MPI_THREAD_MULTIPLE);
    /* relaxed: no other thread calls MPI before MPI_Init has returned. */
    atomic_store_explicit(&abtmpi_call_plain, is_plain, memory_order_relaxed);
    if (is_plain && ults == HOST_MEMBERS)
        atomic_store_explicit(&call_state, CALL_OFF, memory_order_relaxed);
    if (!is_plain && code == MPI_SUCCESS)
        abtmpi_fatal_begin();
    return code;
}

/* As MPI_Init_thread; what that gives for less than MPI_THREAD_MULTIPLE is MPI_Init's. */
static int call_init_plainly(int *argc, char ***argv, int required, int *provided)
{
    if (required == MPI_THREAD_MULTIPLE)
        return abtmpi_real.Init_thread(argc, argv, required, provided);
    int code = abtmpi_real.Init(argc, argv);
    abtmpi_real.Query_thread(provided);
    return code;
}

int abtmpi_call_init(int *argc, char ***argv)
{
    int provided = MPI_THREAD_SINGLE;

    return call_init(call_init_plainly, argc, argv, MPI_THREAD_SINGLE, &provided);
}

int abtmpi_call_init_thread(int *argc, char ***argv, int required, int *provided)
{
    return call_init(abtmpi_real.Init_thread, argc, argv, required, provided);
}

int abtmpi_call_finalize(void)
{
    /* acquire: pairs with the release in call_begin. */
    if (atomic_load_explicit(&call_state, memory_order_acquire) == CALL_ON) {
        /* relaxed: calls while MPI_Finalize runs are the program's error. */
        atomic_store_explicit(&call_state, CALL_OFF, memory_order_relaxed);
        abtmpi_region_end_all();
        abtmpi_progress_end();
    }
    bool looking = call_self.looking;
    call_self.looking = true;
    int code = abtmpi_real.Finalize();
    call_self.looking = looking;
    return code;
}

/* ABTMPI_MAIN_ULT=1: main is a ULT in a program that does not know of them. */
__attribute__((constructor)) static void call_make_main_ult(void)
{
    const char *value = getenv("ABTMPI_MAIN_ULT");

    if (value && !strcmp(value, "1") && ABT_init(0, NULL) != ABT_SUCCESS)
        fprintf(stderr, "libabtmpi: ABTMPI_MAIN_ULT: ABT_init fails\n");
}

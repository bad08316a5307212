/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <real.h> /* made by generate.py */

#include "call.h"
#include "host.h"
#include "progress.h"
#include "region.h"
#include "state.h"

enum {
    REGION_PAUSE_NS = 100000,
    REGION_PAUSES = 10000,  /* MPI_Finalize waits for ULTs in regions for a second */
    REGION_BRIEF_NS = 5000, /* a brief call waits so long on its stream */
};

/* Whether the MPI library lets this one poll while it waits, so that brief calls may begin on their streams. */
enum { WATCH_NEW, WATCH_ON, WATCH_OFF };
static atomic_int region_watch;
/* A handler of the program, which a call may run, may suspend the ULT in the midst of it. */
static atomic_bool region_handler_is_own;

/* Of a native thread. */
static _Thread_local struct {
    abtmpi_region *brief; /* the brief call on the thread that is still on its stream */
    bool has_polled;      /* region_poll has been called */
} region_self __attribute__((tls_model("initial-exec")));

static pthread_mutex_t region_lock = PTHREAD_MUTEX_INITIALIZER;
static abtmpi_region *region_all; /* guarded by region_lock */

/* The caller, which is in no call of MPI for libabt, gets a native thread of its own. */
static void region_leave_stream(abtmpi_region *region)
{
    ABT_self_get_thread_id(&region->id);
    pthread_mutex_lock(&region_lock);
    region->prev = &region_all;
    region->next = region_all;
    if (region->next)
        region->next->prev = &region->next;
    region_all = region;
    pthread_mutex_unlock(&region_lock);
    ABTX_blocking_begin(); /* last: from now on another ULT may call MPI_Finalize, which names this one */
}

bool abtmpi_region_begin(abtmpi_region *region, const char *call)
{
    if (!abtmpi_enter())
        return false;
    abtmpi_leave(MPI_SUCCESS);
    region->call = call;
    region_leave_stream(region);
    return true;
}

void abtmpi_region_end(abtmpi_region *region)
{
    pthread_mutex_lock(&region_lock);
    *region->prev = region->next;
    if (region->next)
        region->next->prev = region->prev;
    pthread_mutex_unlock(&region_lock);
    ABTX_blocking_end();
}

/*
 * The MPI library calls this on the thread that waits in it, again and again. What it holds there stays with the
 * thread, which is the ULT's from then on, and it lets others go on as it does for any thread that waits.
 */
static void region_poll(void)
{
    abtmpi_region *region = region_self.brief;

    region_self.has_polled = true;
    if (!region)
        return;
    int64_t now = abtmpi_progress_now();
    if (region->since == 0)
        region->since = now;
    if (now - region->since < REGION_BRIEF_NS)
        return;
    region_self.brief = NULL;
    region->is_away = true;
    region_leave_stream(region);
}

/*
 * Has the MPI library call region_poll, and sees whether it does: the question makes it look for messages. MPICH does
 * not look in UCX for those to oneself.
 */
static bool region_watch_begin(void)
{
    int has_world = 0, found;

    pthread_mutex_lock(&region_lock);
    if (atomic_load_explicit(&region_watch, memory_order_relaxed) == WATCH_NEW) {
        region_self.has_polled = false;
        abtmpi_real.Initialized(&has_world); /* otherwise there are sessions only */
        bool on =
            has_world && abtmpi_host_watch(region_poll) &&
            abtmpi_real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
            region_self.has_polled;
        /* relaxed: a reader touches nothing else that is written here. */
        atomic_store_explicit(&region_watch, on ? WATCH_ON : WATCH_OFF, memory_order_relaxed);
    }
    bool on = atomic_load_explicit(&region_watch, memory_order_relaxed) == WATCH_ON;
    pthread_mutex_unlock(&region_lock);
    return on;
}

void abtmpi_region_handler_set(MPI_Errhandler handler)
{
    /* relaxed: the caller's own later calls see it; calls at the same time may come before. */
    if (handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN)
        atomic_store_explicit(&region_handler_is_own, true, memory_order_relaxed);
}

static bool region_may_be_brief(void)
{
    int watch = atomic_load_explicit(&region_watch, memory_order_relaxed); /* relaxed: as above. */

    return !atomic_load_explicit(&region_handler_is_own, memory_order_relaxed) &&
           (watch == WATCH_ON || (watch == WATCH_NEW && region_watch_begin()));
}

bool abtmpi_region_begin_brief(abtmpi_region *region, const char *call)
{
    if (!abtmpi_enter())
        return false;
    *region = (abtmpi_region){.call = call};
    if (region_may_be_brief()) {
        region_self.brief = region;
        return true;
    }
    abtmpi_leave(MPI_SUCCESS);
    return region->is_away = abtmpi_region_begin(region, call);
}

int abtmpi_region_end_brief(abtmpi_region *region, int code)
{
    static const int found = 0;

    region_self.brief = NULL;
    abtmpi_leave(code);
    if (region->is_away)
        abtmpi_region_end(region);
    /* A loop of such calls may wait for another ULT of its stream. */
    return abtmpi_leave_turn(code, &found);
}

void abtmpi_region_end_all(void)
{
    bool any = true;

    for (int i = 0; any && i < REGION_PAUSES; i++) {
        pthread_mutex_lock(&region_lock);
        any = region_all != NULL;
        pthread_mutex_unlock(&region_lock);
        if (any)
            ABTX_self_sleep(REGION_PAUSE_NS);
    }
    pthread_mutex_lock(&region_lock);
    for (const abtmpi_region *region = region_all; region; region = region->next)
        fprintf(stderr, "libabtmpi: MPI_Finalize: ULT %" PRIu64 " is still in %s\n", (uint64_t)region->id,
                region->call);
    pthread_mutex_unlock(&region_lock);
}
